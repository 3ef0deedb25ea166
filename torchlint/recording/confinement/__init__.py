"""What a process that runs user code does to itself first: limits, walls, and surroundings of its own.

Free of torch, so that the command can say beforehand what protects the user's files.
"""
