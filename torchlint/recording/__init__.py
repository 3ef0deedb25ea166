"""What runs beside the user's code, in a process of its own: it alone imports torch.

Nothing here is imported by `check`. `messages` is the plain data that travels between the two sides, and free of torch.
"""
