"""What torch itself says under the determinism mode: the calls that it refuses, in its own words."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from torchlint.recording.subject import Subject

_ALERT = re.compile(r"(?P<kernel>.+?) (does not have a deterministic implementation|defaults to a non-deterministic)")
_CUBLAS = "CUBLAS_WORKSPACE_CONFIG"


@dataclass(frozen=True)
class Refusal:
    """One kernel that torch warns of under `warn_only=True`, by the name that torch gives it."""

    kernel: str
    words: str


@dataclass(frozen=True)
class Refusals:
    """`raised` are torch's words when the mode was fully on (empty: it ran); `all` every kernel that it warned of."""

    raised: str = ""
    all: tuple[Refusal, ...] = ()
    other_error: str = ""
    """What failed under the mode for another reason."""


@contextmanager
def determinism_mode(*, warn_only: bool = False) -> Iterator[None]:
    """The mode switched on meanwhile, and after that as it was."""
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    _set_mode(on=True, warn_only=warn_only)
    try:
        yield
    finally:
        _set_mode(on=before[0], warn_only=before[1])


def _set_mode(*, on: bool, warn_only: bool) -> None:
    # torch.use_deterministic_algorithms tells the compiler as well, and imports it for that, which takes seconds.
    torch._C._set_deterministic_algorithms(on, warn_only=warn_only)  # noqa: SLF001


def refusals(subject: Subject) -> Refusals:
    """Run once with the mode on; where torch refuses, once more to hear of every call that it would refuse."""
    try:
        with determinism_mode():
            subject.run()
    except RuntimeError as error:
        words = _on_one_line(str(error))
        if _ALERT.match(words) or _CUBLAS in words:
            return Refusals(words, _warnings_of(subject))
        return Refusals(other_error=words)
    return Refusals()


def _warnings_of(subject: Subject) -> tuple[Refusal, ...]:
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with determinism_mode(warn_only=True), warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            subject.run()
    finally:
        torch.set_warn_always(always)
    found = (_ALERT.match(_on_one_line(str(warning.message))) for warning in heard)
    return tuple(dict.fromkeys(Refusal(each["kernel"], each.string) for each in found if each))


def _on_one_line(words: str) -> str:
    """Without what torch says to everybody: that the mode was set, here by the probe, and where to ask for more."""
    return " ".join(words.split()).partition(", but you set")[0][:400]
