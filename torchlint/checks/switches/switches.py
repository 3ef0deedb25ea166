"""TL203 misspelled-switch: an assignment to a switch that torch does not have."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from torchlint.catalogue import Catalogue
from torchlint.catalogue.programs import SwitchModule
from torchlint.catalogue.versions import VersionRange
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.diagnostics import Severity
from torchlint.facts.control.conditions import is_for_some_releases
from torchlint.facts.tree import targets_of

_CODE = "TL203"
_NEAR = 0.75
"""How alike two names must be for one to be the other misspelled."""


def _triggers(catalogue: Catalogue, _: frozenset[str]) -> Triggers:
    namespaces = [module.name for module in catalogue.switches.module]
    return Triggers(assigned_under=tuple(f"{n}." for n in (*namespaces, *catalogue.switches.missing_namespaces)))


@check(codes=(_CODE,), triggers=_triggers)
def find(visit: Visit) -> Iterator[Finding]:
    """Every target that is an unknown name of a known namespace."""
    assignment = visit.assignment
    if assignment.value is None:
        return
    for target in targets_of(assignment):
        name = visit.names(target).only if isinstance(target, ast.Attribute) else None
        if name is not None:
            yield from _of_name(visit, target, name)


def _of_name(visit: Visit, target: ast.expr, name: str) -> Iterator[Finding]:
    switches = visit.catalogue.switches
    for missing in switches.missing_namespaces:
        if name.startswith(f"{missing}."):
            nearest = f"torch.backends{name.removeprefix(missing)}"
            yield Finding(_CODE, target, {"namespace": missing, "name": name, "nearest": nearest}, "namespace")
            return
    namespace, _, attribute = name.rpartition(".")
    module = next((module for module in switches.module if module.name == namespace), None)
    if module is None or attribute.startswith("_"):
        return
    known = next((known for known in module.attribute if known.name == attribute), None)
    if known is not None:
        # A real switch, for the releases that do not have it yet, or have it no more.
        is_told = bool(known.torch) and not is_for_some_releases(visit.facts, visit.assignment)
        values = {"namespace": namespace, "name": attribute, "nearest": "", "older": f"outside torch {known.torch}"}
        for gap in VersionRange.parse(known.torch).complement() if is_told else ():
            yield Finding(_CODE, target, values, "older", torch=str(gap))
        return
    values = {"namespace": namespace, "name": attribute, "nearest": _nearest(visit.catalogue, module, attribute)}
    variant = "raises" if module.unknown_name == "raises" else "dead"
    # A name like none that torch has was hardly written for the sake of equal runs.
    severity = None if module.bears_on_results and (values["nearest"] or variant == "raises") else Severity.INFO
    yield Finding(_CODE, target, values, variant if values["nearest"] else "default", severity=severity)


def nearest_switch(catalogue: Catalogue, name: str) -> str:
    """The real switch that a name in full was meant to be; empty where there is none like it."""
    namespace, _, attribute = name.rpartition(".")
    module = next((module for module in catalogue.switches.module if module.name == namespace), None)
    return "" if module is None else _nearest(catalogue, module, attribute)


def _nearest(catalogue: Catalogue, module: SwitchModule, attribute: str) -> str:
    """The real switch this was meant to be: a like name here, or the same name in another namespace."""
    if not module.bears_on_results:
        return ""
    close = difflib.get_close_matches(attribute, [known.name for known in module.attribute], n=1, cutoff=_NEAR)
    if close:
        return f"{module.name}.{close[0]}"
    modules = catalogue.switches.module
    elsewhere = (one.name for one in modules if any(known.name == attribute for known in one.attribute))
    return next((f"{name}.{attribute}" for name in elsewhere), "")
