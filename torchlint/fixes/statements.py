"""Fixes that put a statement before another."""

from __future__ import annotations

import ast

from torchlint.checks.training.clip_before_unscale import scaled_clips
from torchlint.facts.control.conditions import tests_around
from torchlint.fixes.code import FileCode
from torchlint.fixes.imports import spelled_module
from torchlint.fixes.plan import Plan, plan
from torchlint.fixes.spot import Spot
from torchlint.source.edits import Replacement, insertion

_WORKSPACE = "CUBLAS_WORKSPACE_CONFIG"
_LAST_THAT_ASKS = (2, 9)
"""The last torch that raises in the determinism mode where the workspace is not set."""


def before(code: FileCode, statement: ast.stmt, *texts: str) -> Replacement | None:
    """Statements before another one: on lines of their own, or on that line where others stand there too."""
    line, column = code.start(statement)
    lead = code.lines[line - 1][: column - 1]
    if code.lines[line - 1][column - 1 :].startswith("elif") or getattr(statement, "decorator_list", None):
        return None
    if not lead.strip(" \t\f"):
        is_continued = line > 1 and code.lines[line - 2].rstrip().endswith("\\")
        return None if is_continued else insertion(line, column, "".join(f"{text}\n{lead}" for text in texts))
    is_compound = hasattr(statement, "body")
    return None if is_compound else insertion(line, column, "".join(f"{text}; " for text in texts))


def workspace_set(spot: Spot) -> Plan | None:
    """`os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"` before the call that turns the mode on."""
    return _with_statements(spot, ("os", f'{{os}}.environ["{_WORKSPACE}"] = ":4096:8"'))


def mode_on(spot: Spot) -> Plan | None:
    """`torch.use_deterministic_algorithms(True)` before the program seeds, and what older releases ask for with it.

    Where nothing seeds, the mode alone repeats nothing, and the finding stands where a seed is missing: no fix.
    """
    seeds = [one for one in spot.diagnostic.related if one.message.endswith(" seeds")]
    if spot.diagnostic.variant != "default" or not seeds:
        return None
    oldest = spot.diagnostic.admitted[0] if spot.diagnostic.admitted else _LAST_THAT_ASKS
    is_set = oldest > _LAST_THAT_ASKS or spot.facts.source.mentions(_WORKSPACE.lower())
    workspace = ("os", f'{{os}}.environ.setdefault("{_WORKSPACE}", ":4096:8")')
    mode = ("torch", "{torch}.use_deterministic_algorithms(True)")
    return _with_statements(spot, *([] if is_set else [workspace]), mode)


def _with_statements(spot: Spot, *wanted: tuple[str, str]) -> Plan | None:
    """Statements before the one that the finding stands in, each with the module whose name it needs."""
    nodes = spot.code.nodes_at(spot.diagnostic.location)
    node = next((one for one in nodes if isinstance(one, ast.expr | ast.stmt)), None)
    if node is None or spot.code.is_in_string(node):
        return None
    statement = spot.statement_of(node)
    named = [spelled_module(spot.code, module, statement) for module, _ in wanted]
    if isinstance(statement, ast.Import | ast.ImportFrom) or None in named:
        return None
    known = [one for one in named if one is not None]
    texts = [text.format(**{module: one.name}) for (module, text), one in zip(wanted, known, strict=True)]
    change = before(spot.code, statement, *texts)
    return None if change is None else plan([*(each for one in known for each in one.changes), change], is_safe=False)


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
