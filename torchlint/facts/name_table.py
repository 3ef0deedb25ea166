"""How names from outside the project are written: one public name for each thing, wherever it was imported from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from torchlint.catalogue.programs import NameFile, Starter


class NameTable:
    """What the catalogue says of names: the public ones for private homes, star re-exporters, what runs functions."""

    def __init__(self, names: NameFile, known: frozenset[str], starters: Iterable[Starter] = ()) -> None:
        self.starters = {call: starter for starter in starters for call in starter.calls}
        """The calls that run a function which they are handed."""
        self.entered = frozenset(call.rpartition(".")[0] for call in self.starters if "()." in call)
        """What gives itself in a `with` statement: `with Pool() as pool`."""
        self._same = sorted(names.same.items(), key=lambda item: -len(item[0]))
        self._starts = tuple(names.same)
        self._parents = names.same.keys() & {parent for name in names.same for parent in _parents_of(name)}
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
            found = self._memo[name] = self._shorten(name)
        return found

    def _shorten(self, name: str) -> str:
        if name in self._parents:
            return name  # on the way to a longer name: `torch.nn.modules` in `torch.nn.modules.conv.Conv2d`
        for prefix, home in self._same:
            if name == prefix or name.startswith(prefix + "."):
                return home + name[len(prefix) :]
        return name

    def made(self, call: str) -> str:
        """What a call gives: an object of a type that the catalogue knows, or `typer.Typer()`."""
        found = self._made.get(call)
        if found is None:
            found = next((name for pattern, name in self._patterns if pattern.fullmatch(call)), f"{call}()")
            self._made[call] = found
        return found

    def star(self, module: str, name: str) -> str | None:
        """What `from module import *` binds `name` to, as far as the catalogue knows that module."""
        table: Mapping[str, str] = self._reexports.get(module, {})
        if name in table:
            return table[name]
        full = self.canonical(f"{module}.{name}")
        return full if full in self._known else None


def _parents_of(name: str) -> Iterator[str]:
    """`torch.nn.modules`, `torch.nn`, `torch` of `torch.nn.modules.conv`."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name
