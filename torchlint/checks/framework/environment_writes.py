"""Where code sets environment variables: the shapes that several checks share."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.visit import Visit
from torchlint.facts.tree import targets_of

ENVIRON = "os.environ"
SETTERS = frozenset({"os.environ.setdefault", "os.putenv"})


def writes(visit: Visit, name: str) -> Iterator[str | None]:
    """What this assignment or call sets a variable of the running process to; None for what is not a literal."""
    if isinstance(visit.node, ast.Assign):
        assignment = visit.assignment
        for target in targets_of(assignment):
            if isinstance(target, ast.Subscript) and _key(visit, target) == name:
                yield visit.value(assignment.value).text
    elif isinstance(visit.node, ast.Call):
        yield from _called(visit, name)


def _key(visit: Visit, target: ast.Subscript) -> str | None:
    if visit.names(target.value).only != ENVIRON:
        return None
    return visit.value(target.slice).text


def _called(visit: Visit, name: str) -> Iterator[str | None]:
    call, function = visit.call, visit.callee()
    if function in SETTERS and len(call.args) > 1:
        if visit.value(call.args[0]).constants == (name,):
            yield visit.value(call.args[1]).text
    elif function == "os.environ.update":
        pairs: list[tuple[object, ast.expr]] = [(keyword.arg, keyword.value) for keyword in call.keywords]
        for argument in call.args:
            if isinstance(argument, ast.Dict):
                pairs += [(getattr(k, "value", None), v) for k, v in zip(argument.keys, argument.values, strict=True)]
        for key, value in pairs:
            if key == name:
                yield visit.value(value).text
