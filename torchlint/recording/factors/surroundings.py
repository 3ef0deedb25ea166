"""The environment variables by which factors are held or varied, and by which a process learns of them."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # `typing` takes a while to import
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

HELD, VARIED = "TORCHLINT_HELD", "TORCHLINT_VARIED"
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def environment_for(held: Collection[str], varied: Collection[str], environ: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a run: that of the caller, with what holds and varies factors added.

    `environment_for({"hash-seed"}, {"threads"}, os.environ)` sets `PYTHONHASHSEED=0`, `OMP_NUM_THREADS=1` and others.
    """
    added = {HELD: ",".join(sorted(held)), VARIED: ",".join(sorted(varied))}
    if "hash-seed" in held:
        added["PYTHONHASHSEED"] = "0"
    elif "hash-seed" in varied:
        added["PYTHONHASHSEED"] = "1" if environ.get("PYTHONHASHSEED") != "1" else "2"
    if "threads" in held:
        added |= dict.fromkeys(_THREADS, "1")
    elif "threads" in varied:
        added |= dict.fromkeys(_THREADS, other_number_of_threads(environ))
    if "determinism-mode" in held and not environ.get("CUBLAS_WORKSPACE_CONFIG"):
        added["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    if "compile" in held:
        added["TORCHDYNAMO_DISABLE"] = "1"
    return {**environ, **added}


def other_number_of_threads(environ: Mapping[str, str]) -> str:
    """One thread where the first run has more, else two."""
    first = environ.get(_THREADS[0], "").partition(",")[0]
    return "1" if (int(first) if first.isdecimal() else _processors()) > 1 else "2"


def asked_for(environ: Mapping[str, str]) -> tuple[frozenset[str], frozenset[str]]:
    """The factors that a process shall hold, and those that it shall vary."""
    held, varied = (frozenset(filter(None, environ.get(name, "").split(","))) for name in (HELD, VARIED))
    return held, varied


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
