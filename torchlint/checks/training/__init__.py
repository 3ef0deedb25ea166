"""Steps of a training: gradients, layers, checkpoints, modes (TL313, TL314, TL503, TL601, TL603 to TL605)."""
