"""Where the order of a listing or a set ends up."""
