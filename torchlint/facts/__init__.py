"""What a file says, read once with `ast`: every question a check may ask, answered in one place."""
