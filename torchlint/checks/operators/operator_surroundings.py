"""Whether an operator is steady where it stands, and for which torch releases that place runs."""

from __future__ import annotations

import ast
import re

from torchlint.catalogue.versions import format_minor
from torchlint.checks.framework.conditions import Answer, holds
from torchlint.checks.operators.operator_conditions import input_of, stored_by
from torchlint.checks.operators.operator_matches import Match
from torchlint.facts.control.conditions import decisions, managers_around
from torchlint.facts.definitions import only_value
from torchlint.facts.file import FileFacts
from torchlint.facts.tensors.devices import is_on_cpu
from torchlint.facts.tree import literal_text

_ASKING = "torch.are_deterministic_algorithms_enabled"
_VERSIONS = frozenset({"torch.__version__", "torch.torch_version.__version__"})
_RELEASE = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


def is_steadied(facts: FileFacts, match: Match, statement: ast.stmt, scope: int) -> bool:
    """Whether the operator does not vary here because of what stands around it, or where its tensors lie."""
    operator = match.operator
    is_for_gpus = not any(row.device in ("cpu", "*") for row in operator.row)
    operands = (input_of(match.use, match.spelling), stored_by(facts, match.use, match.spelling)) if is_for_gpus else ()
    if any(is_on_cpu(facts, operand, scope) for operand in operands):
        return True
    made = ((one.test, facts.symbols.scope_of[one], answer) for one, answer in decisions(facts, statement))
    if any(_asks(facts, test, at) is answer for test, at, answer in made):
        return True
    where, managers = facts.symbols.scope_of[statement], managers_around(facts, statement)
    entered = ((one, facts.names(one.func, where)) for one in managers if isinstance(one, ast.Call))
    return any(
        names.only == such.call
        and all(holds(facts, one, callee, such.where, where) is Answer.YES for callee in names.callees)
        for one, names in (entered if operator.unless_within else ())
        for such in operator.unless_within
    )


def _asks(facts: FileFacts, test: ast.expr | None, scope: int) -> bool | None:
    """Whether a test holds under the mode only (True), without it only (False), or asks for something else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _asks(facts, test.operand, scope)
        return None if inner is None else not inner
    if isinstance(test, ast.Name):
        value, where = only_value(facts, test, scope)
        return _asks(facts, value, where)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return True if any(_asks(facts, part, scope) for part in test.values) else None
    is_question = isinstance(test, ast.Call) and facts.names(test.func, scope).only == _ASKING
    return True if is_question else None


def releases_of(facts: FileFacts, statement: ast.stmt) -> str:
    """A range such as `>=1.3` or `<1.3`, by the tests of torch's version around a statement; empty: every release.

    Ranges know minor releases: one that a test cuts in two counts on both sides.
    """
    since: tuple[int, int] | None = None
    before: tuple[int, int] | None = None
    for decision, answer in decisions(facts, statement):
        found = _tested(facts, decision.test, facts.symbols.scope_of[decision])
        if found is None:
            continue
        is_newer, release, is_whole = found
        if is_newer == answer:
            since = max(since or release, release)
        else:
            end = release if is_whole else (release[0], release[1] + 1)
            before = min(before or end, end)
    bounds = ((">=", since), ("<", before))
    return ",".join(f"{sign}{format_minor(release)}" for sign, release in bounds if release is not None)


def _tested(facts: FileFacts, test: ast.expr, scope: int) -> tuple[bool, tuple[int, int], bool] | None:
    """Whether a test asks for newer releases, which minor release it names, and whether that one is all on one side."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    if facts.names(_read_as_version(test.left), scope).only not in _VERSIONS:
        return None
    match = _RELEASE.match(literal_text(_read_as_version(test.comparators[0])))
    if match is None or not isinstance(test.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
        return None
    is_cut_before = isinstance(test.ops[0], (ast.Lt, ast.GtE))  # `< 1.3`, `>= 1.3`: all of 1.3 is newer
    is_whole = is_cut_before and match[3] in (None, "0")
    return isinstance(test.ops[0], (ast.Gt, ast.GtE)), (int(match[1]), int(match[2])), is_whole


def _read_as_version(expression: ast.expr) -> ast.expr:
    """What `version.parse(...)`, `Version(...)` and the like are given."""
    while isinstance(expression, ast.Call) and len(expression.args) == 1:
        expression = expression.args[0]
    return expression
