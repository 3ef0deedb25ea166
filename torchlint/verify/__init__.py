"""`torchlint verify`: from findings to targets, from targets to processes, from their answers to verdicts.

Nothing here imports torch: the processes do (`torchlint.recording`).
"""
