"""How far two tensors are apart: in bits, in size, in units of the last place."""
