"""What trains and predicts: passes, steps, scaled gradients, checkpoints, the mode of a module."""
