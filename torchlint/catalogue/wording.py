"""How people read the registry's facts: the words that the command line and the documentation share."""

from __future__ import annotations

from torchlint.catalogue.detection import Condition
from torchlint.catalogue.registry import Operator, Row, Spelling
from torchlint.catalogue.versions import VersionRange, format_minor

DEVICE_NAMES = {"cuda": "CUDA", "rocm": "ROCm", "mps": "MPS", "xpu": "XPU", "cpu": "CPU", "*": "any device"}
UNDER_MODE = {
    "raises": "raises",
    "deterministic_alternative": "uses a deterministic alternative",
    "silent_nondeterministic": "still varies, without a warning",
    "always_deterministic": "does not vary, with or without it",
}
"""What an operator does with the determinism mode on."""

_SUBSCRIPTS = {"read": "x[index]", "store": "x[index] = v", "add": "x[index] += v"}


def spelled(spelling: Spelling) -> str:
    """`torch.nn.functional.pad(mode='reflect')`, `Tensor.index_add_` or `x[index] += v`."""
    if spelling.subscript:
        return _SUBSCRIPTS[spelling.subscript]
    name = spelling.call or f"Tensor.{spelling.method}"
    arguments = [text for text in map(_argument, spelling.where) if text]
    return f"{name}({', '.join(arguments)})" if arguments else name


def what_to_do(operator: Operator) -> str:
    """What to do, in a sentence: the determinism mode, where it has an alternative, and the way without it."""
    if operator.has_alternative:
        return f"Turn the determinism mode on where it has an alternative, or {operator.advice}."
    return f"{operator.advice[:1].upper()}{operator.advice[1:]}."


def _argument(condition: Condition) -> str:
    """The condition as an argument; empty where there is none to show, such as a length."""
    if condition.equals is not None:
        return f"{condition.argument}={' | '.join(repr(value) for value in condition.equals)}"
    unwanted = condition.not_equals or condition.excludes
    if unwanted is not None:
        return f"{condition.argument}≠{' | '.join(map(repr, unwanted))}"
    if condition.not_all is not None:
        return f"{condition.argument}≠{condition.not_all!r}"
    if condition.named is not None:
        return f"{condition.argument}={' | '.join(name.rpartition('.')[2] for name in condition.named)}"
    if condition.not_named is not None:
        return f"{condition.argument}≠{' | '.join(name.rpartition('.')[2] for name in condition.not_named)}"
    if condition.given:
        return f"{condition.argument}=..."
    return f"{condition.argument}: Tensor" if condition.kind == "tensor" else ""


def releases(span: VersionRange) -> str:
    """`2.3 and later`, `before 2.1` or `1.13 to 2.2` (minor releases, both ends included), as in a table cell."""
    if span.since and span.before:
        last = (span.before[0], span.before[1] - 1)
        if span.before == (2, 0):
            last = (1, 13)
        return format_minor(span.since) if last == span.since else f"{format_minor(span.since)} to {format_minor(last)}"
    if span.since:
        return f"{format_minor(span.since)} and later"
    return f"before {format_minor(span.before)}" if span.before else "every release"


def releases_of(row: Row, operator: Operator) -> str:
    """`2.3 and later`; of a library with rows by release also `1.13 and later, causal-conv1d before 1.6.0`."""
    since, before = row.since and f"from {row.since}", row.before and f"before {row.before}"
    span = " ".join(filter(None, (since, before)))
    return f"{releases(row.range)}, {operator.library} {span}" if span else releases(row.range)


def steadied_by(operator: Operator) -> list[str]:
    """What makes an operator steady: context managers, switches, and environment variables as a shell sets them."""
    contexts = [f"with {s.call}({', '.join(filter(None, map(_argument, s.where)))})" for s in operator.unless_within]
    contexts += [f"{name} = {value}" for name, value in operator.unless_switched.items()]
    return contexts + [
        f"{name}={value}" for name, values in operator.unless_set.items() for value in values or ("...",)
    ]
