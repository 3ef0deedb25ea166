"""What a name stands for, written in full: `torch.nn.Conv2d`, or `path::qualname` for what the project defines."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

import msgspec
from msgspec.structs import force_setattr


class Callee(msgspec.Struct, frozen=True):
    """One thing a name may stand for; `partial` holds the `functools.partial` calls around it, outermost first."""

    name: str
    partial: tuple[ast.Call, ...] = ()


class Names(msgspec.Struct, frozen=True):
    """All that an expression may stand for. `complete` is False when it may be something else besides."""

    callees: tuple[Callee, ...] = ()
    complete: bool = False
    names: frozenset[str] = frozenset()
    of_project: tuple[str, ...] = ()
    """Those that the project defines."""
    only: str | None = None
    """The one name this is for certain, or None."""
    is_of_library: bool = False
    """Whether all that it may be is known, and none of it the project's or an object."""

    def __post_init__(self) -> None:
        # Worked out once: each answer is asked for its names a dozen times.
        if not self.callees:
            return
        every = [callee.name for callee in self.callees]
        names = frozenset(every)
        force_setattr(self, "names", names)
        is_of_library = self.complete and not any("::" in name or "()" in name for name in every)
        force_setattr(self, "is_of_library", is_of_library)
        force_setattr(self, "of_project", tuple([name for name in every if "::" in name]))
        force_setattr(self, "only", self.callees[0].name if self.complete and len(names) == 1 else None)


UNKNOWN = Names()
MOST_CHOICES = 100
"""What may be more things than this is not known: only machines write such tables, and ask them as often."""
_ATEN = "torch.ops.aten."


@functools.lru_cache(maxsize=16_384)  # the same names stand everywhere
def named(*names: str, complete: bool = True) -> Names:
    """What stands for these, none of them in a partial."""
    return Names(tuple(map(Callee, names)), complete)


def union_of(options: list[Names], *, complete: bool = True) -> Names:
    if len(options) == 1 and (complete or not options[0].complete):
        return options[0]
    callees = tuple(dict.fromkeys(callee for names in options for callee in names.callees))
    if len(callees) > MOST_CHOICES:
        return UNKNOWN
    return Names(callees, complete and bool(options) and all(names.complete for names in options))


def dotted(expression: ast.expr) -> str | None:
    """The text of a dotted name (`self.conv.weight`), or None for anything else."""
    parts = list(_parts(expression))
    return ".".join(reversed(parts)) if parts and parts[-1] else None


def _parts(expression: ast.expr) -> Iterator[str]:
    while isinstance(expression, ast.Attribute):
        yield expression.attr
        expression = expression.value
    yield expression.id if isinstance(expression, ast.Name) else ""


@functools.lru_cache(maxsize=65_536)
def public_name(name: str) -> str:
    """How people write a project's own name: `src/kit/ops.py::scatter` is `kit.ops.scatter`. Others stay.

    Functions of torch are also called by the names that its dispatcher has: `torch.ops.aten.index_add`; whoever names
    an overload (`.default`) mostly writes what torch's own function runs.
    """
    path, separator, qualname = name.partition("::")
    if not separator:
        return f"torch.{name.removeprefix(_ATEN)}" if name.startswith(_ATEN) else name
    module = path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return f"{module}.{qualname}" if qualname else module
