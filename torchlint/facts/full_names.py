"""What a name stands for, written in full: `torch.nn.Conv2d`, or `path::qualname` for what the project defines.

One public name for each thing from outside the project, wherever it was imported from.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Mapping
from itertools import accumulate, chain

import msgspec
from msgspec.structs import force_setattr

from torchlint.catalogue.programs import NameFile, Starter
from torchlint.facts.notation import CALL, FILE, Member, is_of_project, reference, result_of, symbol_of


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
        of_project = tuple([name for name in every if FILE in name])
        force_setattr(self, "of_project", of_project)
        is_of_library = self.complete and not of_project and not any(CALL in name for name in every)
        force_setattr(self, "is_of_library", is_of_library)
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
    parts: list[str] = []
    while isinstance(expression, ast.Attribute):
        parts.append(expression.attr)
        expression = expression.value
    return ".".join((expression.id, *reversed(parts))) if isinstance(expression, ast.Name) else None


@functools.lru_cache(maxsize=8192)
def public_name(name: str) -> str:
    """How people write a project's own name: `src/kit/ops.py::scatter` is `kit.ops.scatter`. Others stay.

    Functions of torch are also called by the names that its dispatcher has: `torch.ops.aten.index_add`; whoever names
    an overload (`.default`) mostly writes what torch's own function runs.
    """
    if not is_of_project(name):
        return f"torch.{name.removeprefix(_ATEN)}" if name.startswith(_ATEN) else name
    path, qualname = symbol_of(name)
    module = path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return f"{module}.{qualname}" if qualname else module


class NameTable:
    """What the catalogue says of names: the public ones for private homes, star re-exporters, what runs functions."""

    def __init__(self, names: NameFile, known: frozenset[str], starters: Iterable[Starter] = ()) -> None:
        self.starters = {call: starter for starter in starters for call in starter.calls}
        """The calls that run a function which they are handed."""
        self.entered = frozenset(
            call.rpartition(".")[0] for call in self.starters if isinstance(reference(call), Member)
        )
        """What gives itself in a `with` statement: `with Pool() as pool`."""
        self._same = sorted(names.same.items(), key=lambda item: -len(item[0]))
        self._starts = tuple(names.same)
        parents = (accumulate(name.split(".")[:-1], "{}.{}".format) for name in names.same)  # `torch`, `torch.nn`
        self._parents = names.same.keys() & set(chain.from_iterable(parents))
        self._reexports = names.reexports
        self._known = known
        self._memo: dict[str, str] = {}
        kept = {f"{one.name}.{method}": one.name for one in names.type for method in one.kept_by}
        self._made = kept | {call: one.name for one in names.type for call in one.made_by}
        self._patterns = [(re.compile(one.matches), one.name) for one in names.type if one.matches]
        self.divisible = frozenset(one.name for one in names.type if one.subscript)
        """The objects of which a part is named as they are."""

    def canonical(self, name: str) -> str:
        """`torch.nn.modules.conv.Conv2d` → `torch.nn.Conv2d`."""
        if not name.startswith(self._starts):
            return name
        found = self._memo.get(name)
        if found is None:
            inside = ((prefix, home) for prefix, home in self._same if name == prefix or name.startswith(f"{prefix}."))
            # On the way to a longer name it stays: `torch.nn.modules` in `torch.nn.modules.conv.Conv2d`.
            prefix, home = ("", "") if name in self._parents else next(inside, ("", ""))
            found = self._memo[name] = home + name[len(prefix) :]
        return found

    def made(self, call: str) -> str:
        """What a call gives: an object of a type that the catalogue knows, or `typer.Typer()`."""
        found = self._made.get(call)
        if found is None:
            found = next((name for pattern, name in self._patterns if pattern.fullmatch(call)), result_of(call))
            self._made[call] = found
        return found

    def star(self, module: str, name: str) -> str | None:
        """What `from module import *` binds `name` to, as far as the catalogue knows that module."""
        table: Mapping[str, str] = self._reexports.get(module, {})
        if name in table:
            return table[name]
        full = self.canonical(f"{module}.{name}")
        return full if full in self._known else None
