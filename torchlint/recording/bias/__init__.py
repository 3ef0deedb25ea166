"""Whether the value of a bias matters: it is perturbed, and all that comes out is looked at."""
