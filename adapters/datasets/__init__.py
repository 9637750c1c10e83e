"""Where photos come from."""
