"""Face embedders."""
