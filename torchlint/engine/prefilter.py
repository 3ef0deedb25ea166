"""Which nodes of a file are shown to which checks: one look at each call, assignment and import, by its name."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from torchlint.checks.framework.registration import Check, Triggers
from torchlint.facts.callees import runs_of
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import CallSite, Site


class Prefilter(msgspec.Struct, frozen=True):
    """The triggers of all checks of a run in one table, built once. The numbers are places in `checks`."""

    checks: tuple[Check, ...]
    triggers: tuple[Triggers, ...]
    calls: Mapping[str, Sequence[int]]
    methods: Mapping[str, Sequence[int]]
    assigned: Mapping[str, Sequence[int]]
    keys: Mapping[str, Sequence[int]]
    imports: Mapping[str, Sequence[int]]
    under: tuple[tuple[str, int], ...]
    """Prefixes of what is assigned."""

    @classmethod
    def of(cls, checks: tuple[Check, ...], triggers: tuple[Triggers, ...]) -> Prefilter:
        return cls(
            checks=checks,
            triggers=triggers,
            calls=_by_name(each.calls for each in triggers),
            methods=_by_name(each.methods for each in triggers),
            assigned=_by_name(each.assigned for each in triggers),
            keys=_by_name(each.keys for each in triggers),
            imports=_by_name(each.imports for each in triggers),
            under=tuple((prefix, index) for index, each in enumerate(triggers) for prefix in each.assigned_under),
        )


def _by_name(words: Iterable[frozenset[str]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for index, names in enumerate(words):
        for name in names:
            found[name].append(index)
    return dict(found)


def candidates(facts: FileFacts, table: Prefilter) -> Iterator[tuple[Site | CallSite, list[Check]]]:
    """The nodes that some check wants to see, in source order, each with those checks."""
    wanted: dict[ast.AST, tuple[Site | CallSite, set[int]]] = {}
    for site, indexes in _triggered(facts, table):
        if indexes:
            wanted.setdefault(site.node, (site, set()))[1].update(indexes)
    for site, indexes in sorted(wanted.values(), key=lambda item: _place(item[0].node)):
        yield site, [table.checks[index] for index in sorted(indexes)]


def _place(node: ast.expr | ast.stmt) -> tuple[int, int, int, int]:
    """What begins first comes first; of what begins together, what ends last."""
    return node.lineno, node.col_offset, -(node.end_lineno or 0), -(node.end_col_offset or 0)


def _triggered(facts: FileFacts, table: Prefilter) -> Iterator[tuple[Site | CallSite, Iterable[int]]]:
    yield from _called(facts, table)
    for assignment in facts.symbols.assignments:
        place = Site(assignment.statement, assignment.scope, assignment.statement)
        yield place, _asking_for_target(facts, assignment.target, assignment.scope, table)
    if table.imports:
        yield from _imported(facts, table)
    for index, each in enumerate(table.triggers):
        for pointed in each.sites(facts) if each.sites is not None else ():
            yield pointed, (index,)


def _called(facts: FileFacts, table: Prefilter) -> Iterator[tuple[CallSite, Sequence[int]]]:
    sites, runs, words = facts.symbols.calls, runs_of(facts), facts.calls.words
    for name in runs.keys() & table.calls.keys():
        yield from ((sites[place], table.calls[name]) for place in runs[name])
    for word in words.keys() & table.methods.keys():
        methods = (sites[place] for place in words[word] if isinstance(sites[place].node.func, ast.Attribute))
        yield from ((site, table.methods[word]) for site in methods)


def _asking_for_target(facts: FileFacts, target: ast.expr, scope: int, table: Prefilter) -> list[int]:
    if isinstance(target, ast.Subscript):
        keys = facts.value(target.slice, scope).constants if table.keys else ()
        return [index for key in keys if isinstance(key, str) for index in table.keys.get(key, ())]
    names = facts.names(target, scope).names
    if not names:
        return []
    found = [index for name in names for index in table.assigned.get(name, ())]
    return found + [index for prefix, index in table.under if any(name.startswith(prefix) for name in names)]


def _imported(facts: FileFacts, table: Prefilter) -> Iterator[tuple[Site, list[int]]]:
    for statement, scope in facts.symbols.scope_of.items():
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            names = [statement.module or "", *(f"{statement.module}.{alias.name}" for alias in statement.names)]
        else:
            continue
        found = [
            index
            for known, indexes in table.imports.items()
            if any(name == known or name.startswith(f"{known}.") for name in names)
            for index in indexes
        ]
        yield Site(statement, scope, statement), found
