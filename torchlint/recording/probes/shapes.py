"""The same rows in another batch size, the same prefix at another length: whether the same bits come out.

Kernels choose their order of additions by shape, so bits may differ where the mathematics does not. Which elements are
the same by mathematics is seen in float64: rows that a model mixes on purpose differ there too, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch.nn.utils.rnn import PackedSequence

from torchlint.recording.clock import Deadline
from torchlint.recording.comparison.differences import Difference, difference
from torchlint.recording.global_state.switches import restored_switches
from torchlint.recording.messages import Answer, ProbedFinding
from torchlint.recording.probe_context import ProbeContext, answer
from torchlint.recording.runs.cost import draws_random_numbers
from torchlint.recording.runs.precision import in_double
from torchlint.recording.subject import Subject
from torchlint.recording.tensors import as_reals, float_tensors, tensors_in

_ROWS = 8
_SHARE_OF_TIME = 0.4
"""Of the seconds that the whole process has."""
_SHORTER = (1, 2)
_SAME = 1e-11
"""Elements that are closer in float64, as a share of the largest value, are the same by mathematics."""
_ALIKE = 0.5
"""The least share of such elements: below it the model depends on the size by design."""


@dataclass(frozen=True)
class _Resized:
    """The same input in two sizes of one dimension: the smaller is a prefix of the larger."""

    what: str
    """`batch` or `length`."""
    dimension: int
    sizes: tuple[int, int]
    smaller: Subject
    larger: Subject


@dataclass(frozen=True)
class _Seen:
    resized: _Resized
    differences: dict[str, Difference]
    """By output, of the elements that are the same by mathematics."""
    share: float
    """Of such elements."""
    reason: str = ""
    """Why nothing was compared."""

    @property
    def varies(self) -> bool:
        return any(not apart.none for apart in self.differences.values())

    def evidence(self) -> dict[str, object]:
        facts: dict[str, object] = {
            "what": self.resized.what,
            "dimension": self.resized.dimension,
            "sizes": list(self.resized.sizes),
        }
        if self.reason:
            return {**facts, "reason": self.reason}
        outputs = {place: apart.evidence() for place, apart in self.differences.items()}
        return {**facts, "same_by_mathematics": round(self.share, 3), "outputs": outputs}


def probe(context: ProbeContext, finding: ProbedFinding) -> Answer:
    """Whether the same rows, and the same prefix, give the same bits in inputs of another size."""
    subject = context.subject
    if subject is None:
        return answer(context, finding, "shapes", "SKIPPED", "there is no module or function to run")
    with restored_switches(), torch.no_grad():
        subject = subject.fresh()
        if subject.model is not None:
            subject.model.eval()
        if draws_random_numbers(subject):
            reason = "random numbers are drawn in eval mode too, and their number depends on the size"
            return answer(context, finding, "shapes", "NOT REPRODUCED", reason)
        deadline = Deadline(_SHARE_OF_TIME * context.request.seconds)
        seen = [_compared(resized) for resized in _resized(subject) if not deadline.is_over]
    return _answered(context, finding, seen)


def _answered(context: ProbeContext, finding: ProbedFinding, seen: list[_Seen]) -> Answer:
    evidence: dict[str, object] = {"mode": "eval", "sizes": [one.evidence() for one in seen]}
    varying = [one for one in seen if one.varies]
    if varying:
        return answer(context, finding, "shapes", "VARIES", "; ".join(map(_words, varying)), **evidence)
    reasons = [one.reason for one in seen if one.reason]
    if not seen:
        reason = "no input has rows or a length to change"
    elif len(reasons) == len(seen):
        reason = reasons[0]
    else:
        reason = "the same rows and the same prefix had equal bits in the sizes that were tried"
    return answer(context, finding, "shapes", "NOT REPRODUCED", reason, **evidence)


def _words(seen: _Seen) -> str:
    place, apart = max(seen.differences.items(), key=lambda item: item[1].max_abs)
    what = "the same rows" if seen.resized.what == "batch" else "the same prefix"
    ulp = f", {apart.max_ulp:.0f} units in the last place" if apart.max_ulp is not None else ""
    return (
        f"{what} in sizes {seen.resized.sizes[0]} and {seen.resized.sizes[1]} differ in `output{place}` by at most"
        f" {apart.max_abs:.1e}{ulp}: rounding, not an error"
    )


# -- inputs of other sizes -----------------------------------------------------------------------------


def _resized(subject: Subject) -> list[_Resized]:
    """One row against eight, and each further dimension against ones a little shorter: of all rows, and of one.

    Kernels choose another order of additions for a single row than for several.
    """
    tensors = [tensor for _, tensor in tensors_in((subject.args, subject.kwargs)) if tensor.dim()]
    packed = [value for value in (*subject.args, *subject.kwargs.values()) if isinstance(value, PackedSequence)]
    if not tensors or packed or any(tensor.layout is not torch.strided for tensor in tensors):
        return []
    found: list[_Resized] = []
    wholes = [subject]
    rows = tensors[0].shape[0]
    if rows and all(tensor.shape[0] == rows for tensor in tensors):
        many = _with_inputs(subject, lambda tensor: tensor[torch.arange(_ROWS, device=tensor.device) % rows])
        one = _with_inputs(subject, lambda tensor: tensor[:1])
        found.append(_Resized("batch", 0, (1, _ROWS), one, many))
        wholes += [one] if rows > 1 else []
    return found + [shortened for whole in wholes for shortened in _shortened(whole, tensors[0].shape)]


def _shortened(subject: Subject, shape: torch.Size) -> Iterator[_Resized]:
    for dimension, length in enumerate(shape):
        for fewer in (each for each in _SHORTER if dimension and length > each):
            cut = partial(_cut, dimension=dimension, length=length, fewer=fewer)
            yield _Resized("length", dimension, (length - fewer, length), _with_inputs(subject, cut), subject)


def _cut(tensor: torch.Tensor, dimension: int, length: int, fewer: int) -> torch.Tensor:
    if tensor.dim() <= dimension or tensor.shape[dimension] != length:
        return tensor
    return tensor.narrow(dimension, 0, length - fewer).contiguous()


def _with_inputs(subject: Subject, change: Any) -> Subject:  # noqa: ANN401 - a function of one tensor
    return replace(subject, args=_changed(subject.args, change), kwargs=_changed(subject.kwargs, change))


def _changed(value: Any, change: Any) -> Any:  # noqa: ANN401 - any input
    if isinstance(value, torch.Tensor):
        return change(value) if value.dim() else value
    if isinstance(value, dict):
        return {key: _changed(item, change) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_changed(item, change) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_changed(item, change) for item in value)
    return value


# -- what comes out ------------------------------------------------------------------------------------


def _compared(resized: _Resized) -> _Seen:
    nothing = _Seen(resized, {}, 0.0)
    try:
        small, large = (_outputs(subject) for subject in (resized.smaller, resized.larger))
    except Exception as error:  # noqa: BLE001 - most models take some sizes only
        return replace(nothing, reason=f"it does not take {resized.what} {resized.sizes[0]}: {type(error).__name__}")
    try:
        exact_small, exact_large = _outputs_in_double(resized)
    except Exception:  # noqa: BLE001 - code that insists on float32
        return replace(nothing, reason="it does not run in float64, which tells rounding from design")
    same: dict[str, Difference] = {}
    elements = alike = 0
    for place, values in small.items():
        if not all(place in side for side in (large, exact_small, exact_large)):
            continue
        pair, exact = _overlap(values, large[place]), _overlap(exact_small[place], exact_large[place])
        if pair is None or exact is None or not pair[0].is_floating_point():
            continue
        equal = _is_same(*exact)
        elements, alike = elements + equal.numel(), alike + int(equal.sum())
        same[place] = difference(pair[0][equal], pair[1][equal])
    if not elements:
        return replace(nothing, reason="no output of it has rows or positions that belong together")
    if alike < _ALIKE * elements:
        return replace(nothing, reason=f"its values depend on the {resized.what} by design, in float64 too")
    return _Seen(resized, same, alike / elements)


def _outputs(subject: Subject) -> dict[str, torch.Tensor]:
    return {place: as_reals(tensor).cpu() for place, tensor in float_tensors(subject.fresh().forward()).items()}


def _outputs_in_double(resized: _Resized) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        small, large = (_outputs(in_double(subject)) for subject in (resized.smaller, resized.larger))
    finally:
        torch.set_default_dtype(default)
    return small, large


def _overlap(small: torch.Tensor, large: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The prefix that both have; nothing where the output does not follow the size of the input."""
    if small.dim() != large.dim() or small.shape == large.shape or small.layout is not torch.strided:
        return None
    for dimension, (one, two) in enumerate(zip(small.shape, large.shape, strict=True)):
        if one > two:
            return None
        large = large.narrow(dimension, 0, one)
    return small, large


def _is_same(small: torch.Tensor, large: torch.Tensor) -> torch.Tensor:
    largest = difference(small, large).largest
    return ((small - large).abs() <= _SAME * largest) & small.isfinite()
