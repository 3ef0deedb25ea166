"""Views that share memory, and what calls do with the memory they are given."""
