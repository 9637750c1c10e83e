"""The leaderboard as a static site: dataclasses in, files out; it loads nothing from elsewhere."""
