"""What a module is to the files that import it: its own statements, without what stands in functions.

The interface of a file is made of that file alone, and is all that others read of it. So a file can be read without the
functions of any other, and whatever is found out about an import is the same in whatever order files are read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from torchlint.source.syntax import first_line

_BINDS_OUTSIDE = re.compile(r"\bglobal\b|:=")
"""What binds a name of the module from inside a function, or from its head."""


def interface_of(text: str, tree: ast.Module) -> str:
    r"""A module without the bodies, the parameters and the decorators of its functions, and without docstrings.

    Lines stay where they are. A function that may bind a name of the module stays whole.

    >>> text = "import torch\ndef f(x):\n    y = x + 1\n    return y\nA = f"
    >>> interface_of(text, ast.parse(text))
    'import torch\ndef f(): 0\n\n\nA = f'
    """
    lines = text.split("\n")
    may_bind = ("global" in text or ":=" in text) and _BINDS_OUTSIDE.search(text) is not None
    for statement in _left_out(tree.body):
        start, end = first_line(statement) - 1, statement.end_lineno or statement.lineno
        whole = lines[start:end]
        if isinstance(statement, ast.Expr) and not _has_lines_of_its_own(statement, whole):
            continue
        if may_bind and not isinstance(statement, ast.Expr) and any(map(_BINDS_OUTSIDE.search, whole)):
            continue
        first = whole[statement.lineno - 1 - start]
        lines[start:end] = [""] * len(whole)
        head = "" if isinstance(statement, ast.Expr) else f"def {statement.name}(): "
        lines[statement.lineno - 1] = f"{first[: len(first) - len(first.lstrip())]}{head}0"
    return "\n".join(lines)


def _left_out(statements: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.Expr]:
    """The functions of a module and of its classes, and the texts that stand alone."""
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield statement
        elif isinstance(statement, ast.Expr):
            if isinstance(statement.value, ast.Constant):
                yield statement
        else:
            for block in ("body", "orelse", "finalbody"):
                yield from _left_out(getattr(statement, block, ()))
            for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                yield from _left_out(part.body)


def _has_lines_of_its_own(text: ast.Expr, lines: list[str]) -> bool:
    before = lines[0].encode()[: text.col_offset]
    after = lines[-1].encode()[text.end_col_offset or 0 :].strip()
    return not before.strip() and (not after or after.startswith(b"#"))
