"""Brings the user's file into a module without running it as a program."""

from torchlint.recording.loading.loader import Loaded, load

__all__ = ["Loaded", "load"]
