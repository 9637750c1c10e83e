"""One side effect each: a Prefect decorator on a plain function."""
