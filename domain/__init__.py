"""What the benchmark is: its vocabulary and its definition files. Imports nothing else of the project."""
