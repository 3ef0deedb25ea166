"""What authors say beside their code: comments and docstrings, which tell what is meant."""

from __future__ import annotations

import ast

from torchlint.facts.file import FileFacts

_DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def remarks_in(facts: FileFacts, node: ast.AST) -> str:
    """The comments and docstrings of a definition or another statement, and the comment above it, in lower case.

    What follows a `#` inside a string is taken for a comment too.
    """
    first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", None) or 1
    lines = facts.source.lines
    above = first - 1
    while above > 0 and lines[above - 1].lstrip().startswith("#"):
        above -= 1
    found = [line.partition("#")[2] for line in lines[above:last] if "#" in line]
    found += [ast.get_docstring(inner) or "" for inner in ast.walk(node) if isinstance(inner, _DOCUMENTED)]
    return "\n".join(found).lower()
