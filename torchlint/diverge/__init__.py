"""Two runs of a program compared: the first step, operator and line that differ, and the factor behind it."""
