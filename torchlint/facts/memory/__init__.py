"""Memory that nothing has written yet, and memory that views share."""
