"""Where votes come from: each source gives the same records."""
