"""Brings a class or function of the user's to run: arguments, inputs, and repairs of both."""

from torchlint.recording.building.build import build, held

__all__ = ["build", "held"]
