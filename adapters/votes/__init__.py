"""Where votes come from, and what matches are given out as: files, Label Studio, services that ask people."""
