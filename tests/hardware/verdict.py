"""What a run says about a row of the registry. Needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from torchlint.catalogue.registry import Operator, Row

Mode = Literal["off", "on", "warn_only"]
MODES: tuple[Mode, ...] = ("off", "on", "warn_only")

Verdict = Literal["agrees", "not reproduced", "no row", "not run", "disagrees", "failed"]
BAD: tuple[Verdict, ...] = ("disagrees", "failed")

ALERT = " does not have a deterministic implementation"


@dataclass(frozen=True)
class Observation:
    """One call with the mode in one state: `diverged` of `runs` differed from the first."""

    runs: int = 0
    diverged: int = 0
    raised: str = ""
    """`RuntimeError: put_ does not have ...`, the first words of it."""
    warned: str = ""

    @property
    def refused(self) -> bool:
        """Raised by the mode, and not for another reason."""
        return "deterministic" in self.raised.lower()

    @property
    def is_missing(self) -> bool:
        """This device has no such kernel. Some say so by another error: `RuntimeError: NYI: CUDA sspaddmm ...`."""
        return self.raised.startswith("NotImplementedError") or ": NYI: " in self.raised

    def __str__(self) -> str:
        if self.raised:
            return f"raises {self.raised}"
        return f"{self.diverged}/{self.runs}{' warns' if self.warned else ''}"


def judge(operator: Operator, row: Row | None, seen: Mapping[Mode, Observation]) -> tuple[Verdict, str]:
    """The verdict, and why. That nothing varied where it may proves nothing: it is only not reproduced."""
    for mode, observation in seen.items():
        if observation.raised and not observation.refused:
            verdict: Verdict = "not run" if observation.is_missing else "failed"
            return verdict, f"{mode}: {observation.raised}"
    if row is None:
        unlisted = _unlisted(seen)
        return ("disagrees", f"no row for this device, yet it {unlisted}") if unlisted else ("no row", "")
    wrong = _refusal(operator, row, seen) or _variation(operator, row, seen)
    if wrong:
        return "disagrees", wrong
    return ("agrees", "") if _shown(operator, row, seen) else ("not reproduced", "")


def _unlisted(seen: Mapping[Mode, Observation]) -> str:
    if seen["on"].raised:
        return "raises under the mode"
    return "varies" if any(observation.diverged for observation in seen.values()) else ""


def _refusal(operator: Operator, row: Row, seen: Mapping[Mode, Observation]) -> str:
    """Where raising and warning differ from what the row says."""
    for mode in ("off", "warn_only"):
        if seen[mode].raised:
            return f"raises with the mode {mode}"
    raised = seen["on"].raised
    if row.under_mode != "raises":
        return "raises under the mode" if raised else ""
    if not raised:
        return "does not raise under the mode"
    if not seen["warn_only"].warned:
        return "does not warn under warn_only"
    name = raised.partition(": ")[2].partition(ALERT)[0]
    known = ALERT not in raised or not operator.alerts or name in operator.alerts
    return "" if known else f"raises by the alert `{name}`, which the entry does not list"


def _variation(operator: Operator, row: Row, seen: Mapping[Mode, Observation]) -> str:
    """Where something varies that the row says does not."""
    steady: list[Mode] = []
    if row.under_mode == "always_deterministic" or operator.condition.only_refused:
        steady = ["off", "on", "warn_only"]
    elif row.under_mode == "deterministic_alternative":
        steady = ["on"] if row.under_warn_only == "silent_nondeterministic" else ["on", "warn_only"]
    return next((f"varies with the mode {mode}" for mode in steady if seen[mode].diverged), "")


def _shown(operator: Operator, row: Row, seen: Mapping[Mode, Observation]) -> bool:
    """The variation that the row speaks of was seen, or there is none to be seen."""
    if row.under_mode == "always_deterministic" or operator.condition.only_refused:
        return True
    return any(observation.diverged for observation in seen.values())
