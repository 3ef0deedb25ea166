"""For which torch releases a statement runs: `if torch.__version__ < "1.3": ... else: ...`."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from torchlint.facts.control.conditions import decisions

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_VERSIONS = frozenset({"torch.__version__", "torch.torch_version.__version__"})
_RELEASE = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


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
    parts = [f">={since[0]}.{since[1]}"] if since else []
    return ",".join([*parts, *([f"<{before[0]}.{before[1]}"] if before else [])])


def _tested(facts: FileFacts, test: ast.expr, scope: int) -> tuple[bool, tuple[int, int], bool] | None:
    """Whether a test asks for newer releases, which minor release it names, and whether that one is all on one side."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not _is_version(facts, test.left, scope):
        return None
    match = _RELEASE.match(_text(test.comparators[0]))
    if match is None or not isinstance(test.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        return None
    is_cut_before = isinstance(test.ops[0], ast.Lt | ast.GtE)  # `< 1.3`, `>= 1.3`: all of 1.3 is newer
    is_whole = is_cut_before and match[3] in (None, "0")
    return isinstance(test.ops[0], ast.Gt | ast.GtE), (int(match[1]), int(match[2])), is_whole


def _is_version(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    """`torch.__version__`, also inside `version.parse(...)`, `Version(...)` and the like."""
    while isinstance(expression, ast.Call) and len(expression.args) == 1:
        expression = expression.args[0]
    return facts.names(expression, scope).only in _VERSIONS


def _text(expression: ast.expr) -> str:
    while isinstance(expression, ast.Call) and len(expression.args) == 1:
        expression = expression.args[0]
    return expression.value if isinstance(expression, ast.Constant) and isinstance(expression.value, str) else ""
