"""Judges and state trackers, one provider a file."""
