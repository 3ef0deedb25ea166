"""How far two tensors are apart: elements, absolute and relative size, units in the last place, and beside a reference.

All of it takes whatever a model returns: NaN and infinities, integers, booleans, complex numbers, sparse and nested
tensors. Two NaN count as equal, whatever their payload; the two zeros do not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch

_WIDER = {
    getattr(torch, name): wider
    for name, wider in {"uint16": torch.int32, "uint32": torch.int64, "bool": torch.uint8}.items()
    if hasattr(torch, name)  # torch 2.2 has no unsigned types but the smallest
}
"""Types that lack arithmetic or ordering, and one that holds all of their values."""
_HAS_ARITHMETIC = frozenset(
    {
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
        *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    }
)
_FLOOR_IN_EPSILONS = 1.0
"""Below this share of the largest value, in units of the type's rounding, a difference is not counted in ULP: where
values cancel to almost nothing, the last place is noise and its unit can be arbitrarily small."""


@dataclass(frozen=True)
class Difference:
    """What sets two tensors apart. Sizes are those of finite elements."""

    elements: int
    differing: int = 0
    """Elements whose bits differ."""
    max_abs: float = 0.0
    largest: float = 0.0
    """The largest finite magnitude of the second tensor, or its scale: what `max_abs` is to be held against."""
    max_ulp: float | None = None
    """Units in the last place, where the difference is above the floor; None for other types and below the floor."""
    only_one_finite: int = 0
    """Elements that are a number on one side, and NaN or another infinity on the other."""
    structure: str = ""
    """Why the two cannot be held against each other element by element."""

    @property
    def none(self) -> bool:
        return not (self.differing or self.structure)

    @property
    def relative(self) -> float:
        """`max_abs` as a share of the largest magnitude; infinite where finiteness or structure differ."""
        if self.only_one_finite or self.structure:
            return math.inf
        return self.max_abs / self.largest if self.largest else (math.inf if self.max_abs else 0.0)

    def evidence(self) -> dict[str, object]:
        """Plain data for an answer; what does not apply is left out."""
        facts: dict[str, object] = {"elements": self.elements, "differing": self.differing, "max_abs": self.max_abs}
        if self.max_ulp is not None:
            facts["max_ulp"] = self.max_ulp
        if self.only_one_finite:
            facts["only_one_finite"] = self.only_one_finite
        if self.structure:
            facts["structure"] = self.structure
        return facts


def difference(
    value: torch.Tensor, other: torch.Tensor, precision: torch.dtype | None = None, scale: float = 0.0
) -> Difference:
    """How `value` differs from `other`. ULP are counted in `precision`, by default the coarser of the two types.

    `scale` is a size that values of this kind have: a gradient that cancels to nothing is not held against itself.
    """
    first, second = parts(value), parts(other)
    if [part.shape for part in first] != [part.shape for part in second]:
        elements = max(sum(part.numel() for part in side) for side in (first, second))
        return Difference(elements, differing=elements, structure=f"{_shape(value)} against {_shape(other)}")
    merged = Difference(0)
    for one, two in zip(first, second, strict=True):
        merged = _merged(merged, _of_parts(one, two, precision, scale))
    return merged


def differences(values: Mapping[str, torch.Tensor], others: Mapping[str, torch.Tensor]) -> dict[str, Difference]:
    """By place, all that differs; a tensor that only one side has differs as a whole."""
    found: dict[str, Difference] = {}
    for place in sorted({*values, *others}):
        if place not in values or place not in others:
            elements = (values[place] if place in values else others[place]).numel()
            found[place] = Difference(elements, elements, structure="only one of the two runs has it")
        else:
            apart = difference(values[place], others[place])
            if not apart.none:
                found[place] = apart
    return found


def ratio_to_reference(
    value: torch.Tensor, baseline: torch.Tensor, reference: torch.Tensor, scale: float = 0.0
) -> float:
    """How many times further `value` is from the reference than `baseline` is.

    The baseline's own error is taken to be at least a rounding of the largest value: a baseline that is exact by luck
    would make any ratio. NaN where the two cannot be compared.
    """
    own = difference(value, reference, baseline.dtype, scale)
    base = difference(baseline, reference, baseline.dtype, scale)
    if not math.isfinite(own.relative) or not math.isfinite(base.relative):
        return math.nan
    floor = rounding(baseline.dtype) * base.largest
    return own.max_abs / max(base.max_abs, floor) if own.max_abs else 0.0


def parts(tensor: torch.Tensor) -> list[torch.Tensor]:
    """A tensor as plain dense ones on the CPU, whose elements can be compared one by one."""
    tensor = tensor.detach()
    if tensor.is_nested:
        return [plain for part in tensor.unbind() for plain in parts(part)]
    if tensor.layout is torch.sparse_coo:
        tensor = tensor.coalesce()
        return [*parts(tensor.indices()), *parts(tensor.values())]
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [part.cpu() for part in (tensor.crow_indices(), tensor.col_indices())] + parts(tensor.values())
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return [part.cpu() for part in (tensor.ccol_indices(), tensor.row_indices())] + parts(tensor.values())
    return [] if tensor.is_meta else [_plain(tensor)]


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    if tensor.is_quantized:
        tensor = tensor.int_repr()
    tensor = tensor.cpu().resolve_conj().resolve_neg()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    if tensor.dtype in _WIDER:
        return tensor.to(_WIDER[tensor.dtype])
    if tensor.is_floating_point() and tensor.dtype not in _HAS_ARITHMETIC:
        return tensor.to(torch.float32)  # the 8-bit floats
    return tensor if tensor.dtype in _HAS_ARITHMETIC else tensor.contiguous().view(torch.uint8)


def _of_parts(value: torch.Tensor, other: torch.Tensor, precision: torch.dtype | None, scale: float) -> Difference:
    coarser = precision or _coarser(value.dtype, other.dtype)
    if value.dtype != other.dtype:
        value, other = value.double(), other.double()
    whole = Difference(value.numel(), largest=max(_largest(other), scale))
    unlike = value != other
    if value.is_floating_point():
        unlike &= ~(value.isnan() & other.isnan())
        unlike |= (value == 0) & (other == 0) & (value.signbit() != other.signbit())
    if not unlike.any():
        return whole
    here, there = value[unlike].double(), other[unlike].double()
    finite = here.isfinite() & there.isfinite()
    apart = (here - there).abs()[finite]
    return replace(
        whole,
        differing=int(unlike.sum()),
        max_abs=float(apart.max()) if apart.numel() else 0.0,
        max_ulp=_ulp(apart, here[finite], there[finite], coarser, whole.largest),
        only_one_finite=int((~finite).sum()),
    )


def _ulp(
    apart: torch.Tensor, here: torch.Tensor, there: torch.Tensor, precision: torch.dtype, largest: float
) -> float | None:
    if not precision.is_floating_point:
        return None
    counted = apart > _FLOOR_IN_EPSILONS * rounding(precision) * largest
    if not counted.any():
        return None
    facts = torch.finfo(precision)
    _, exponents = torch.frexp(torch.maximum(here.abs(), there.abs())[counted])
    spacing = torch.ldexp(torch.full_like(apart[counted], facts.eps), exponents - 1).clamp_min(facts.tiny * facts.eps)
    return float((apart[counted] / spacing).max())


def _largest(tensor: torch.Tensor) -> float:
    if not tensor.numel():
        return 0.0
    values = tensor.double().abs()
    return float(values.nan_to_num(nan=0.0, posinf=0.0).max())


def rounding(dtype: torch.dtype) -> float:
    """Half the distance between 1 and the number behind it: what one rounding may cost, relatively."""
    if dtype.is_complex:
        dtype = torch.float64 if dtype is torch.complex128 else torch.float32
    return torch.finfo(dtype).eps / 2 if dtype.is_floating_point else 0.0


def _coarser(one: torch.dtype, two: torch.dtype) -> torch.dtype:
    floats = [dtype for dtype in (one, two) if dtype.is_floating_point]
    return max(floats, key=lambda dtype: torch.finfo(dtype).eps) if floats else one


def _merged(one: Difference, two: Difference) -> Difference:
    ulps = [part.max_ulp for part in (one, two) if part.max_ulp is not None]
    return Difference(
        elements=one.elements + two.elements,
        differing=one.differing + two.differing,
        max_abs=max(one.max_abs, two.max_abs),
        largest=max(one.largest, two.largest),
        max_ulp=max(ulps) if ulps else None,
        only_one_finite=one.only_one_finite + two.only_one_finite,
    )


def _shape(tensor: torch.Tensor) -> str:
    if tensor.is_nested:
        return "a nested tensor"
    size = f"[{','.join(map(str, tensor.shape))}]"
    return size if tensor.layout is torch.strided else f"{size} ({str(tensor.layout).removeprefix('torch.')})"
