"""Runs requests in processes of their own, with the user's files, network and other processes out of their reach."""

from torchlint.recording.confinement.job import End, Limits
from torchlint.verify.sandbox.confinement import Confinement
from torchlint.verify.sandbox.outcome import Outcome
from torchlint.verify.sandbox.sandbox import Sandbox

__all__ = ["Confinement", "End", "Limits", "Outcome", "Sandbox"]
