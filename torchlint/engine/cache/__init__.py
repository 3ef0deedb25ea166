"""What earlier runs know, in memory and on disk."""
