"""What varies between two runs of a program, held fixed or varied inside the program's own unedited process.

`start` is called where Python starts. Its modules are imported only for the factors that are asked for, and lightly:
nothing of the user's is there yet.
"""
