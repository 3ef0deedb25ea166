"""What findings about an order share: what it decides, in the file itself or beyond it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Judge
from torchlint.checks.framework.visit import Visit
from torchlint.diagnostics import Confidence
from torchlint.facts.entries import is_named_for_show, is_test
from torchlint.facts.file import MAIN, FileFacts
from torchlint.facts.flow.tracker import Analysis, Flow
from torchlint.facts.flow.values import Exit, Written
from torchlint.facts.order.loops import DATA, DATASET, DRAW, LISTS, SPLIT
from torchlint.project.beside_training import only_predicts
from torchlint.project.index import Project
from torchlint.project.unused_definitions import UnusedDefinitions

_OF_DATA = frozenset({DRAW, SPLIT, LISTS, DATA})
"""What a script without torch decides of the data that others train on."""


def finding_of(
    code: str,
    visit: Visit,
    flow: Flow,
    values: Mapping[str, str],
    message: str = "default",
    *,
    exits: Sequence[Exit] | None = None,
    line: int | None = None,
) -> Iterator[Finding]:
    """What is said of an order that decides something here, or is kept for others; with how it gets there."""
    exits = tuple(flow.exits if exits is None else exits)
    if flow.sink is None and not exits:
        return
    places = () if flow.sink is None else (*flow.trace, (flow.sink.node, f"here it decides {flow.sink.what}"))
    values = {**values, **_sink_values(visit, flow)}
    yield Finding(code, visit.node, values, message, related=places, exits=exits, line=line)


def _sink_values(visit: Visit, flow: Flow) -> dict[str, str]:
    """What the order decides, nothing while it is not known; the function that has it, and the class that uses it."""
    facts, use, user = visit.facts, "", None
    if flow.sink is not None:
        use, user = flow.sink.what, facts.class_of(facts.index.scope_of(flow.sink.node))
    name = "" if user is None else facts.symbols.scopes[user].name
    return {"use": use, "symbol": facts.symbol_at(visit.scope, visit.statement), "user": name}


def in_files(flow: Flow) -> tuple[Exit, ...]:
    """The files that keep the order for others."""
    return tuple(exit_ for exit_ in flow.exits if isinstance(exit_.port, Written))


def _matters(draft: Draft, project: Project) -> bool:
    """Whether torch is at work where the order decides something, or on the data of which it decides; not in tests."""
    if draft.values["use"] == DATA and not _is_run(draft, project):
        return False
    is_data = draft.values["use"] in _OF_DATA and project.has_torch
    return not is_test(draft.path) and (is_data or project.uses_torch(draft.path))


def _is_run(draft: Draft, project: Project) -> bool:
    """Whether the project calls the function: there are many that write an array, for whoever wants one."""
    symbol = draft.values["symbol"]
    return "." in symbol or symbol in ("", MAIN) or bool(project.programs.calls.calls_of(f"{draft.path}::{symbol}"))


def judged_by(analysis: Callable[[FileFacts], Analysis]) -> Judge:
    """The judge of orders: they matter to us only where torch is at work, and not in tests."""

    def judge(draft: Draft, project: Project) -> Draft | None:
        if is_test(draft.path) or not project.has_torch:
            return None
        user = draft.values.get("user", "")
        is_unused = bool(user) and project.cached(UnusedDefinitions).hold(draft.path, user)
        if not draft.values["use"] or is_unused:
            found = _decided_elsewhere(draft, project, analysis)
        else:
            found = draft if _matters(draft, project) else None
        if found is None or not _is_for_show(found, project):
            return found
        return replace(found, confidence=Confidence.LOW)

    return judge


def _is_for_show(draft: Draft, project: Project) -> bool:
    """Whether a program only measures or shows a model: in which order that sees a data set changes no answer of it."""
    return is_named_for_show(draft.path) or (draft.values["use"] == DATASET and only_predicts(project, draft.path))


def _decided_elsewhere(draft: Draft, project: Project, analysis: Callable[[FileFacts], Analysis]) -> Draft | None:
    """The draft with what another file makes of the order, or None where nobody makes anything of it."""
    sink = project.flows.sink_of(draft.exits, analysis)
    if sink is None:
        return None
    related = (*draft.related, *sink.told(f"here it decides {sink.what}"))
    found = replace(draft, values={**draft.values, "use": sink.what}, related=related)
    return found if _matters(found, project) or project.uses_torch(sink.path) else None
