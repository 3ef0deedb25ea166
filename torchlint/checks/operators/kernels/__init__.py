"""What kernels in strings and in Triton do."""
