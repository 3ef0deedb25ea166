"""Where a value goes that leaves its file, and where one comes from that other files have.

A value that leaves is asked for in two forms: is there any way to a sink (`sink_of`), and is none, while all of the
value stays in sight (`contained`)? One that comes from elsewhere is a result, a constant or an argument
(`origins_answered`).
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from torchlint.diagnostics import Location, Related
from torchlint.facts.calls import function_named
from torchlint.facts.classes import base_classes
from torchlint.facts.entries import is_test
from torchlint.facts.flow.references import is_named, is_only_called, is_only_made, references
from torchlint.facts.flow.stores import Sanitizer, constructions_of, reads_of_field, unless_sanitized
from torchlint.facts.flow.tracker import Analysis, follow
from torchlint.facts.flow.values import ELSEWHERE, Exit, Field, Given, Move, Others, Value, Written
from torchlint.facts.graphs import each_once, reached
from torchlint.facts.notation import is_module, name_in, plain, qualname_of, symbol_of
from torchlint.facts.order.files import reads_of
from torchlint.facts.origins import Argument, Origin, called_as, definitions_behind
from torchlint.facts.scopes import BindingKind, ImportTarget
from torchlint.project.answers import name_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.flow.values import End
    from torchlint.project.index import Project

_NOWHERE = ast.Name("value", ast.Load())
_MOST = 60
"""Entrances into other files: a value that goes through more is one that everything may get at."""
Followed = TypeVar("Followed", bound=Analysis)
_MOST_ORIGINS = 20
"""Origins of one value that are asked for: what has more may be anything."""
Answer = TypeVar("Answer")
Asked = Callable[["FileFacts", "End"], Iterable["Answer | Origin | None"]]
"""What is asked of where a value comes from in one file: it gives answers, or what the next files are asked."""


class FarSink(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What another file makes of a value."""

    what: str
    path: str
    """The file."""
    location: Location
    trace: tuple[Related, ...]
    """The way there, in that file."""

    def told(self, text: str) -> tuple[Related, ...]:
        """The way there and the place itself, with what is said of it."""
        return (*self.trace, Related(self.location, text))


class _Hop(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What one file makes of a value that comes to it."""

    sink: FarSink | None
    exits: tuple[Exit, ...]


class Flows:
    """Follows values from file to file; a file is mostly read once, however many values come there."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self.read, self._interview = project.interview.read, project.interview
        self._users: dict[str, set[str]] = {}
        """The files that name a function or class, by calls and by bases; or a module, by imports."""
        for path, summary in project.summaries.items():
            symbols = [*(edge.callee for edge in summary.edges), *(base for _, base in summary.bases)]
            imported = (name_in(one.path) for one in summary.imports)
            alone = {path}  # one object for all that a single file names: most
            for symbol in {*imported, *map(plain, symbols)} if not is_test(path) else ():
                known = self._users.setdefault(symbol, alone)
                if len(known) > 1:
                    known.add(path)
                elif known is not alone:
                    self._users[symbol] = known | alone

    def users_of(self, symbol: str) -> AbstractSet[str]:
        """The files that call a function or class, inherit from a class, or import a module; tests aside."""
        return self._users.get(symbol, frozenset())

    def sink_of(self, exits: Iterable[Exit], analysis: Callable[[FileFacts], Analysis]) -> FarSink | None:
        """The first sink beyond the exits, in the order of the exits and of the files' paths."""
        waiting, entered = deque(exits), 0
        for exit_ in each_once(waiting):
            for path in self._paths_behind(exit_):
                entered += 1
                hop = self._hop(path, exit_, analysis) if entered <= _MOST else None
                if hop is None:
                    continue
                if hop.sink is not None:
                    return hop.sink
                waiting += hop.exits
        return None

    def _hop(self, path: str, exit_: Exit, analysis: Callable[[FileFacts], Analysis]) -> _Hop | None:
        name = name_of(analysis)
        question = None if name is None else ("hop", name, exit_)
        return self._interview.answer(path, question, _Hop, lambda facts: _hop_in(facts, exit_, analysis(facts)))

    def contained(self, exits: Iterable[Exit], analysis: Callable[[FileFacts], Followed]) -> list[Followed] | None:
        """What follows a value beyond the exits, file by file; None where it gets to a sink, or out of sight."""
        waiting = deque(exits)
        found: list[Followed] = []
        for exit_ in each_once(waiting):
            if exit_.port is None and not self.users_of(exit_.symbol):
                return None  # whoever calls it is none of the project's
            for path in _paths_in_sight(self._project, exit_):
                facts = self.read(path) if len(found) < _MOST else None
                if facts is None or not _are_all_seen(facts, exit_):
                    return None
                found.append(analysis(facts))
                flow = follow(found[-1], *_entrances(facts, exit_, found[-1].sanitizes))
                if not flow.is_contained:
                    return None
                waiting += flow.exits
        return found

    def _paths_behind(self, exit_: Exit) -> list[str]:
        home = symbol_of(exit_.symbol)[0]
        if isinstance(exit_.port, (int, str)):
            return [home]
        if isinstance(exit_.port, Written):
            others = [path for path in self._project.summaries if not is_test(path)]
            return self._project.texts.naming(qualname_of(exit_.port.name), others)
        users = self.users_of(exit_.symbol) - {home}
        if isinstance(exit_.port, Field):  # it is read by that name alone, in files that make objects by others too
            summaries = self._project.summaries
            edges = {path: summaries[path].edges for path in users if not is_module(exit_.symbol)}
            makers = {path for path, own in edges.items() if any(plain(edge.callee) == exit_.symbol for edge in own)}
            return sorted({*makers, *self._project.texts.naming(exit_.port.name, users - makers)})
        return sorted(users)


def _hop_in(facts: FileFacts, exit_: Exit, own: Analysis) -> _Hop:
    # A helper that hands back what it gets gives others what they gave it.
    flow = follow(own, *_entrances(facts, exit_, own.sanitizes, (ELSEWHERE,)))
    if flow.sink is None:
        return _Hop(None, tuple(flow.exits))
    trace = tuple(Related(facts.locate(node), text) for node, text in flow.trace)
    return _Hop(FarSink(flow.sink.what, facts.path, facts.locate(flow.sink.node), trace), ())


class _Answer(msgspec.Struct, Generic[Answer], frozen=True, array_like=True):
    """An answer, or the origin that is asked next."""

    answer: Answer | None = None
    origin: Origin | None = None


class _Answers(msgspec.Struct, Generic[Answer], frozen=True, array_like=True):
    """What one file answers; not `is_seen` where it does not say where the value comes from."""

    is_seen: bool
    all: tuple[_Answer[Answer], ...]


def origins_answered(
    project: Project, origins: Iterable[Origin], asked: Asked[Answer], kind: type[Answer] | None = None
) -> Iterator[Answer | None]:
    """What a question answers of a value wherever it may come from; None for what is not seen.

    Answers of a `kind` are plain data, and kept for later runs.
    """
    waiting = deque(origins)
    for number, origin in enumerate(each_once(waiting), start=1):
        files = _files_behind(project, origin) if number <= _MOST_ORIGINS else []
        is_seen = False
        for answers in (_answers(project, path, origin, asked, kind) for path in files):
            is_seen = is_seen or (answers is not None and answers.is_seen)
            for one in answers.all if answers is not None and answers.is_seen else ():
                if one.origin is not None:
                    waiting.append(one.origin)
                else:
                    yield one.answer
        if not is_seen:
            yield None


def _answers(
    project: Project, path: str, origin: Origin, asked: Asked[Answer], kind: type[Answer] | None
) -> _Answers[Answer] | None:
    def ask(facts: FileFacts) -> _Answers[Answer]:
        ends = list(definitions_behind(facts, origin))
        every = (one for end in ends for one in asked(facts, end))
        found = tuple(_Answer(None, one) if isinstance(one, Origin) else _Answer(one) for one in every)
        return _Answers(bool(ends), found)

    name = None if kind is None else name_of(asked)
    question = None if name is None else ("origin", name, origin)
    told: Any = _Answers[kind]  # type: ignore[valid-type]
    return project.interview.answer(path, question, told, ask)


def _files_behind(project: Project, origin: Origin) -> list[str]:
    home = symbol_of(origin.symbol)[0]
    is_given = isinstance(origin.port, Argument)
    users = set().union(*map(project.flows.users_of, called_as(origin.symbol))) if is_given else set()
    return sorted(users - {home}) if is_given else [home]


# -- where a value comes into other files, and whether that is all they may do with it --------------------------------


def _entrances(facts: FileFacts, exit_: Exit, sanitizes: Sanitizer, calls: tuple[ast.Call, ...] = ()) -> Iterator[Move]:
    """Where a value comes into a file. `calls` are those by which it comes as an argument."""
    value = Value(_NOWHERE, exit_.path, exit_.label)
    if isinstance(exit_.port, (int, str)):
        target = function_named(facts, exit_.symbol)
        parameter = None if target is None else target.parameter_at(exit_.port)
        if target is not None and parameter is not None:
            yield Given(target.function.index, parameter, replace(value, calls=calls))
    elif isinstance(exit_.port, Field) and is_module(exit_.symbol):
        yield from _imported(facts, exit_.symbol, exit_.port.name, value, sanitizes)
    elif isinstance(exit_.port, Field):
        reads = reads_of_field(facts, exit_.symbol, exit_.port.name)
        yield from unless_sanitized(facts, reads, value, None, sanitizes)
        for call in constructions_of(facts, {exit_.symbol}):
            yield from value.inside(exit_.port, call)
    elif isinstance(exit_.port, Written):
        yield from map(value.at, reads_of(facts, exit_.port.name))
    elif exit_.port is None:
        for site in facts.symbols.calls:
            if exit_.symbol in {plain(name) for name in facts.names(site.node.func, site.scope).names}:
                yield value.at(site.node)


def _imported(facts: FileFacts, module: str, name: str, value: Value, sanitizes: Sanitizer) -> Iterator[Move]:
    """The reads of a module's own name."""
    reads: list[ast.expr] = []
    for scope in facts.symbols.scopes:
        for held, bindings in scope.bindings.items():
            targets = [one.target for one in bindings if one.kind is BindingKind.IMPORT and one.target is not None]
            if any(target.name == name and _leads_to(facts, target, module) for target in targets):
                reads += facts.index.reads(scope.index, held)
                if scope.index == 0:
                    yield Exit(name_in(facts.path), Field(held), value.path, value.label)
    for node in references(facts, name):
        if isinstance(node, ast.Attribute) and node.attr == name and module in _names_of(facts, node.value):
            reads.append(node)
    yield from unless_sanitized(facts, reads, value, None, sanitizes)


def _leads_to(facts: FileFacts, target: ImportTarget, module: str) -> bool:
    """Whether an import asks a module, or one that may have all its names from it."""
    found = facts.resolver.modules.find(target, facts.path)
    return found is not None and (name_in(found.path) == module or bool(found.symbols.scopes[0].stars))


def _names_of(facts: FileFacts, node: ast.expr) -> frozenset[str]:
    return facts.names(node, facts.index.inner_scope_of(node)).names


def _are_all_seen(facts: FileFacts, exit_: Exit) -> bool:
    """Whether a file gets at a value by an exit only where it is seen to."""
    if isinstance(exit_.port, (int, str)):
        return any(True for _ in _entrances(facts, exit_, lambda _: False))
    if exit_.port is None:
        return is_only_called(facts, exit_.symbol)
    if isinstance(exit_.port, Field) and is_module(exit_.symbol):
        return not _may_have_more(facts, exit_.symbol, exit_.port.name)
    if exit_.port == Others():
        return not is_named(facts, exit_.symbol)
    if any(base == exit_.symbol for _, base in base_classes(facts)):
        return False  # an heir may do anything with what its base has
    return exit_.port == Others(are_heirs=True) or is_only_made(facts, exit_.symbol)


def _may_have_more(facts: FileFacts, module: str, name: str) -> bool:
    """Whether a file may read a name of a module by a star, or from a module that is not known."""
    if any(_leads_to(facts, star, module) for scope in facts.symbols.scopes for star in scope.stars):
        return True
    asked = (node.value for node in references(facts, name) if isinstance(node, ast.Attribute) and node.attr == name)
    others = [names for node in asked if module not in (names := _names_of(facts, node))]
    return any(not names or any(is_module(one) for one in names) for names in others)


def _paths_in_sight(project: Project, exit_: Exit) -> list[str]:
    """The files that may get at a value by an exit."""
    home, qualname = symbol_of(exit_.symbol)
    if isinstance(exit_.port, (int, str)):
        return [home]
    word = exit_.port.name if isinstance(exit_.port, Field) and not qualname else qualname.rpartition(".")[2]
    found = reached([home], lambda path: project.importers.get(path, ()))
    return project.texts.naming(word, found[1:])
