"""What other files, or a configuration, answer to what a use of an operator asks of them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator

import msgspec

from torchlint.catalogue.registry import Spelling
from torchlint.checks.framework.conditions import Answer, holds, meets
from torchlint.checks.framework.drafts import Asked, AskedCallee, AskedTensor, GivenByCalls, OperatorUse
from torchlint.diagnostics import Location, Related
from torchlint.facts.call_edges import Argument
from torchlint.facts.constants import usual_value
from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Definition, End, Field
from torchlint.facts.full_names import Callee
from torchlint.facts.origins import Origin, beyond
from torchlint.facts.tensors.elements import element_of
from torchlint.facts.tensors.ranks import Ranks, dimensions_of_end, ranks_of
from torchlint.facts.values import Values
from torchlint.project.flows import origins_answered
from torchlint.project.index import Project


class _Shape(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Of a tensor: its elements, and how many dimensions it may have."""

    elements: str | None
    dimensions: Ranks


def is_given(path: str, asked: Asked | AskedTensor | AskedCallee, project: Project) -> bool:
    """Whether calls of the project, or a configuration, give what makes an operator vary."""
    if isinstance(asked, AskedCallee):
        return (asked.tensor is None or is_given(path, asked.tensor, project)) and bool(_makers(asked, project))
    if isinstance(asked, AskedTensor):
        tensors = origins_answered(project, asked.sources, functools.partial(_tensor, bool(asked.elements)), _Shape)
        met = (one is not None and asked.is_met_by(one.elements, one.dimensions) for one in tensors)
        return any(met) if asked.or_more else all(met)
    source = asked.source
    given: Iterable[Argument]
    if isinstance(source, GivenByCalls):
        given = _given_by_calls(path, source, project)
    elif isinstance(source, Origin):
        found = constants_of(source, project)
        given = (constant for values in found if values is not None for constant in values.constants)
    else:
        given = project.configuration_files.values_of(source, path)
    # One after another: where one of them is enough, no further file is asked.
    answers = (asked.is_usual if one is ... else meets(one, asked.condition) for one in given)
    first = next(answers, None)
    return asked.is_usual if first is None else first or any(answers)


def _given_by_calls(path: str, source: GivenByCalls, project: Project) -> Iterator[Argument]:
    """What each call gives for a parameter; `...` where that is open. How tests call says nothing of how it is used."""
    calls = project.programs.calls
    runs = ((path, source.symbol), (path, f"{source.symbol}.__init__"))
    paths = sorted({caller for one in runs for caller, _ in calls.callers_of(one) if not is_test(caller)})
    edges = ((caller, edge) for caller in paths for edge in project.summaries[caller].edges)
    for caller, edge in edges:
        if calls.callee(edge) in runs:
            given = project.call_details.of(caller, edge).arguments
            yield given.get(source.parameter, ... if source.position is None else given.get(source.position, ...))


def constants_of(origin: Origin, project: Project) -> Iterator[Values | None]:
    """The constants that a value of another file may be; None for what is not seen."""
    return origins_answered(project, [origin], _constants, Values)


def handed_over(uses: Iterable[OperatorUse], project: Project) -> Iterator[Related]:
    """Where the losses are written that functions of other files are given."""
    asked = (use.asked for use in uses if isinstance(use.asked, AskedCallee))
    places = {place for one in asked for place in _makers(one, project)}
    yield from (Related(place, "the loss that is handed over") for place in sorted(places))


def _makers(asked: AskedCallee, project: Project) -> list[Location]:
    """Where the function, or the instance, is written that a call of what is handed over runs."""
    _, spelling = project.catalogue.spellings[asked.spelling][0]
    found = origins_answered(project, [asked.source], functools.partial(_maker, spelling), Location)
    return [place for place in found if place is not None]


def _maker(spelling: Spelling, facts: FileFacts, end: End) -> list[Location | Origin | None]:
    elsewhere = beyond(facts, end)
    if elsewhere is not None or not isinstance(end, Definition):
        return [elsewhere]
    field = end.parts[0] if len(end.parts) == 1 else None
    value = ast.Attribute(end.node, field.name, ast.Load()) if isinstance(field, Field) else end.node
    if facts.names(value, end.scope).only != spelling.call:
        return [None]
    if isinstance(value, ast.Call) and holds(facts, value, Callee(""), spelling.made_with, end.scope) is not Answer.YES:
        return [None]
    return [facts.locate(end.node)]


def _tensor(has_elements: bool, facts: FileFacts, end: End) -> list[_Shape | Origin | None]:  # noqa: FBT001
    """The elements of a tensor and its dimensions; where they are asked alone, the tensors that have as many."""
    if not isinstance(end, Definition) or not has_elements:
        found = dimensions_of_end(facts, end)
        numbers = frozenset(one for one in found if isinstance(one, int))
        shapes = [_Shape(None, numbers)] if numbers else []
        return [*(one for one in found if isinstance(one, Origin)), *shapes] or [None]
    shape = None if end.parts else _Shape(element_of(facts, end.node, end.scope), ranks_of(facts, end.node, end.scope))
    return [beyond(facts, end) or shape]


def _constants(facts: FileFacts, end: End) -> list[Values | Origin | None]:
    return [beyond(facts, end) or usual_value(facts, end)]
