"""What it costs to compare recordings: `python tests/benchmarks/diverge_cost.py --ranks 64 --steps 1000`.

It writes two folders of recordings and compares them on one core, at the level of steps and of operators: equal ones,
such that differ in every rank's last step, and such of two devices. Nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.diverge.recorded import Call, Held, Made, Recorder
from torchlint.diverge.offline import compared
from torchlint.diverge.sources import Sources
from torchlint.recording.journal.names import Level

_SAMPLE = (0.5, -0.25, 1.5, 0.125, 2.5, -3.5, 0.75, 1.0)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=64, help="[default: %(default)s]")
    parser.add_argument("--steps", type=int, default=1000, help="[default: %(default)s]")
    parser.add_argument("--rows", type=int, default=20, help="operators of a step [default: %(default)s]")
    options = parser.parse_args(arguments)
    print(f"{options.ranks} ranks, {options.steps} steps, {options.rows} operators a step")
    print(f"{'':<44} {'CPU s':>8} {'peak MB':>8} {'files MB':>9}")
    levels: tuple[Level, ...] = ("step", "operator")
    for level in levels:
        with tempfile.TemporaryDirectory() as place:
            folders = {name: Path(place, name) for name in ("first", "equal", "late", "device")}
            for name, folder in folders.items():
                _write(folder, level, options, differs=name == "late", device="cuda" if name == "device" else "cpu")
            for name in ("equal", "late", "device"):
                began = time.process_time()
                found = compared(folders["first"], folders[name], sources=Sources(Path.cwd()))
                seconds = time.process_time() - began
                size = sum(each.stat().st_size for each in folders[name].iterdir()) / 1e6
                told = f"{level} level, {name}: {found.verdict}, {len(found.elsewhere)} elsewhere"
                print(f"{told:<44} {seconds:>8.1f} {_peak():>8.0f} {size:>9.0f}")
    return 0


def _peak() -> float:
    """Megabytes of this process; Linux counts kilobytes, macOS bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def _write(folder: Path, level: Level, options: argparse.Namespace, *, differs: bool, device: str) -> None:
    folder.mkdir()
    for rank in range(options.ranks):
        recorder = Recorder(folder / f"rank-{rank}.tlrec", level=level, role=f"rank {rank}")
        chance = random.Random(rank)  # noqa: S311 - the digests of a rank
        for number in range(1, options.steps + 1):
            is_other = differs and number == options.steps
            recorder.write(_step(chance, options.rows, is_other=is_other, device=device))
        recorder.end()


def _step(chance: random.Random, rows: int, *, is_other: bool, device: str) -> Made:
    kind = f"float32[4] {device}"
    digests = [chance.getrandbits(64) >> (device == "cuda") for _ in range(rows + 1)]
    digests[-1] ^= is_other
    rounded = 1 + chance.random() * 1e-7 * (device == "cuda")
    sample = tuple(each * rounded for each in _SAMPLE)
    held = [Held(digest, sample, kind, place - 1) for place, digest in enumerate(digests)]
    calls = [Call("aten.add.Tensor", row, (held[row],), (held[row + 1],)) for row in range(rows)]
    values = dict.fromkeys(("parameters", "gradients", "loss", "buffers"), digests[-1])
    return Made(tuple(calls), (), values, (0.5,), sample, devices=(device,))


if __name__ == "__main__":
    sys.exit(main())
