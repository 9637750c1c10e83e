"""Object stores behind one interface."""
