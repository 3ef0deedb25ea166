"""Who calls whom: from the code of one file to the project's functions and classes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from types import EllipsisType
from typing import TYPE_CHECKING

from torchlint.facts.attributes import attribute_values
from torchlint.facts.control.order import Moment, moment_of
from torchlint.facts.differentiation import is_named_for_data, is_predicted
from torchlint.facts.gradients import gradless_lines, is_cut_off
from torchlint.facts.places import Place, place_of
from torchlint.facts.scopes import ScopeKind
from torchlint.facts.values import Constant

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.names import Names
    from torchlint.facts.scopes import CallSite
    from torchlint.facts.watch import Watch

Argument = Constant | EllipsisType
"""A literal argument; `...` stands for one that is not a literal."""


_IN_WORKERS = ("worker_init_fn", "collate_fn")
"""Arguments that data loaders call in processes of their own, whoever hands them on."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A call of project code from `symbol`, or (`is_reference`) a mention of it that somebody else may call.

    `arguments` are given by position and keyword; `"*"` stands for `*args` and `**kwargs`.
    """

    symbol: str
    callee: str
    arguments: tuple[tuple[int | str, Argument], ...] = ()
    is_reference: bool = False
    starter: str = ""
    """What runs the callee in a fresh interpreter, which has none of the caller's generators."""
    moment: Moment | None = None
    place: Place | None = None
    """Of a call, in a file that starts programs: findings about a program's order stand there."""
    hands_gradients: bool = False
    """Whether gradients are on at a call, and something that it gives may carry one."""
    hands_predictions: bool = False
    """Whether something that it gives is evidently predicted."""


def call_edges(facts: FileFacts, site: CallSite, names: Names, watch: Watch, *, is_placed: bool) -> Iterator[Edge]:
    """The edges of one call; `names` is what it calls.

    A function that is handed to what starts functions, or to code of the project, is called as well.
    """
    symbol = facts.symbol_of(site)
    moment, place = (
        (moment_of(facts, site.statement), place_of(facts, site.node, site.statement)) if is_placed else (None, None)
    )
    callees = list(_project_names(facts, site.node.func, names, site.scope))
    for callee in callees:
        arguments = tuple(_arguments(facts, site.node, site.scope))
        hands = facts.imports_torch and _hands_gradients(facts, site)
        predicted = hands and any(is_predicted(facts, one, site.scope) for one in _given(site.node))
        yield Edge(
            symbol,
            callee,
            arguments,
            moment=moment,
            place=place,
            hands_gradients=hands,
            hands_predictions=predicted,
        )
    is_started = bool(callees) or bool(names.names & watch.starters)
    starter = _fresh_starter(site.node, names, watch)
    in_workers = [keyword.value for keyword in site.node.keywords if keyword.arg in _IN_WORKERS]
    for argument in [*site.node.args, *(keyword.value for keyword in site.node.keywords)]:
        if isinstance(argument, ast.Name | ast.Attribute):
            mentioned = facts.names(argument, site.scope)
            for callee in _project_names(facts, argument, mentioned, site.scope):
                if is_started and argument not in in_workers and _is_function(callee):
                    yield Edge(symbol, callee, (("*", ...),), moment=moment, place=place, starter=starter)
                else:
                    yield Edge(symbol, callee, is_reference=True)


def _fresh_starter(call: ast.Call, names: Names, watch: Watch) -> str:
    """The call as it is written, if it starts fresh interpreters: a start method that is given may be another."""
    is_usual = all(keyword.arg != "start_method" for keyword in call.keywords)
    return ast.unparse(call.func) if names.only in watch.fresh_starters and is_usual else ""


def _is_function(name: str) -> bool:
    """Whether a project name is written as functions are: a class that is handed on need not be called."""
    return not name.rpartition("::")[2].rpartition(".")[2][:1].isupper()


def _hands_gradients(facts: FileFacts, site: CallSite) -> bool:
    if any(a <= site.node.lineno <= b for a, b in facts.once(gradless_lines)):
        return False
    return any(
        not isinstance(one, ast.Constant)
        and not is_cut_off(facts, one, site.scope)
        and not is_named_for_data(facts, one, site.scope)
        for one in _given(site.node)
    )


def _given(call: ast.Call) -> list[ast.expr]:
    given = [one.value if isinstance(one, ast.Starred) else one for one in call.args]
    return given + [keyword.value for keyword in call.keywords]


def group_edges(facts: FileFacts) -> Iterator[Edge]:
    """A command runs its group first."""
    for scope in facts.reading.scopes:
        if scope.kind is ScopeKind.FUNCTION and scope.parent is not None:
            for decorator in scope.node.decorator_list:  # type: ignore[attr-defined]
                for name in sorted(decorator_names(facts, decorator, scope.parent)):
                    if "::" in name and name.endswith((".command", ".group")):
                        yield Edge(scope.qualname, name.rpartition(".")[0])


def decorator_names(facts: FileFacts, decorator: ast.expr, scope: int) -> frozenset[str]:
    """`@app.command()`, where `app = typer.Typer()`, is `typer.Typer.command`."""
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return frozenset(name.replace("()", "") for name in facts.names(function, scope).names)


def base_classes(facts: FileFacts) -> Iterator[tuple[str, str]]:
    """Pairs of a class of this file and a base class, by its full name."""
    for scope in facts.reading.scopes:
        if scope.kind is ScopeKind.CLASS:
            for base in scope.node.bases:  # type: ignore[attr-defined]
                for name in sorted(facts.names(base, scope.parent or 0).names):
                    yield scope.qualname, name


def _project_names(facts: FileFacts, expression: ast.expr, names: Names, scope: int) -> Iterator[str]:
    own = list(_own_method(facts, expression, scope))
    if own:
        yield from own
        return
    for callee in names.callees:
        path, _, qualname = callee.name.partition("::")
        if qualname and not qualname.endswith("()"):
            yield f"{path}::{qualname.replace('()', '')}"


def _own_method(facts: FileFacts, expression: ast.expr, scope: int) -> Iterator[str]:
    """The method of a class itself, its bases or what it keeps: `self.step()`, `super().step()`, `self.net.step()`."""
    if not isinstance(expression, ast.Attribute):
        return
    owner = facts.class_of(scope)
    if owner is None:
        return
    value, qualname = expression.value, facts.reading.scopes[owner].qualname
    for made, where in attribute_values(facts, value, scope) or ():
        for name in sorted(facts.names(made, where).names):
            if "::" in name and name.endswith("()"):
                yield f"{name.removesuffix('()')}.{expression.attr}"
    if isinstance(value, ast.Name) and value.id in ("self", "cls"):
        yield f"{facts.path}::{qualname}.{expression.attr}"
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "super":
        for name, base in facts.once(_bases_by_class):
            if name == qualname and "::" in base:
                yield f"{base}.{expression.attr}"


def _bases_by_class(facts: FileFacts) -> list[tuple[str, str]]:
    return list(base_classes(facts))


def _arguments(facts: FileFacts, call: ast.Call, scope: int) -> Iterator[tuple[int | str, Argument]]:
    for index, argument in enumerate(call.args):
        if isinstance(argument, ast.Starred):
            yield "*", ...
            break
        yield index, _literal(facts, argument, scope)
    for keyword in call.keywords:
        yield keyword.arg or "*", _literal(facts, keyword.value, scope) if keyword.arg else ...


def _literal(facts: FileFacts, expression: ast.expr, scope: int) -> Argument:
    values = facts.value(expression, scope)
    return values.constants[0] if values.is_known and len(values.constants) == 1 else ...
