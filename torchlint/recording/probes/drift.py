"""The curves of a target that the user names: how two trainings of it drift apart, in words and as evidence."""

from __future__ import annotations

from dataclasses import dataclass

from torchlint.recording.probe_context import ProbeContext
from torchlint.recording.runs.training_curves import Setting, curve
from torchlint.recording.subject import Subject

_STEPS = 60
_SHARE_OF_TIME = 0.2
"""Of the seconds that the whole process has, for each curve."""


@dataclass(frozen=True)
class Drift:
    """One curve: what the two trainings differ in, and how far each module is apart after each step."""

    pair: str
    modules: dict[str, list[float]]

    @property
    def total(self) -> list[float]:
        """The furthest of all modules, step by step."""
        return [max(row) for row in zip(*self.modules.values(), strict=True)]

    def evidence(self) -> dict[str, object]:
        modules = {name: _short(line) for name, line in self.modules.items()}
        total = self.total
        return {"pair": self.pair, "steps": [*range(1, len(total) + 1)], "total": _short(total), "modules": modules}

    @property
    def words(self) -> str:
        total, name = self.total, next(iter(self.modules))
        where = f", the most in `{name}`" if name else ""
        return f"{self.pair} are {total[0]:.1e} apart after step 1 and {total[-1]:.1e} after step {len(total)}{where}"


@dataclass(frozen=True)
class Drifts:
    """The curves that could be had, and why one could not."""

    curve: Drift | None = None
    of_threads: Drift | None = None
    obstacle: str = ""

    def evidence(self) -> dict[str, object]:
        drawn = {"curve": self.curve, "curve_of_threads": self.of_threads}
        found: dict[str, object] = {key: drift.evidence() for key, drift in drawn.items() if drift is not None}
        return found | ({"no_curve": self.obstacle} if self.obstacle else {})

    @property
    def words(self) -> str:
        """To go on with after the reason: trained, the two sides are so far apart."""
        drift = self.curve or self.of_threads
        return f"; trained, {drift.words}" if drift is not None else ""


def drifts(context: ProbeContext, subject: Subject) -> Drifts:
    """Train it twice: on the CPU and on the device, or in float64 where that is the CPU; and with 1 and 2 threads.

    `subject` is on the CPU. Random numbers that it draws would be others on the other side: it must not draw.
    """
    if not subject.models:
        return Drifts()
    how = "" if subject.model is None else " (plain SGD on a weighted sum of the outputs)"
    try:
        if context.device == "cpu":
            first = _drift(context, subject, f"float32 and float64{how}", Setting(), Setting(in_double=True))
        else:
            pair = f"cpu and {context.device}{how}"
            return Drifts(_drift(context, subject, pair, Setting(), Setting(device=context.device)))
        second = _drift(context, subject, f"1 and 2 threads{how}", Setting(threads=1), Setting(threads=2))
    except Exception as error:  # noqa: BLE001 - a step that cannot be repeated in another setting is told
        return Drifts(obstacle=f"{type(error).__name__}: {error}"[:200])
    return Drifts(first, second)


def _drift(context: ProbeContext, subject: Subject, pair: str, one: Setting, two: Setting) -> Drift | None:
    modules = curve(subject, one, two, steps=_STEPS, seconds=_SHARE_OF_TIME * context.request.seconds)
    return Drift(pair, modules) if modules else None


def _short(line: list[float]) -> list[float]:
    """Four digits are more than a drawing shows."""
    return [float(f"{value:.4g}") for value in line]
