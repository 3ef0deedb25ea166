"""What stands in a node, gone through by torchlint's own ways: the same as by those of `ast`, which are slower."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import torchlint
from torchlint.facts.control.blocks import blocks_of
from torchlint.facts.tree import nodes_in

CODE = sorted((Path(torchlint.__file__).parent / "facts").rglob("*.py"))
COMPOUND = """
match x:
    case [1, *rest] | {"a": 1, **more} if rest > 0:
        pass
    case _:
        y = lambda: 1
try:
    z = 1
except* ValueError as error:
    raise
else:
    z += 2
finally:
    del z
async def f[T](a, /, b: int = 1, *c, d=2, **e) -> T:
    async with a as b, c:
        await b
    async for x in y:
        yield f"{x!r:>{b}}"
    else:
        return [i async for i in a if i and not i]
while (n := g()):
    global h
    continue
type Pair[T] = tuple[T, T]
"""
SHARED = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


def trees() -> list[ast.Module]:
    """torchlint's own code, and each statement of the above that this Python knows."""
    found = [ast.parse(path.read_text(encoding="utf-8")) for path in CODE]
    for part in COMPOUND.replace("\n    ", "\r    ").replace("\nexcept", "\rexcept").split("\n"):
        try:
            found.append(ast.parse(part.replace("\r", "\n")))
        except SyntaxError:
            continue
    return found


@pytest.mark.parametrize("tree", trees(), ids=lambda tree: f"{len(ast.unparse(tree))} characters")
def test_all_nodes_are_gone_through_in_the_order_of_ast(tree: ast.Module) -> None:
    assert list(nodes_in(tree)) == [node for node in ast.walk(tree) if not isinstance(node, SHARED)]


@pytest.mark.parametrize("tree", trees(), ids=lambda tree: f"{len(ast.unparse(tree))} characters")
def test_blocks_are_all_runs_of_statements_in_the_order_of_the_source(tree: ast.Module) -> None:
    holders = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.stmt)]
    below = [statement for node in holders for block in blocks_of(node) for statement in block]
    assert sorted(below, key=id) == sorted(holders[1:], key=id)
    for node in holders:
        lines = [block[0].lineno for block in blocks_of(node)]
        assert lines == sorted(lines)
