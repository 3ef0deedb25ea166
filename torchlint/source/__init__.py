"""From bytes on disk to Python text with a line map, and which files to read at all."""
