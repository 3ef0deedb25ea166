"""The CPU against the device, or float32 against float64: how far the same computation is apart, part by part.

No tolerance is right for all models, so each difference is held against the error that float32 on the CPU makes itself,
with float64 as the truth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch

from torchlint.recording.comparison.differences import Difference, difference, ratio_to_reference, rounding
from torchlint.recording.global_state.switches import restored_switches
from torchlint.recording.messages import Answer, ProbedFinding
from torchlint.recording.names import VerdictName
from torchlint.recording.probe_context import ProbeContext, answer
from torchlint.recording.probes.drift import Drifts, drifts
from torchlint.recording.runs.equality_checks import sides_compared
from torchlint.recording.runs.module_values import ModuleValues, module_values
from torchlint.recording.runs.precision import in_double
from torchlint.recording.subject import Subject
from torchlint.recording.tensors import as_reals

_SHOWN = 12
_SMALL_GRADIENT = 0.1
"""Gradients below this share of the largest are held against that: some cancel to nothing but rounding."""
_LIKE_ROUNDING = 8.0
"""Up to so many times the error of float32 on the CPU is its rounding, added up in another order."""


@dataclass(frozen=True)
class _Part:
    """One result or gradient on both sides."""

    place: str
    apart: Difference
    """Of the device, or of float32 where there is none, from the CPU, or from float64."""
    ratio: float | None
    """Of their errors to float64; None where there is no device or no float64."""
    roundings: float
    """The difference as a multiple of half a unit of the largest value."""

    @property
    def weight(self) -> float:
        """How remarkable it is: the ratio, and the plain size where there is none."""
        if self.ratio is None:
            return self.roundings
        return self.ratio if math.isfinite(self.ratio) else 0.0

    def evidence(self) -> dict[str, object]:
        ratio = {"ratio": self.ratio} if self.ratio is not None and math.isfinite(self.ratio) else {}
        return {"place": self.place, **self.apart.evidence(), "roundings": round(self.roundings, 2), **ratio}


def probe(context: ProbeContext, finding: ProbedFinding) -> Answer:
    """How far the subject's values on the device are from those of the CPU, or of float64."""
    subject = context.subject
    if subject is None:
        reason = "there is no module or function to run; the switch has an effect on a GPU with such arithmetic"
        return answer(context, finding, "devices", "SKIPPED", reason)
    with restored_switches():
        sides = sides_compared(subject, context.request.code.path, finding.line, finding.end_line)
        if sides:
            return _of_comparison(context, finding, sides)
        return _of_parts(context, finding, subject)


def _of_comparison(context: ProbeContext, finding: ProbedFinding, sides: list[Difference]) -> Answer:
    """The flagged line compares two tensors: what sets them apart is the answer."""
    worst = max(sides, key=lambda apart: (apart.differing, apart.max_abs))
    evidence: dict[str, object] = {"comparisons": [apart.evidence() for apart in sides[:_SHOWN]]}
    if worst.none:
        where = "both were computed on the CPU here" if context.device == "cpu" else "on this device and input"
        reason = f"the two sides of the comparison had equal bits: {where}"
        return answer(context, finding, "devices", "NOT REPRODUCED", reason, **evidence)
    reason = (
        f"the two sides that are compared for equal bits differ in {worst.differing} of {worst.elements} elements,"
        f" by at most {worst.max_abs:.1e}"
    )
    return answer(context, finding, "devices", "VARIES", reason, **evidence)


def _of_parts(context: ProbeContext, finding: ProbedFinding, subject: Subject) -> Answer:
    subject, baseline, mode = _comparable(replace(subject, device="cpu").on("cpu"))
    if baseline.draws:
        where = " in eval mode too" if subject.model is not None else ""
        reason = f"random numbers are drawn{where}, and no two devices draw the same"
        return answer(context, finding, "devices", "NOT REPRODUCED", reason)
    reference = _reference(subject)
    other = module_values(subject.on(context.device)) if context.device != "cpu" else None
    if other is None and reference is None:
        reason = "there is no second device here, and the code does not run in float64"
        return answer(context, finding, "devices", "NOT REPRODUCED", reason)
    parts = _parts(baseline, reference, other)
    verdict, reason = _verdict(parts, has_device=other is not None)
    drift = drifts(context, subject) if _is_named(finding) else Drifts()
    evidence: dict[str, object] = {
        "compared": f"{context.device} with cpu" if other is not None else "float32 with float64",
        "mode": mode,
        "parts": [part.evidence() for part in parts[:_SHOWN]],
        "parts_compared": len(parts),
        **drift.evidence(),
    }
    return answer(context, finding, "devices", verdict, reason + drift.words, **evidence)


def _is_named(finding: ProbedFinding) -> bool:
    """Whether the user asked for the target by name: a finding is about one line, and needs no training."""
    return not finding.code


def _comparable(subject: Subject) -> tuple[Subject, ModuleValues, str]:
    """As it is; in eval mode where it draws random numbers, of which every device has its own."""
    values = module_values(subject)
    mode = "train" if any(model.training for model in subject.models.values()) else "eval"
    if values.draws and subject.model is not None:
        subject.model.eval()
        values, mode = module_values(subject), "eval"
    return subject, values, mode


def _reference(subject: Subject) -> ModuleValues | None:
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        return module_values(in_double(subject))
    except Exception:  # noqa: BLE001 - code that insists on float32 has no truth to compare with
        return None
    finally:
        torch.set_default_dtype(default)


def _parts(baseline: ModuleValues, reference: ModuleValues | None, other: ModuleValues | None) -> list[_Part]:
    """All places that every side has, in the order of the run; where there is no device, the CPU takes its place."""
    largest = max((difference(tensor, tensor).largest for tensor in baseline.gradients.values()), default=0.0)
    scales = {"results": 0.0, "gradients": _SMALL_GRADIENT * largest}
    found: list[_Part] = []
    for kind, scale in scales.items():
        exact = {} if reference is None else getattr(reference, kind)
        device = None if other is None else getattr(other, kind)
        for place, given in getattr(baseline, kind).items():
            plain = as_reals(given)
            truth, value = _there(exact.get(place)), plain if device is None else _there(device.get(place))
            against = truth if device is None else plain
            if value is not None and against is not None and plain.is_floating_point():
                ratio = None
                if device is not None and truth is not None:
                    ratio = ratio_to_reference(value, plain, truth, scale)
                found.append(_part(place, difference(value, against, plain.dtype, scale), ratio, plain.dtype))
    return found


def _there(tensor: torch.Tensor | None) -> torch.Tensor | None:
    return None if tensor is None else as_reals(tensor)


def _part(place: str, apart: Difference, ratio: float | None, dtype: torch.dtype) -> _Part:
    return _Part(place, apart, ratio, apart.max_abs / (rounding(dtype) * (apart.largest or 1.0)))


def _verdict(parts: list[_Part], *, has_device: bool) -> tuple[VerdictName, str]:
    sides = "the device and the CPU" if has_device else "float32 and float64"
    if not parts:
        return "NOT REPRODUCED", "no result holds floating-point numbers that could be compared"
    broken = next((part for part in parts if part.apart.structure or part.apart.only_one_finite), None)
    if broken is not None:
        return "VARIES", f"{sides} differ in more than rounding at `{broken.place}`: {_break(broken.apart)}"
    first = next((part for part in parts if not part.apart.none), None)
    if first is None:
        return "NOT REPRODUCED", f"{sides} agree in every bit on this input"
    worst = max(parts, key=lambda part: part.weight)
    text = (
        f"{sides} differ from `{first.place}` on; the most at `{worst.place}`:"
        f" {worst.apart.max_abs:.1e} against values up to {worst.apart.largest:.1e}"
    )
    return "VARIES", f"{text}, {_size(worst)}"


def _break(apart: Difference) -> str:
    return apart.structure or f"{apart.only_one_finite} elements are a number on one side only"


def _size(part: _Part) -> str:
    if part.ratio is None:
        return f"which is {part.roundings:.1f} roundings of its type"
    if part.ratio <= _LIKE_ROUNDING:
        return f"{part.ratio:.1f} times the error of the CPU itself: the size of rounding"
    return f"{part.ratio:.0f} times the error of the CPU itself: more than another order of additions explains"
