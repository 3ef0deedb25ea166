"""Runs requests in processes of their own, with the user's files, network and other processes out of their reach.

What that holds on the system at hand, and what it does not, `Confinement` says before anything is run. Where the kernel
has no walls, run a copy of the project (`copy_of`): there an audit hook refuses what Python itself would write, and
nothing stops native code. Reading is never restricted: what is read cannot leave, for want of a network.
"""

from torchlint.recording.confinement.job import End, Limits
from torchlint.verify.sandbox.confinement import Confinement
from torchlint.verify.sandbox.outcome import Outcome
from torchlint.verify.sandbox.project_copy import copy_of
from torchlint.verify.sandbox.sandbox import Sandbox
from torchlint.verify.sandbox.temporary import OwnFolder

__all__ = ["Confinement", "End", "Limits", "Outcome", "OwnFolder", "Sandbox", "copy_of"]
