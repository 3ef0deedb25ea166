"""TL501 data-parallel: replicas in threads, which share generators, and a batch that is split among them."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.diagnostics import Confidence, Related, Severity
from torchlint.facts.classes import attribute_values
from torchlint.facts.control.order import run_after
from torchlint.facts.entries import is_test
from torchlint.facts.full_names import dotted
from torchlint.facts.values import argument_of
from torchlint.project.index import Project
from torchlint.project.replicas import replicas_of

_CODE = "TL501"
_DEVICES = {"torch.nn.DataParallel": 1, "torch.nn.parallel.data_parallel": 2}
"""What runs replicas, and the place of its argument `device_ids`."""
_LOADING = ("load_state_dict", "state_dict", "module", "eval", "to", "cuda")
"""What is asked of a model that is wrapped for a checkpoint alone."""


def _judge(draft: Draft, project: Project) -> Draft | None:
    """A warning where the replicas share a generator, which no two runs use in one order.

    How the batch is split matters to runs on other numbers of GPUs alone: that is said with low confidence. Tests
    wrap models to see them unwrapped, and whoever only predicts splits no gradients.
    """
    if is_test(draft.path) or not project.may_train((draft.path, draft.values["symbol"])):
        return None
    replicas = replicas_of(draft.values["made"].split(), project.programs.calls, project.summaries)
    if replicas.draw is None:
        note = dataclasses.replace(draft, severity=Severity.INFO, confidence=Confidence.LOW)
        return None if replicas.is_settled else note
    place = replicas.draw.location
    values = {**draft.values, "drawn": f"`{replicas.draw.name}` in {place.shown_line}"}
    return dataclasses.replace(draft, message="draws", values=values, related=(Related(place, "draws in each thread"),))


@check(codes=(_CODE,), triggers=Triggers(calls=frozenset(_DEVICES)), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """A model that is wrapped to run on several devices."""
    name = visit.callee()
    if name not in _DEVICES:
        return
    devices = argument_of(visit.call, "device_ids", _DEVICES[name])
    if not _is_one_device(devices) and not _is_wrapped_for_loading(visit):
        symbol = visit.facts.symbol_of(visit.site)
        values = {"spelling": spelling_of(visit), "symbol": symbol, "made": " ".join(sorted(_made(visit)))}
        yield Finding(_CODE, visit.node, values)


def _made(visit: Visit) -> Iterator[str]:
    """The project's classes, or functions that make a module, which the wrapped model may come from."""
    model = argument_of(visit.call, "module", 0)
    if model is None:
        return
    for value, scope in attribute_values(visit.facts, model, visit.scope) or [(model, visit.scope)]:
        for name in visit.facts.names(value, scope).names:
            made, call, _ = name.partition("()")
            if "::" in made and call:
                yield made


def _is_one_device(devices: ast.expr | None) -> bool:
    """Over `[device]` the module runs as it is, in no thread."""
    is_listed = isinstance(devices, ast.List | ast.Tuple)
    return is_listed and len(devices.elts) == 1 and not isinstance(devices.elts[0], ast.Starred)  # type: ignore[union-attr]


def _is_wrapped_for_loading(visit: Visit) -> bool:
    """Whether `model = model.module` follows, and nothing ran the model until then."""
    wrapping, facts = visit.statement, visit.facts
    model = dotted(wrapping.targets[0]) if isinstance(wrapping, ast.Assign) else None
    if model is None:
        return False
    names: list[str | None] = []
    for statement in run_after(facts, wrapping):
        if (
            isinstance(statement, ast.Assign)
            and dotted(statement.targets[0]) == model
            and dotted(statement.value) == f"{model}.module"
        ):
            return names.count(model) == sum(names.count(f"{model}.{word}") for word in _LOADING)
        own = facts.index.within(statement)
        names += [dotted(node) for node in own if isinstance(node, ast.Name | ast.Attribute)]
    return False
