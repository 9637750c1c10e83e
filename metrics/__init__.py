"""Numbers from numbers: no I/O, no clock, no hidden randomness."""
