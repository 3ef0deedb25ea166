"""Places that tensors are read and written at: which recur, and what becomes of indices that an operator returns."""
