"""The recorder of a whole run: steps, operators, and values that enter torch from outside, written to one file.

`torchlint diverge` and `torchlint record` put it into the user's command. It is a guest there: it draws no random
number, and what breaks in it is written down while the program goes on.
"""
