"""Which loops give a value: a batch, or a part of one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.definitions import step_back
from torchlint.facts.ends import Definition, End
from torchlint.facts.flow.values import EACH, Field
from torchlint.facts.loops import gone_through
from torchlint.facts.memoizing import memoized

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_PICKED = Field("picked")


@memoized
def gone_through_for(facts: FileFacts, value: ast.expr, scope: int) -> tuple[Definition | None, ...]:
    """What loops go through that give a value, as they name it, with the part of it; None for what is no element."""
    return _behind(facts, Definition(value, scope), 4)


def _behind(facts: FileFacts, one: End, depth: int) -> tuple[Definition | None, ...]:
    if not isinstance(one, Definition) or depth <= 0:
        return (None,)
    if one.parts[:1] == (EACH,):
        found = gone_through(facts, one.node, one.scope, one.parts[1:]) if isinstance(one.node, ast.Call) else None
        return (one,) if found is None else _behind(facts, Definition(found[0], one.scope, (EACH, *found[1])), depth)
    if isinstance(one.node, ast.Subscript | ast.Attribute):
        return _behind(facts, Definition(one.node.value, one.scope, (_PICKED, *one.parts)), depth)
    steps = step_back(facts, one) if isinstance(one.node, ast.Name) else None
    return tuple(dict.fromkeys(found for step in steps or (None,) for found in _behind(facts, step, depth - 1)))
