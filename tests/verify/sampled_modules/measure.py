"""Brings drawn classes to run, a process each: `python -m tests.verify.sampled_modules.measure FOLDER`."""

from __future__ import annotations

import argparse
import collections
import contextlib
import os
import pickle
import re
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch  # noqa: F401 - imported once, before the processes are forked

from tests.verify.sampled_modules.draw import HERE, Drawn, read
from torchlint.recording.building import build
from torchlint.recording.errors import CannotRun
from torchlint.recording.loading import load
from torchlint.recording.messages import Code, Request, Target
from torchlint.recording.subject import Subject

SECONDS = 60.0
"""For one class, all in all."""
MEMORY = 8 * 2**30


@dataclass(frozen=True)
class Result:
    """What became of one class."""

    outcome: str
    """`backward`, `forward only` of a module without parameters to train, or the kind of failure."""
    reason: str = ""
    attempts: int = 0
    seconds: float = 0.0

    @property
    def is_success(self) -> bool:
        return self.outcome in {"backward", "forward only"}


def run(drawn: Drawn, folder: Path, dependencies: Path | None) -> Result:
    """Load, build and run one class. For a process of its own."""
    root = folder / f"{drawn.package}-{drawn.version}"
    path = root / drawn.file
    module = drawn.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    others = sorted(other for other in folder.iterdir() if other != root)
    paths = [root, *([dependencies] if dependencies else []), *others]
    code = Code(
        path=str(path),
        module=module,
        text=path.read_text(encoding="utf-8"),
        search_paths=tuple(str(one) for one in paths),
    )
    request = Request(code=code, target=Target(kind="module", name=drawn.name), findings=(), seconds=SECONDS)
    started = time.monotonic()
    try:
        subject, executed = build(request, load(code))
        outcome = _outcome(subject)
    except CannotRun as error:
        return Result(error.kind, error.reason, seconds=time.monotonic() - started)
    said = f"{executed.construction} on {', '.join(executed.inputs)}"
    if executed.stubs:
        said += f" (stood in for: {', '.join(executed.stubs)})"
    return Result(outcome, said, executed.attempts, time.monotonic() - started)


def _outcome(subject: Subject) -> str:
    """Without parameters to train a module has no backward pass of its own; with them, it has to have one."""
    if subject.run().has_backward:
        return "backward"
    is_trainable = subject.model is not None and any(p.requires_grad for p in subject.model.parameters())
    return "no gradient" if is_trainable else "forward only"


def in_process(action: Callable[[], Result]) -> Result:
    """The result of a forked process, killed with all it started when its time is up."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _as_child(action, writer)
    os.close(writer)
    try:
        return _received(reader)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reader)


def _as_child(action: Callable[[], Result], writer: int) -> None:
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    try:
        result = action()
    except BaseException as error:  # noqa: BLE001 - a fault of torchlint's own, told as one
        result = Result("internal error", f"{type(error).__name__}: {error}"[:300])
    os.write(writer, pickle.dumps(result))
    os._exit(0)


def _received(reader: int) -> Result:
    ready, _, _ = select.select([reader], [], [], SECONDS)
    data = os.read(reader, 2**20) if ready else b""
    if not ready:
        return Result("timeout", f"more than {SECONDS:.0f} s")
    return pickle.loads(data) if data else Result("crash", "the process ended without an answer")  # noqa: S301 - own child


def shown(results: dict[Drawn, Result]) -> str:
    """How many ran, by package, and why the others did not."""
    lines = []
    for package in sorted({drawn.package for drawn in results}):
        own = [result for drawn, result in results.items() if drawn.package == package]
        lines.append(f"{package:<28} {sum(r.is_success for r in own):>4} of {len(own):>4}")
    done = sum(result.is_success for result in results.values())
    lines.append(f"{'all':<28} {done:>4} of {len(results):>4}  {100 * done / len(results):.1f} %")
    lines.append("")
    for outcome, count in collections.Counter(result.outcome for result in results.values()).most_common():
        lines.append(f"{outcome:<28} {count:>4}")
        reasons = collections.Counter(_kind_of(r.reason) for r in results.values() if r.outcome == outcome)
        if outcome not in {"backward", "forward only"}:
            lines += [f"    {times:>3}  {reason}" for reason, times in reasons.most_common(12)]
    return "\n".join(lines)


def _kind_of(reason: str) -> str:
    """The type of the error in a reason: messages have numbers of their own."""
    found = re.search(r"\b(\w*(?:Error|Exception|NotFound))\b", reason)
    return found[1] if found else reason[:60]


def dump(results: dict[Drawn, Result]) -> str:
    rows = ["package\tfile\tclass\toutcome\tattempts\treason"]
    for drawn, result in results.items():
        reason = plain(result.reason)
        rows.append(f"{drawn.package}\t{drawn.file}\t{drawn.name}\t{result.outcome}\t{result.attempts}\t{reason}")
    return "\n".join(rows) + "\n"


def plain(reason: str) -> str:
    """On one line, without what differs from machine to machine: folders and addresses."""
    return re.sub(r"(?<![\w:/.])/(?:[\w.+-]+/)+", "", re.sub(r"0x[0-9a-f]{6,}", "0x", " ".join(reason.split())))


def measured(drawn: Iterable[Drawn], folder: Path, dependencies: Path | None) -> dict[Drawn, Result]:
    results = {}
    for one in drawn:
        results[one] = in_process(lambda one=one: run(one, folder, dependencies))  # type: ignore[misc]
        result = results[one]
        sys.stderr.write(f"{one.package} {one.name}: {result.outcome} {result.seconds:.1f} s {result.reason[:150]}\n")
    return results


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.verify.sampled_modules.measure", description=__doc__)
    parser.add_argument("folder", type=Path, help="holds each package's unpacked wheel, as NAME-VERSION")
    parser.add_argument("--dependencies", type=Path, metavar="DIR", help="where dependencies.txt is installed")
    parser.add_argument("--list", type=Path, default=HERE / "modules.tsv", metavar="FILE", help="the drawn classes")
    parser.add_argument("--only", default="", metavar="TEXT", help="classes whose name holds this")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results there, tab-separated")
    options = parser.parse_args(arguments)
    drawn = [one for one in read(options.list) if options.only in one.name]
    results = measured(drawn, options.folder.absolute(), options.dependencies and options.dependencies.absolute())
    sys.stdout.write(shown(results) + "\n")
    if options.out:
        options.out.write_text(dump(results), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
