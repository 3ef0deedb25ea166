"""TL501 data-parallel: replicas in threads, which share generators, and a batch that is split among them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from msgspec.structs import replace

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit, spelling_of
from torchlint.diagnostics import Confidence, Related, Severity
from torchlint.facts.classes import attribute_values
from torchlint.facts.constants import display_of
from torchlint.facts.control.order import run_after
from torchlint.facts.entries import is_test
from torchlint.facts.full_names import dotted
from torchlint.facts.gradients import is_gradless
from torchlint.facts.grouping import grouped
from torchlint.facts.notation import hangs_on_call, is_of_project, root_of, symbol_of
from torchlint.facts.training.training_mode import BatchUse, batch_use
from torchlint.facts.values import argument_of
from torchlint.facts.words import says
from torchlint.project.index import Project

_CODE = "TL501"
_DEVICES = {"torch.nn.DataParallel": 1, "torch.nn.parallel.data_parallel": 2}
"""What runs replicas, and the place of its argument `device_ids`."""
_LOADING = ("load_state_dict", "state_dict", "module", "eval", "to", "cuda")
"""What is asked of a model that is wrapped for a checkpoint alone."""
_MADE_AND_RUN = ("__init__", "forward")


def _judge(draft: Draft, project: Project) -> Draft | None:
    """A warning where the replicas share a generator, which no two runs use in one order.

    How the batch is split matters to runs on other numbers of GPUs alone: that is a note. Tests wrap models to see
    them unwrapped, and whoever only predicts splits no gradients.
    """
    if is_test(draft.path) or not project.may_train(draft.symbol):
        return None
    calls, summaries = project.programs.calls, project.summaries
    start = []
    for name in draft.values["made"].split():
        path, qualname = symbol_of(name)
        start += [(path, qualname), *(calls.defining((path, f"{qualname}.{method}")) for method in _MADE_AND_RUN)]
    whole = calls.run(start)
    forwards = [
        (path, symbol)
        for path, symbol in whole
        if symbol.endswith(".forward") and path in summaries and symbol in summaries[path].functions
    ]
    run = calls.run(forwards, without=lambda place: says(place[1].rpartition(".")[2], "beside_training"))
    paths = sorted({path for path, _ in run} & summaries.keys())
    every = ((path, draw) for path in paths for draw in _batch_use(path, project).draws if draw.symbol)
    draw = next((draw for path, draw in every if (path, draw.symbol) in run), None)
    if draw is not None:
        values = {**draft.values, "drawn": f"`{draw.name}` in {draw.location.shown_line}"}
        related = (Related(draw.location, "draws in each thread"),)
        return replace(draft, message="draws", values=values, related=related)
    # Else the replicas may look at a whole batch.
    known = grouped((path, symbol) for path, symbol in sorted(whole) if symbol and path in summaries)
    is_unsettled = any(not _batch_use(path, project).unsettled.isdisjoint(symbols) for path, symbols in known.items())
    note = replace(draft, severity=Severity.INFO, confidence=Confidence.MEDIUM)
    return note if is_unsettled or not forwards else None


def _batch_use(path: str, project: Project) -> BatchUse:
    """Few files are asked, and few projects wrap a model."""
    ask = functools.partial(batch_use, watch=project.watch)
    return project.interview.answer_if_it_can(path, "use of batches", BatchUse, ask) or BatchUse((), frozenset())


@check(codes=(_CODE,), triggers=Triggers(calls=frozenset(_DEVICES)), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """A model that is wrapped to run on several devices."""
    name = visit.callee()
    if name not in _DEVICES or is_gradless(visit.facts, visit.call):
        return
    devices = argument_of(visit.call, "device_ids", _DEVICES[name])
    # Over `[device]` the module runs as it is, in no thread.
    shown, _ = display_of(visit.facts, devices, visit.scope)
    parts = shown.elts if isinstance(shown, (ast.List, ast.Tuple)) else []
    is_one = len(parts) == 1 and not isinstance(parts[0], ast.Starred)
    if not is_one and not _is_wrapped_for_loading(visit):
        values = {"spelling": spelling_of(visit), "symbol": visit.symbol, "made": " ".join(sorted(_made(visit)))}
        yield Finding(_CODE, visit.node, values)


def _made(visit: Visit) -> Iterator[str]:
    """The project's classes, or functions that make a module, which the wrapped model may come from."""
    model = argument_of(visit.call, "module", 0)
    if model is None:
        return
    for value, scope in attribute_values(visit.facts, model, visit.scope) or [(model, visit.scope)]:
        for name in visit.facts.names(value, scope).names:
            if is_of_project(name) and hangs_on_call(name):
                yield root_of(name)


def _is_wrapped_for_loading(visit: Visit) -> bool:
    """Whether `model = model.module` follows, or `net = model.module`, and nothing runs the wrapped model."""
    wrapping, facts = visit.statement, visit.facts
    target = wrapping.targets[0] if isinstance(wrapping, ast.Assign) else None
    model = None if target is None else dotted(target)
    if model is None:
        return False
    names: list[str | None] = []
    for statement in run_after(facts, wrapping):
        is_unwrapping = isinstance(statement, ast.Assign) and dotted(statement.value) == f"{model}.module"
        if is_unwrapping and dotted(statement.targets[0]) == model:  # type: ignore[attr-defined]
            return _is_only_loaded(model, names)
        own = facts.index.within(statement)
        names += [dotted(node) for node in own if isinstance(node, (ast.Name, ast.Attribute))]
    is_local = isinstance(target, ast.Name) and facts.function_of(visit.scope) is not None
    return is_local and f"{model}.module" in names and _is_only_loaded(model, names)


def _is_only_loaded(model: str, names: list[str | None]) -> bool:
    return names.count(model) == sum(names.count(f"{model}.{word}") for word in _LOADING)
