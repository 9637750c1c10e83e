"""Everything outside the process: one file speaks to one outside thing."""
