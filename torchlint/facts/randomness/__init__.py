"""Who seeds a random number generator, and who draws from one."""
