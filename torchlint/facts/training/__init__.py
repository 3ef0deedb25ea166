"""What trains and predicts: passes, steps, checkpoints, the mode of a module."""
