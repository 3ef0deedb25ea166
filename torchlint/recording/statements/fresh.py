"""Runs in interpreters of their own: what depends on the salt of the hashes shows in no fork."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from torchlint.recording.clock import ends_in_time
from torchlint.recording.messages import ProbedFinding, Request
from torchlint.recording.statements.apart import NoReply, longest

Reply = TypeVar("Reply")

_SECONDS_TO_START = 20.0
"""To import torch."""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    work: Literal["observe", "outcome"]
    request: Request
    finding: ProbedFinding
    seconds: float


# The path is that of this process, so that no file beside the user's program is taken for one of ours.
_START = """
import sys
sys.path[:] = sys.argv[3:]
from torchlint.recording.statements.fresh_start import work
work(sys.argv[1], sys.argv[2])
"""


def run_fresh(task: Task, reply: type[Reply], hash_seed: int) -> Reply:
    """What the task gives in a new interpreter whose hashes are salted from `hash_seed`."""
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder, "task"), Path(folder, "reply")
        asked.write_bytes(msgspec.msgpack.encode(task))
        command = [sys.executable, "-s", "-c", _START, str(asked), str(answered), *sys.path]
        environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
        # The output goes where that of this process goes.
        seconds = longest(task.seconds) + _SECONDS_TO_START
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)  # noqa: S603 - Python itself
        if not ends_in_time(process, seconds):
            raise NoReply(f"the run took more than {seconds:.0f} s: try a larger `--timeout`")
        try:
            return msgspec.msgpack.decode(answered.read_bytes(), type=reply)
        except (FileNotFoundError, msgspec.DecodeError) as error:
            raise NoReply("the interpreter ended before it answered") from error
