"""One request in a fresh interpreter: where processes cannot be forked (Windows, MPS).

The request comes on standard input. The channel goes out where standard output was, the output where the errors go.
"""

from __future__ import annotations

import faulthandler
import functools
import os
import sys
from typing import NoReturn

import msgspec

from torchlint.recording.confinement import scratch
from torchlint.recording.confinement.job import Job
from torchlint.recording.process.channel import NONCE_BYTES, Decoder
from torchlint.recording.process.runner import load, run_confined

_SECONDS_AFTER_LIMIT = 5.0


def main(entry: str) -> NoReturn:
    received = sys.stdin.buffer.read()
    first, second = Decoder(received[:NONCE_BYTES]).feed(received[NONCE_BYTES:])
    job = msgspec.json.decode(first.payload, type=Job)
    # No supervisor will end it should the command be gone by then. This is no Python thread: nothing holds it up.
    faulthandler.dump_traceback_later(job.limits.seconds + _SECONDS_AFTER_LIMIT, exit=True)
    scratch.make(job.scratch)
    run_confined(job, second.payload, functools.partial(load, entry), os.dup(1), os.dup(2), (os.getppid(),))
