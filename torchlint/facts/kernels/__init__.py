"""Hand-written Triton kernels."""
