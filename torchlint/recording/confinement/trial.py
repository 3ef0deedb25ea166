"""A process that is confined and runs nothing: whether this system lets the walls be put up that it says it has."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import msgspec

from torchlint.recording.confinement import scratch, walls
from torchlint.recording.confinement.job import Job, Limits, Walls


def main(folder: str, tried: Mapping[str, object]) -> None:
    """Print what stands in the way; nothing where nothing does."""
    job = Job(nonce=b"", scratch=folder, limits=Limits(), walls=msgspec.convert(tried, Walls), workers=True)
    scratch.make(job.scratch)
    try:
        walls.confine(job, ())
    except OSError as error:
        sys.stdout.write(error.strerror or str(error))
