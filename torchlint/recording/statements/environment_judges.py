"""Judges of environment variables: TL204 to TL206 and TL211. What counts is the order of writes and first uses."""

from __future__ import annotations

import os
import subprocess
import sys

from torchlint.recording.messages import Answer
from torchlint.recording.statements.case import Case
from torchlint.recording.statements.observed import Event

_WORKSPACE = "CUBLAS_WORKSPACE_CONFIG"
_ACCEPTED = ("':4096:8'", "':16:8'")
_LAST_TO_ASK = (2, 9)
"""The last release of torch that looks at the variable."""
_MODE = "the determinism mode"
_HASH_SEED = "PYTHONHASHSEED"


def judge_missing_workspace(case: Case) -> Answer:
    """TL204: the mode is on, and no line sets the variable."""
    writes = case.seen.of("environment", _WORKSPACE)
    valid = next((event for event in writes if event.after in _ACCEPTED), None)
    if valid is not None:
        return case.says("REFUTED", f"line {valid.line} sets {_WORKSPACE} to {valid.after}")
    mode = case.seen.switches[_MODE]
    if mode == "False":
        return case.says("NOT REPRODUCED", "the determinism mode is off at the end", mode=mode)
    return _without_products(case, f"the determinism mode is on and no line sets {_WORKSPACE}")


def judge_invalid_workspace(case: Case) -> Answer:
    """TL205: the value that the process is left with is one that torch does not accept."""
    writes = case.seen.of("environment", _WORKSPACE)
    if not writes:
        return case.says("NOT REPRODUCED", f"line {case.line} left {_WORKSPACE} as it was")
    last, mode = writes[-1], case.seen.switches[_MODE]
    if last.after in _ACCEPTED and not _cuda_between(case, writes):
        return case.says("REFUTED", f"line {last.line} sets {_WORKSPACE} to {last.after}, before CUDA is used")
    is_never_on = mode == "False" and not any(event.after == "True" for event in case.seen.of("switch", _MODE))
    if is_never_on and not case.seen.ended_by:
        return case.says(
            "REFUTED", "nothing turns the determinism mode on, so torch does not check the value", mode=mode
        )
    return _without_products(case, f"{_WORKSPACE} is {last.after} at the end")


def judge_late_workspace(case: Case) -> Answer:
    """TL206: CUDA was used before the variable was set."""
    writes = case.seen.of("environment", _WORKSPACE)
    valid = next((event for event in writes if event.after in _ACCEPTED and event.line < case.line), None)
    uses = case.seen.of("cuda")
    if valid is not None and not any(use.line < valid.line for use in uses):
        return case.says("REFUTED", f"line {valid.line} sets {_WORKSPACE} before CUDA is used")
    return _without_products(case, f"line {case.line} sets {_WORKSPACE}")


def _without_products(case: Case, state: str) -> Answer:
    """Only a matrix product on CUDA, with a torch that still asks, could show the rest."""
    if case.torch > _LAST_TO_ASK:
        reason = f"{state}, but {case.release} does not read the variable; the finding is about torch ≤ 2.9"
    elif not case.has_cuda:
        reason = f"{state}, but {case.release} reads it only in a matrix product on CUDA, and there is none here"
    else:
        reason = f"{state}; only a run under the mode shows whether a matrix product raises"
    return case.says("NOT REPRODUCED", reason)


def _cuda_between(case: Case, writes: list[Event]) -> bool:
    order = case.seen.events
    uses = [index for index, event in enumerate(order) if event.what == "cuda"]
    return any(use < order.index(writes[-1]) for use in uses)


def judge_runtime_hash_seed(case: Case) -> Answer:
    """TL211: the value was written, the running interpreter hashes on as it did."""
    write = next((event for event in case.seen.of("environment", _HASH_SEED) if event.line in case.lines), None)
    if write is None:
        return case.says("NOT REPRODUCED", f"line {case.line} left {_HASH_SEED} as it was")
    order = case.seen.events
    starts = [event for event in order[order.index(write) :] if event.what == "interpreter"]
    if starts:
        return case.says("REFUTED", f"line {starts[0].line} starts another program, which reads {_HASH_SEED}")
    value = write.after.strip("'\"")
    if value != "random" and not (value.isdecimal() and int(value) < 2**32):
        return case.says("NOT REPRODUCED", f"{_HASH_SEED} was set to {write.after}, which Python does not accept")
    before, after, started_with = _hashes(value)
    values = {"value": value, "hash_before": before, "hash_after": after, "hash_when_started_with": started_with}
    if before != after or after == started_with:
        return case.says("NOT REPRODUCED", "the hashes of an interpreter did not show it", **values)
    reason = (
        f"line {write.line} sets {_HASH_SEED} to {write.after}, but the hashes of the running process stay the same"
    )
    return case.says("CONFIRMED", reason, **values)


_PROOF = """
import os, sys
before = hash("torchlint")
os.environ["PYTHONHASHSEED"] = sys.argv[1]
print(before, hash("torchlint"))
"""


def _hashes(value: str) -> tuple[str, str, str]:
    """The hash of a text before and after the variable is set inside, and in an interpreter that started with it."""
    other = "1" if value != "1" else "2"
    before, after = _run_python(_PROOF, other, value)
    started_with, _ = _run_python(_PROOF, value, value)
    return before, after, started_with


def _run_python(source: str, hash_seed: str, value: str) -> tuple[str, str]:
    ran = subprocess.run(  # noqa: S603 - Python itself, with the source above
        [sys.executable, "-s", "-S", "-c", source, value],
        env={**os.environ, _HASH_SEED: hash_seed},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    before, after = ran.stdout.split()
    return before, after
