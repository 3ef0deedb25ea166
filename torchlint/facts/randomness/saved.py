"""Results that are written to files, and the draws that decide them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from torchlint.facts.callees import names_called
from torchlint.facts.calls import called_at
from torchlint.facts.control.blocks import enclosing
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.functions import is_plain, returned_values
from torchlint.facts.graphs import reached
from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import memoized
from torchlint.facts.notation import is_in, name_in, plain
from torchlint.facts.places import Place, place_of
from torchlint.facts.randomness.draws import Draw, drawn_calls
from torchlint.facts.randomness.origins import Drawn, Origins, Steps
from torchlint.facts.scopes import BindingKind, CallSite, ScopeKind
from torchlint.facts.tree import last_word, method_called
from torchlint.facts.words import says

if TYPE_CHECKING:
    from torchlint.catalogue.programs import SaverEntry
    from torchlint.facts.call_edges import Edge
    from torchlint.facts.file import FileFacts
    from torchlint.facts.full_names import Names
    from torchlint.facts.watch import Watch

_SaverCall = tuple[CallSite, "Names", "SaverEntry"]


_VALUES = ("", "order")
"""What a draw makes that may be written."""


class Savers(msgspec.Struct, frozen=True):
    """The calls, and methods of any object, that write to a file."""

    calls: Mapping[str, SaverEntry]
    methods: Mapping[str, SaverEntry]

    @classmethod
    def of(cls, entries: Sequence[SaverEntry]) -> Savers:
        return cls(
            {call: entry for entry in entries for call in entry.calls},
            {method: entry for entry in entries for method in entry.methods},
        )

    def calls_in(self, facts: FileFacts) -> Iterator[_SaverCall]:
        """The calls of a file that write, each with what is called."""
        for site in facts.calls.find(names=self.calls.keys(), words=self.methods.keys()):
            names = facts.names(site.node.func, site.scope)
            entry = self.calls.get(names.only or "") or self.methods.get(method_called(site.node))
            if entry is not None:
                yield site, names, entry


class Writer(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A function, by its full name, that writes what it is given at a place among its arguments, or by a keyword."""

    function: str
    argument: int | str | None


class Saved(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A call that writes what draws may decide."""

    path: str
    """Of the file, inside its project."""
    drawn: Drawn
    place: Place
    name: str
    """Of what is called, in full or its last word."""
    by: Writer | None = None
    """The function of another file that is called, and may write what it is given."""

    @property
    def symbol(self) -> str:
        """What the call stands in."""
        return self.drawn.symbol


class SavedResults(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a file tells of results that are written."""

    calls: tuple[Saved, ...]
    """Those that write what may depend on draws."""
    writers: frozenset[Writer]
    """Functions that write what they are given."""


def saved_results(facts: FileFacts, watch: Watch) -> SavedResults:
    """All of it."""
    savers, values = list(watch.savers.calls_in(facts)), _certain(facts, drawn_calls(facts, watch))
    return SavedResults(
        calls=(*_saved(facts, savers, values), *_handed_to_writers(facts, savers, values)),
        writers=frozenset(_writers(facts, savers)),
    )


def _saved(facts: FileFacts, savers: Sequence[_SaverCall], values: Mapping[ast.Call, Draw]) -> Iterator[Saved]:
    """The calls that write what a draw of this file, or a function of another file, makes."""
    steps = Steps()
    for site, names, entry in savers:
        block = _block_of_open_file(facts, site) if entry.of_open_file else None
        if entry.of_open_file and block is None:
            continue
        origins = Origins(facts, values, steps)
        for part in _written(site.node, entry):
            origins.follow(part, site.scope, keeping=block)
        found = origins.told(facts.symbol_of(site))
        if found is not None:
            name = method_called(site.node) if names.of_project else names.only or method_called(site.node)
            yield Saved(facts.path, found, place_of(facts, site.node, site.statement), name)


def _handed_to_writers(
    facts: FileFacts, savers: Sequence[_SaverCall], values: Mapping[ast.Call, Draw]
) -> Iterator[Saved]:
    """The calls of functions of other files, named for writing, that are given what draws make."""
    saving, steps = {site for site, _, _ in savers}, Steps()
    for site in facts.calls.find(words=(word for word in facts.calls.words if says(word, "writing"))):
        if site in saving:
            continue
        names = names_called(facts, site.node.func, site.scope)
        others = [name for name in map(plain, names.of_project) if not is_in(name, facts.path)]
        for argument, value in _given(site.node) if others else ():
            origins = Origins(facts, values, steps)
            origins.follow(value, site.scope)
            found = origins.told(facts.symbol_of(site))
            if found is not None:
                place, name = place_of(facts, site.node, site.statement), last_word(site.node.func)
                yield from (Saved(facts.path, found, place, name, Writer(other, argument)) for other in others)


def _writers(facts: FileFacts, savers: Sequence[_SaverCall]) -> Iterator[Writer]:
    """The functions of a file that write what they are given."""
    for site, _, entry in savers:
        function = facts.function_of(site.scope)
        if function is None or (entry.of_open_file and _block_of_open_file(facts, site) is None):
            continue
        scope = facts.symbols.scopes[function]
        for part in _written(site.node, entry):
            for parameter in _parameters_in(facts, part, site.scope):
                yield Writer(facts.full_name(scope.index), parameter)
                yield Writer(facts.full_name(scope.index), called_at(facts, scope, parameter))


def _parameters_in(facts: FileFacts, value: ast.expr, scope: int) -> set[str]:
    """The parameters that a value is made of, by what its names are bound to."""
    found, waiting, seen = set[str](), [value], set[int]()
    while waiting:
        for name in ast.walk(waiting.pop()):
            for binding in facts.bindings(name, scope):
                if binding.kind is BindingKind.PARAMETER:
                    found.add(last_word(name))
                elif binding.kind is BindingKind.ASSIGN and binding.value is not None and id(binding) not in seen:
                    seen.add(id(binding))
                    waiting.append(binding.value)
    return found


def drawn_results(facts: FileFacts, watch: Watch, edges: Sequence[Edge]) -> Iterator[Drawn]:
    """The functions of a file that return what draws decide, or what functions of other files make of draws.

    `edges` are the file's calls of project code.
    """
    values = _certain(facts, drawn_calls(facts, watch))
    callers = grouped((edge.callee, edge.symbol) for edge in edges) if values else {}
    symbols = {draw.symbol for draw in values.values()}
    drawing = set(reached(symbols, lambda symbol: callers.get(name_in(facts.path, symbol), ())))
    steps = Steps()
    for scope in facts.symbols.scopes:
        if scope.kind is ScopeKind.FUNCTION and scope.qualname in drawing and is_plain(facts, scope):
            origins = Origins(facts, values, steps)
            for value in returned_values(facts, scope.index):
                origins.follow(value, scope.index, is_element=True)  # what its callers do with the order is not known
            found = origins.told(scope.qualname)
            yield from () if found is None else (found,)


def _certain(facts: FileFacts, drawn: Mapping[CallSite, Draw]) -> dict[ast.Call, Draw]:
    """The draws of values and orders that no argument of their function turns off."""
    return {
        site.node: draw
        for site, draw in drawn.items()
        if draw.makes in _VALUES
        and not any(_asks_parameter(facts, test, site.scope) for test in tests_around(facts, site.node))
    }


@memoized
def _asks_parameter(facts: FileFacts, test: ast.expr, scope: int) -> bool:
    return any(isinstance(node, ast.Name) and facts.parameter_named(node, scope) for node in ast.walk(test))


def _written(call: ast.Call, entry: SaverEntry) -> Iterator[ast.expr]:
    if entry.writes == "receiver":
        if isinstance(call.func, ast.Attribute):
            yield call.func.value
        return
    path = {entry.path.position, entry.path.argument} - {None} if entry.path is not None else ()
    yield from (value for key, value in _given(call) if key not in path)


def _given(call: ast.Call) -> list[tuple[int | str | None, ast.expr]]:
    return [*enumerate(call.args), *((one.arg, one.value) for one in call.keywords)]


def _block_of_open_file(facts: FileFacts, site: CallSite) -> ast.stmt | None:
    """The `with open(...) as file` around a call of one of the file's methods, or of a writer made of it."""
    function = site.node.func
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return None
    for outer in enclosing(facts, site.statement):
        if isinstance(outer, ast.With) and any(_opens(facts, one, function.value, site.scope) for one in outer.items):
            return outer
    return None


def _opens(facts: FileFacts, item: ast.withitem, writer: ast.Name, scope: int) -> bool:
    """Whether one item of a `with` opens the file that `writer` is, or that it was made of."""
    opened, file = item.context_expr, item.optional_vars
    if not isinstance(file, ast.Name) or not isinstance(opened, ast.Call):
        return False
    is_method = method_called(opened) == "open"
    if not is_method and facts.names(opened.func, scope).only not in ("builtins.open", "io.open", "gzip.open"):
        return False
    made = (one.value for one in facts.bindings(writer, scope) if isinstance(one.value, ast.Call))
    return writer.id == file.id or any(getattr(given, "id", "") == file.id for call in made for given in call.args)
