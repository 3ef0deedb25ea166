"""Inputs in the user's words: `float32[2,3,64,64]`, `int64[2]{0..10}`, `mask=bool[2,5]`, or a Python literal."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from torchlint.errors import nearest

ELEMENT_TYPES = frozenset(
    {
        *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "short", "int", "long"),
        *("float16", "half", "bfloat16", "float32", "float", "float64", "double"),
        *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
        *("complex32", "chalf", "complex64", "cfloat", "complex128", "cdouble"),
    }
)
"""The names in torch of the types that inputs can have."""

_TENSOR = re.compile(r"(?P<dtype>\w+)\s*\[(?P<sizes>[\d\s,]*)\](?:\s*\{(?P<low>[^{}]*?)\.\.(?P<high>[^{}]*)\})?")
_KEYWORD = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*=(?!=)\s*(?P<rest>.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TensorInput:
    """A tensor to be drawn, from the lower bound up to, but not, the upper one."""

    dtype: str
    sizes: tuple[int, ...]
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Input:
    """One input; without a name it is passed by position."""

    name: str
    value: TensorInput | object
    """A tensor, or any literal."""


def parse_input(text: str) -> Input:
    """What an entry of `inputs` says. Raises ValueError with the reason."""
    keyword = _KEYWORD.fullmatch(text.strip())
    name, rest = (keyword["name"], keyword["rest"]) if keyword else ("", text)
    found = _TENSOR.fullmatch(rest.strip())
    if found and found["dtype"] in ELEMENT_TYPES:
        sizes = tuple(int(size) for size in found["sizes"].split(",") if size.strip())
        return Input(name, TensorInput(found["dtype"], sizes, *_bounds(found["low"], found["high"])))
    try:
        return Input(name, ast.literal_eval(rest.strip()))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        hint = nearest(found["dtype"], sorted(ELEMENT_TYPES)) if found else ""
        raise ValueError(f"`{rest}` is neither a tensor such as float32[2,3] nor a literal{hint}") from None


def _bounds(low: str | None, high: str | None) -> tuple[float | None, float | None]:
    try:
        lowest, highest = (float(bound) if bound else None for bound in (low, high))
    except ValueError:
        raise ValueError(f"the range {{{low}..{high}}} does not lie between two numbers, as {{0..10}} does") from None
    if lowest is not None and highest is not None and lowest >= highest:
        raise ValueError(f"the range {{{low}..{high}}} is empty: its upper end is left out")
    return lowest, highest
