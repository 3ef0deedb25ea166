"""The recorder inside a command of the user's own: started by `startup/sitecustomize.py` once torch is imported.

It is a guest there. What breaks in it is written down, and the program goes on; nothing of it stays in what the program
saves. Nothing in this file, in `results.py` and in `startup` imports torch.
"""
