"""Brings a class or function of the user's to run: constructor arguments, inputs, and repairs of both from the errors."""

from torchlint.recording.building.build import build

__all__ = ["build"]
