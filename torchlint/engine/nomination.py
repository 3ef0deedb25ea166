"""Which pieces of a file deserve a lossless parse: the joint between the two readers.

`ast` finds the calls, assignments and imports that some check's vocabulary names. Each marks its statement, which is
all a check needs in lossless form: whatever else it asks, it asks the facts. Overlapping pieces become one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from torchlint.checks.registration import Vocabulary
from torchlint.facts.attributes import names_called
from torchlint.facts.file import FileFacts
from torchlint.facts.names import public_name
from torchlint.facts.reaching import block_of
from torchlint.facts.scopes import AssignSite, CallSite

_HEADED = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
)  # fmt: skip
Worth = Callable[[FileFacts, CallSite, frozenset[str]], bool]
Reads = Callable[[FileFacts, frozenset[str]], Iterable[ast.stmt]]
Stores = Callable[[FileFacts, AssignSite, frozenset[str]], bool]


@dataclass(frozen=True, slots=True)
class Span:
    """Whole physical lines of a piece, both ends included, and the statements of one block that stand on them.

    Of a compound statement it may be the header alone.
    """

    first: int
    last: int
    statements: tuple[ast.stmt, ...]
    is_header: bool = False


@dataclass(frozen=True, slots=True)
class Nominations:
    """All vocabularies of a run in one table, built once."""

    selected: frozenset[str]
    calls: Mapping[str, Sequence[Worth | None]]
    """For each name the second looks of the checks that ask for it; None takes every call."""
    methods: Mapping[str, Sequence[Worth | None]]
    stores: Sequence[Stores]
    reads: Sequence[Reads]
    assigned: frozenset[str]
    assigned_under: tuple[str, ...]
    keys: frozenset[object]
    imports: frozenset[str]

    @classmethod
    def of(cls, vocabularies: Sequence[Vocabulary], selected: frozenset[str]) -> Nominations:
        calls: dict[str, list[Worth | None]] = {}
        methods: dict[str, list[Worth | None]] = {}
        for words in vocabularies:
            for table, names in ((calls, words.calls), (methods, words.methods)):
                for name in names:
                    table.setdefault(name, []).append(words.worth)
        return cls(
            selected=selected,
            calls=calls,
            methods=methods,
            stores=tuple(words.stores for words in vocabularies if words.stores is not None),
            reads=tuple(words.reads for words in vocabularies if words.reads is not None),
            assigned=frozenset().union(*(words.assigned for words in vocabularies)),
            assigned_under=tuple(sorted({prefix for words in vocabularies for prefix in words.assigned_under})),
            keys=frozenset().union(*(words.keys for words in vocabularies)),
            imports=frozenset().union(*(words.imports for words in vocabularies)),
        )


def nominated(facts: FileFacts, table: Nominations) -> list[Span]:
    """The pieces of a file worth a lossless parse, in source order, without overlaps."""
    spans = {_whole_lines(facts, statement) for statement in _marks(facts, table)}
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.first, -span.last, span.is_header)):
        if not merged or span.first > merged[-1].last:
            merged.append(span)
        elif span.last > merged[-1].last:  # pieces nest unless `;` joins statements
            both = dict.fromkeys((*merged[-1].statements, *span.statements))
            merged[-1] = Span(merged[-1].first, span.last, tuple(both))
    return merged


def _marks(facts: FileFacts, table: Nominations) -> Iterator[ast.stmt]:
    for site in facts.reading.calls:
        if _is_called(facts, site, table):
            yield site.statement
    for assignment in facts.reading.assignments:
        if _is_assigned(facts, assignment.target, assignment.scope, table):
            yield assignment.statement
    for store in facts.reading.assign_sites if table.stores else ():
        if any(stores(facts, store, table.selected) for stores in table.stores):
            yield store.node
    for reads in table.reads:
        yield from reads(facts, table.selected)
    if table.imports:
        yield from _imported(facts, table)


def _is_called(facts: FileFacts, site: CallSite, table: Nominations) -> bool:
    function = site.node.func
    looks = list(table.methods.get(function.attr, ())) if isinstance(function, ast.Attribute) else []
    for callee in names_called(facts, function, site.scope).callees:
        looks += table.calls.get(public_name(callee.name), ())
    return any(worth is None or worth(facts, site, table.selected) for worth in dict.fromkeys(looks))


def _is_assigned(facts: FileFacts, target: ast.expr, scope: int, table: Nominations) -> bool:
    if isinstance(target, ast.Subscript):
        return bool(table.keys.intersection(facts.value(target.slice, scope).constants))
    names = facts.names(target, scope).names
    return bool(names & table.assigned) or any(name.startswith(table.assigned_under) for name in names)


def _imported(facts: FileFacts, table: Nominations) -> Iterator[ast.stmt]:
    for statement in facts.reading.parents:
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            names = [statement.module or "", *(f"{statement.module}.{alias.name}" for alias in statement.names)]
        else:
            continue
        if any(name == known or name.startswith(f"{known}.") for name in names for known in table.imports):
            yield statement


def _whole_lines(facts: FileFacts, statement: ast.stmt) -> Span:
    """The smallest run of whole logical lines that holds a statement and parses on its own."""
    reading = facts.reading
    current: ast.stmt | None = statement
    while current is not None:
        first, last = _first_line(current), current.end_lineno or current.lineno
        if _starts_its_line(facts, current, first):
            below_header = _body_line(current) if current is statement else None
            if below_header is not None:
                return Span(first, below_header - 1, (current,), is_header=True)
            return _through_semicolons(facts, current, first, last)
        current = _previous_on_line(facts, current) or reading.parents[current]
    return _everything(facts)


def _body_line(statement: ast.stmt) -> int | None:
    """The first line of a compound statement's body, when its header has lines of its own."""
    if not isinstance(statement, _HEADED):
        return None
    line = _first_line(statement.body[0])
    return line if line > _header_end(statement) else None


def _header_end(statement: ast.stmt) -> int:
    """The last line that a header's own expressions reach."""
    nodes = [
        child
        for child in ast.iter_child_nodes(statement)
        if not isinstance(child, ast.stmt | ast.excepthandler | ast.match_case)
    ]
    ends: list[int] = [getattr(node, "end_lineno", None) or 0 for child in nodes for node in ast.walk(child)]
    return max([statement.lineno, *ends])


def _first_line(statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", None)
    lines: list[int] = [statement.lineno, *(decorator.lineno for decorator in decorators or ())]
    return min(lines)


def _starts_its_line(facts: FileFacts, statement: ast.stmt, first: int) -> bool:
    line = facts.source.lines[first - 1]
    if getattr(statement, "decorator_list", None):
        return line.lstrip().startswith("@")
    before = line.encode()[: statement.col_offset].decode(errors="replace")
    is_elif = isinstance(statement, ast.If) and line[len(before) :].startswith("elif")
    return not before.strip(" \t\f") and not is_elif


def _previous_on_line(facts: FileFacts, statement: ast.stmt) -> ast.stmt | None:
    siblings = block_of(facts, statement)
    index = siblings.index(statement)
    previous = siblings[index - 1] if index else None
    return previous if previous is not None and previous.end_lineno == statement.lineno else None


def _through_semicolons(facts: FileFacts, statement: ast.stmt, first: int, last: int) -> Span:
    siblings = block_of(facts, statement)
    joined = [statement]
    for following in siblings[siblings.index(statement) + 1 :]:
        if following.lineno != last:
            break
        joined.append(following)
        last = following.end_lineno or following.lineno
    return Span(first, last, tuple(joined))


def whole_file(facts: FileFacts) -> list[Span]:
    """The whole file as one piece: what piecewise analysis must agree with."""
    return [_everything(facts)]


def _everything(facts: FileFacts) -> Span:
    return Span(1, len(facts.source.lines), tuple(facts.tree.body))
