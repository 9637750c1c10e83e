"""Editing models under test, one provider a file."""
