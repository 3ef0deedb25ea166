"""Fixes that put a statement before another."""

from __future__ import annotations

import ast

from torchlint.checks.training.gradient_scaling import scaled_clips
from torchlint.facts.control.conditions import tests_around
from torchlint.fixes.code import FileCode
from torchlint.fixes.imports import spelled_module
from torchlint.fixes.plan import Plan, plan
from torchlint.fixes.spot import Spot
from torchlint.source.edits import Replacement, insertion


def before(code: FileCode, statement: ast.stmt, text: str) -> Replacement | None:
    """A statement before another one: on a line of its own, or on that line where others stand there too."""
    line, column = code.start(statement)
    lead = code.lines[line - 1][: column - 1]
    if code.lines[line - 1][column - 1 :].startswith("elif") or getattr(statement, "decorator_list", None):
        return None
    if not lead.strip(" \t\f"):
        is_continued = line > 1 and code.lines[line - 2].rstrip().endswith("\\")
        return None if is_continued else insertion(line, column, f"{text}\n{lead}")
    is_compound = hasattr(statement, "body")
    return None if is_compound else insertion(line, column, f"{text}; ")


def workspace_set(spot: Spot) -> Plan | None:
    """`os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"` before the call that turns the mode on."""
    return _with_call(spot, "os", '{os}.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"')


def mode_on(spot: Spot) -> Plan | None:
    """`torch.use_deterministic_algorithms(True)` before the program seeds."""
    seeds = [one for one in spot.diagnostic.related if one.message.endswith(" seeds")]
    if spot.diagnostic.variant != "default" or not seeds:
        return (
            None  # where nothing seeds, the mode alone repeats nothing, and the finding stands where a seed is missing
        )
    return _with_call(spot, "torch", "{torch}.use_deterministic_algorithms(True)")


def _with_call(spot: Spot, module: str, text: str) -> Plan | None:
    """A statement of a module's before the one that the finding stands in."""
    nodes = spot.code.nodes_at(spot.diagnostic.location)
    node = next((one for one in nodes if isinstance(one, ast.expr | ast.stmt)), None)
    if node is None or spot.code.is_in_string(node):
        return None
    statement = spot.statement_of(node)
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return None
    named = spelled_module(spot.code, module, statement)
    change = None if named is None else before(spot.code, statement, text.replace(f"{{{module}}}", named.name))
    if named is None or change is None:
        return None
    return plan([*named.changes, change], is_safe=False)


def unscaled_first(spot: Spot) -> Plan | None:
    """`scaler.unscale_(optimizer)` before the clip, where `scaler.step(optimizer)` is under the same tests."""
    call = spot.call
    found = None if call is None else spot.facts.cached(scaled_clips).get(id(call))
    if call is None or found is None or found.late is not None or not found.optimizer:
        return None
    clip, step = spot.statement_of(call), spot.statement_of(found.step)
    under = [{ast.dump(test) for test in tests_around(spot.facts, one)} for one in (clip, step)]
    if under[0] != under[1] or spot.scope_of(call) != spot.scope_of(found.step):
        return None
    change = before(spot.code, clip, f"{found.scaler}.unscale_({found.optimizer})")
    return None if change is None else plan([change], is_safe=False)
