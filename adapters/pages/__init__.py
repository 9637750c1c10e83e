"""What readers see: the page and its pictures."""
