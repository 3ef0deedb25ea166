"""Runs the operators of the registry on this machine and compares what they do with what the registry says."""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar

from tests.hardware.case import DEVICES, Case
from tests.hardware.every import CASES
from tests.hardware.measure import Measured, first_words, measure
from tests.hardware.report import Line, dump, shown, table
from tests.hardware.verdict import judge
from torchlint.catalogue import load_catalogue
from torchlint.catalogue.registry import Operator, Row
from torchlint.catalogue.versions import Minor, VersionRange, parse_minor

ENVIRONMENT = {
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",  # without it torch up to 2.9 refuses matrix products under the mode
    "OMP_WAIT_POLICY": "PASSIVE",  # threads that spin make a busy machine many times slower
}
"""Read when the process that runs the cases starts."""

T = TypeVar("T")
torch: Any = importlib.import_module("torch")


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code is 1 when an entry disagrees or its case fails, 2 when there is nothing to run."""
    options = _parser().parse_args(arguments)
    unknown = options.only - CASES.keys()
    if unknown or not available(options.device):
        reason = f"no such entry: {', '.join(sorted(unknown))}" if unknown else f"torch sees no {options.device} here"
        sys.stderr.write(f"error: {reason}\n")
        return 2
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    lines: list[Line] = []
    for line in results(options.only, options.device, options.runs):
        lines.append(line)
        sys.stderr.write(f"{line.entry} {line.call}: {line.verdict} {line.why}".rstrip() + "\n")
        if options.out:  # after each line: what takes the machine down leaves what was found before
            options.out.write_text(dump(lines, about(options.device, options.runs)), encoding="utf-8")
    sys.stdout.write(table(lines))
    return int(any(line.bad for line in lines))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.hardware", description=__doc__)
    parser.add_argument("--device", choices=DEVICES, default="cuda" if available("cuda") else "cpu")
    parser.add_argument("--runs", type=int, default=20, metavar="N", help="runs of each call and mode (default: 20)")
    parser.add_argument("--only", type=lambda text: set(text.split(",")), default=set(), metavar="IDS")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results there, tab-separated")
    return parser


def available(device: str) -> bool:
    if device == "cpu":
        return True
    module = torch.backends.mps if device == "mps" else getattr(torch, device, None)
    return module is not None and bool(module.is_available())


def results(only: set[str], device: str, runs: int) -> Iterator[Line]:
    """One line a call, in the order of the registry."""
    installed = parse_minor(torch.__version__)
    worker = Worker()
    for operator in load_catalogue().operators:
        if operator.library != "torch" or (only and operator.id not in only):
            continue
        reason = why_not(CASES.get(operator.id), device, installed)
        row = operator.row_for(device, installed)
        yield from lines_of(operator, row, reason or worker.measure(operator.id, device, runs))
    worker.stop()


def why_not(case: Case | None, device: str, installed: Minor) -> str:
    if case is None:
        return "there is no case"
    if case.not_run:
        return case.not_run
    if device not in case.devices:
        return f"only on {', '.join(case.devices)}"
    return "" if installed in VersionRange.parse(case.torch) else f"only on torch {case.torch}"


def lines_of(operator: Operator, row: Row | None, measured: Measured | Failure | str) -> Iterator[Line]:
    claim = row.under_mode if row else ""
    if isinstance(measured, str):
        yield Line(operator.id, "", claim, "", "", "", "not run", measured)
    elif isinstance(measured, Failure):
        yield Line(operator.id, "", claim, "", "", "", "failed", measured.why)
    else:
        for call, seen in measured.items():
            yield Line(operator.id, call, claim, *shown(seen), *judge(operator, row, seen))


@dataclass(frozen=True)
class Failure:
    """The case could not be run, or took the process with it."""

    why: str


class Worker:
    """A process that runs cases. A new one takes over where a case has broken it, or the device with it."""

    def __init__(self) -> None:
        self._pool = self._new()

    def measure(self, identity: str, device: str, runs: int) -> Measured | Failure:
        measured = self.run(measure, identity, device, runs)
        if isinstance(measured, Failure):
            return measured
        if any(o.raised and not o.refused for seen in measured.values() for o in seen.values()):
            self._replace()  # after an error of CUDA nothing works any more in the same process
        return measured

    def run(self, function: Callable[..., T], *arguments: object) -> T | Failure:
        try:
            return self._pool.submit(function, *arguments).result()
        except Exception as error:  # noqa: BLE001 - a crash, or inputs that could not be made: the others still can run
            self._replace()
            return Failure(first_words(error))

    def stop(self) -> None:
        self._pool.shutdown()

    def _replace(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = self._new()

    @staticmethod
    def _new() -> ProcessPoolExecutor:
        return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def about(device: str, runs: int) -> dict[str, str]:
    return {
        "device": device_name(device),
        "torch": torch.__version__,
        "cuda": str(torch.version.cuda),
        "date": datetime.now(tz=timezone.utc).date().isoformat(),
        "runs": str(runs),
    }


def device_name(device: str) -> str:
    if device in ("cuda", "xpu"):
        return str(getattr(torch, device).get_device_name())
    return f"{device} ({platform.machine()}, {torch.get_num_threads()} threads)"


if __name__ == "__main__":
    sys.exit(main())
