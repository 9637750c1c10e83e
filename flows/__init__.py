"""Order, fan-out and waiting; one flow a file."""
