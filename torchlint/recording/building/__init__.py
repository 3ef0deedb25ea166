"""Brings a class or function of the user's to run: arguments, inputs, and repairs of both."""

from torchlint.recording.building.build import build
from torchlint.recording.building.held import as_called, held

__all__ = ["as_called", "build", "held"]
