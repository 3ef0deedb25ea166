"""How messages quote code: short, on one line, with the argument that matters."""

from __future__ import annotations

import ast

from torchlint.checks.framework.visit import Visit

_LONGEST = 44
"""A line of the report is read in one go up to about 140 characters; the quote leaves room for what is said of it."""


def spelling_of(visit: Visit, part: ast.AST | None = None, *, argument: str | None = None) -> str:
    """The code of the node at hand, or of a part of it, for a message: `nn.Conv2d(..., padding_mode='replicate')`.

    Of a long call it quotes the argument of that name; without a name the last one that is a string.
    """
    node = visit.node if part is None else part
    text = _code_of(visit, node)
    if len(text) <= _LONGEST or not isinstance(node, ast.Call):
        return shortened(text)
    telling = [f"{given.arg}={visit.code(given.value)}" for given in node.keywords if _is_telling(given, argument)]
    function = shortened(_code_of(visit, node.func))
    return f"{function}(..., {telling[-1]})" if telling else f"{function}(...)"


def _is_telling(given: ast.keyword, name: str | None) -> bool:
    if name is not None:
        return given.arg == name
    return given.arg is not None and isinstance(given.value, ast.Constant) and isinstance(given.value.value, str)


def shortened(text: str) -> str:
    """Code on one line. Where it gets long the middle is cut: what is called stands first, what is asked of it last."""
    line = " ".join(text.split())
    if len(line) <= _LONGEST:
        return line
    tail = _LONGEST // 3
    return f"{line[: _LONGEST - tail - 3].rstrip()}...{line[-tail:].lstrip()}"


def _code_of(visit: Visit, node: ast.AST) -> str:
    """As it is written; what goes over several lines is written anew, without its comments and outer brackets."""
    is_on_one_line = isinstance(node, ast.expr | ast.stmt) and node.lineno == node.end_lineno
    return visit.code(node).strip() if is_on_one_line else ast.unparse(node)
