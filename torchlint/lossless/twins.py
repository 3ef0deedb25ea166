"""Each LibCST node with its `ast` twin: the two trees of one piece of code, walked side by side.

`pairs` gives the children of a node that checks may ask for, in source order, each with its twin. What holds no
expression or statement (whitespace, operators, patterns of `match`, parameters of types) is left out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import libcst as cst

Pairs = Iterator[tuple[cst.CSTNode, ast.AST]]
_ALIKE: dict[type[cst.CSTNode], tuple[tuple[str, str], ...]] = {
    cst.Expr: (("value", "value"),),
    cst.Return: (("value", "value"),),
    cst.Assert: (("test", "test"), ("msg", "msg")),
    cst.AugAssign: (("target", "target"), ("value", "value")),
    cst.TypeAlias: (("value", "value"),),
    cst.Attribute: (("value", "value"),),
    cst.Await: (("expression", "value"),),
    cst.BinaryOperation: (("left", "left"), ("right", "right")),
    cst.UnaryOperation: (("expression", "operand"),),
    cst.IfExp: (("body", "body"), ("test", "test"), ("orelse", "orelse")),
    cst.NamedExpr: (("target", "target"), ("value", "value")),
    cst.Slice: (("lower", "lower"), ("upper", "upper"), ("step", "step")),
    cst.StarredElement: (("value", "value"),),
}
"""Nodes whose children are single ones on both sides: their names there and here."""


def pairs(node: Any, twin: Any) -> Pairs:  # noqa: ANN401 - one of two dozen types, which the tables below tell apart
    """The children of a node, each with its twin."""
    alike = _ALIKE.get(type(node))
    if alike is not None:
        for name, twins_name in alike:
            child = getattr(node, name)
            if child is not None:
                yield child, getattr(twin, twins_name)
        return
    others = _OTHERS.get(type(node))
    if others is not None:
        yield from others(node, twin)


def block(statements: Iterable[cst.CSTNode], twins: Sequence[ast.stmt]) -> Pairs:
    """The statements of a block: LibCST groups the simple ones by line, `ast` does not."""
    yield from zip(_single(statements), twins, strict=True)


def _single(statements: Iterable[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    for statement in statements:
        if isinstance(statement, cst.SimpleStatementLine):
            yield from statement.body
        else:
            yield statement


# -- statements -----------------------------------------------------------------------------------------------------


def _assign(node: cst.Assign, twin: ast.Assign) -> Pairs:
    for target, its_twin in zip(node.targets, twin.targets, strict=True):
        yield target.target, its_twin
    yield node.value, twin.value


def _annotated(node: cst.AnnAssign, twin: ast.AnnAssign) -> Pairs:
    yield node.target, twin.target
    yield node.annotation.annotation, twin.annotation
    if node.value is not None and twin.value is not None:
        yield node.value, twin.value


def _delete(node: cst.Del, twin: ast.Delete) -> Pairs:
    if isinstance(node.target, cst.Tuple) and not node.target.lpar:
        yield from _elements(node.target, ast.Tuple(twin.targets))
    else:
        yield node.target, twin.targets[0]


def _raise(node: cst.Raise, twin: ast.Raise) -> Pairs:
    if node.exc is not None and twin.exc is not None:
        yield node.exc, twin.exc
    if node.cause is not None and twin.cause is not None:
        yield node.cause.item, twin.cause


def _if(node: cst.If, twin: ast.If) -> Pairs:
    yield node.test, twin.test
    yield from block(node.body.body, twin.body)
    if isinstance(node.orelse, cst.If):
        yield node.orelse, twin.orelse[0]
    elif node.orelse is not None:
        yield from block(node.orelse.body.body, twin.orelse)


def _while(node: cst.While, twin: ast.While) -> Pairs:
    yield node.test, twin.test
    yield from _body_and_else(node, twin)


def _for(node: cst.For, twin: ast.For) -> Pairs:
    yield node.target, twin.target
    yield node.iter, twin.iter
    yield from _body_and_else(node, twin)


def _body_and_else(node: cst.For | cst.While, twin: ast.For | ast.While) -> Pairs:
    yield from block(node.body.body, twin.body)
    if node.orelse is not None:
        yield from block(node.orelse.body.body, twin.orelse)


def _with(node: cst.With, twin: ast.With) -> Pairs:
    for item, its_twin in zip(node.items, twin.items, strict=True):
        yield item.item, its_twin.context_expr
        if item.asname is not None and its_twin.optional_vars is not None:
            yield item.asname.name, its_twin.optional_vars
    yield from block(node.body.body, twin.body)


def _try(node: cst.Try | cst.TryStar, twin: ast.Try) -> Pairs:
    yield from block(node.body.body, twin.body)
    yield from zip(node.handlers, twin.handlers, strict=True)
    if node.orelse is not None:
        yield from block(node.orelse.body.body, twin.orelse)
    if node.finalbody is not None:
        yield from block(node.finalbody.body.body, twin.finalbody)


def _handler(node: cst.ExceptHandler | cst.ExceptStarHandler, twin: ast.ExceptHandler) -> Pairs:
    if node.type is not None and twin.type is not None:
        yield node.type, twin.type
    yield from block(node.body.body, twin.body)


def _match(node: cst.Match, twin: ast.Match) -> Pairs:
    yield node.subject, twin.subject
    yield from zip(node.cases, twin.cases, strict=True)


def _case(node: cst.MatchCase, twin: ast.match_case) -> Pairs:
    if node.guard is not None and twin.guard is not None:
        yield node.guard, twin.guard
    yield from block(node.body.body, twin.body)


def _function(node: cst.FunctionDef, twin: ast.FunctionDef) -> Pairs:
    for decorator, its_twin in zip(node.decorators, twin.decorator_list, strict=True):
        yield decorator.decorator, its_twin
    yield from _parameters(node.params, twin.args)
    if node.returns is not None and twin.returns is not None:
        yield node.returns.annotation, twin.returns
    yield from block(node.body.body, twin.body)


def _parameters(node: cst.Parameters, twin: ast.arguments) -> Pairs:
    positional = [*twin.posonlyargs, *twin.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(twin.defaults))
    defaults = [*missing, *twin.defaults]
    for parameter, argument, default in zip([*node.posonly_params, *node.params], positional, defaults, strict=True):
        yield from _parameter(parameter, argument, default)
    if isinstance(node.star_arg, cst.Param):
        yield from _parameter(node.star_arg, twin.vararg, None)
    for parameter, argument, default in zip(node.kwonly_params, twin.kwonlyargs, twin.kw_defaults, strict=True):
        yield from _parameter(parameter, argument, default)
    if node.star_kwarg is not None:
        yield from _parameter(node.star_kwarg, twin.kwarg, None)


def _parameter(node: cst.Param, twin: ast.arg | None, default: ast.expr | None) -> Pairs:
    if node.annotation is not None and twin is not None and twin.annotation is not None:
        yield node.annotation.annotation, twin.annotation
    if node.default is not None and default is not None:
        yield node.default, default


def _class(node: cst.ClassDef, twin: ast.ClassDef) -> Pairs:
    for decorator, its_twin in zip(node.decorators, twin.decorator_list, strict=True):
        yield decorator.decorator, its_twin
    yield from _arguments([*node.bases, *node.keywords], twin.bases, twin.keywords)
    yield from block(node.body.body, twin.body)


# -- expressions ----------------------------------------------------------------------------------------------------


def _call(node: cst.Call, twin: ast.Call) -> Pairs:
    yield node.func, twin.func
    yield from _arguments(node.args, twin.args, twin.keywords)


def _arguments(arguments: Sequence[cst.Arg], positional: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> Pairs:
    """`f(a=1, *rest)` has a keyword before a positional one, which `ast` keeps apart."""
    values, named = iter(positional), iter(keywords)
    for argument in arguments:
        if argument.keyword is not None or argument.star == "**":
            yield argument.value, next(named).value
        else:
            value = next(values)
            yield argument.value, value.value if isinstance(value, ast.Starred) else value


def _lambda(node: cst.Lambda, twin: ast.Lambda) -> Pairs:
    yield from _parameters(node.params, twin.args)
    yield node.body, twin.body


def _elements(node: cst.Tuple | cst.List | cst.Set, twin: ast.Tuple | ast.List | ast.Set) -> Pairs:
    for element, its_twin in zip(node.elements, twin.elts, strict=True):
        yield element if isinstance(element, cst.StarredElement) else element.value, its_twin


def _dict(node: cst.Dict, twin: ast.Dict) -> Pairs:
    for element, key, value in zip(node.elements, twin.keys, twin.values, strict=True):
        if isinstance(element, cst.DictElement) and key is not None:
            yield element.key, key
        yield element.value, value


def _comprehension(node: cst.ListComp | cst.SetComp | cst.GeneratorExp, twin: ast.ListComp) -> Pairs:
    yield node.elt, twin.elt
    yield from _generators(node.for_in, twin.generators)


def _dict_comprehension(node: cst.DictComp, twin: ast.DictComp) -> Pairs:
    yield node.key, twin.key
    yield node.value, twin.value
    yield from _generators(node.for_in, twin.generators)


def _generators(node: cst.CompFor | None, twins: Sequence[ast.comprehension]) -> Pairs:
    for twin in twins:
        assert node is not None
        yield node.target, twin.target
        yield node.iter, twin.iter
        for condition, its_twin in zip(node.ifs, twin.ifs, strict=True):
            yield condition.test, its_twin
        node = node.inner_for_in


def _boolean(node: cst.BooleanOperation, twin: ast.BoolOp) -> Pairs:
    """`a and b and c` is one operation to `ast`, two to LibCST."""
    left = node.left
    is_flat = isinstance(left, cst.BooleanOperation) and not left.lpar and type(left.operator) is type(node.operator)
    if is_flat:
        yield from _boolean(left, ast.BoolOp(twin.op, twin.values[:-1]))  # type: ignore[arg-type]
    else:
        yield left, twin.values[0]
    yield node.right, twin.values[-1]


def _comparison(node: cst.Comparison, twin: ast.Compare) -> Pairs:
    yield node.left, twin.left
    for compared, its_twin in zip(node.comparisons, twin.comparators, strict=True):
        yield compared.comparator, its_twin


def _yield(node: cst.Yield, twin: ast.Yield | ast.YieldFrom) -> Pairs:
    if node.value is not None and twin.value is not None:
        yield node.value.item if isinstance(node.value, cst.From) else node.value, twin.value


def _subscript(node: cst.Subscript, twin: ast.Subscript) -> Pairs:
    yield node.value, twin.value
    parts = node.slice
    is_tuple = len(parts) > 1 or isinstance(parts[0].comma, cst.Comma)
    twins = twin.slice.elts if is_tuple and isinstance(twin.slice, ast.Tuple) else [twin.slice]
    for part, its_twin in zip(parts, twins, strict=True):
        yield part.slice.value if isinstance(part.slice, cst.Index) else part.slice, its_twin


def _formatted(node: Any, twin: ast.JoinedStr) -> Pairs:  # noqa: ANN401 - of t-strings too, which not every LibCST has
    """The expressions inside f-strings; neighbours of a string are one to `ast`."""
    values = [value for value in getattr(twin, "values", ()) if not isinstance(value, ast.Constant)]
    for replaced, value in zip(_replaced(node), values, strict=True):
        yield replaced.expression, value.value
        if replaced.format_spec is not None:
            specified = [part for part in value.format_spec.values if not isinstance(part, ast.Constant)]
            for part, its_twin in zip(_with_expressions(replaced.format_spec), specified, strict=True):
                yield part.expression, its_twin.value


def _replaced(node: Any) -> Iterator[Any]:  # noqa: ANN401
    if isinstance(node, cst.ConcatenatedString):
        yield from _replaced(node.left)
        yield from _replaced(node.right)
    else:
        yield from _with_expressions(getattr(node, "parts", ()))


def _with_expressions(parts: Iterable[Any]) -> Iterator[Any]:
    return (part for part in parts if hasattr(part, "expression"))


_OTHERS: dict[type[cst.CSTNode], Callable[[Any, Any], Pairs]] = {
    cst.Assign: _assign,
    cst.AnnAssign: _annotated,
    cst.Del: _delete,
    cst.Raise: _raise,
    cst.If: _if,
    cst.While: _while,
    cst.For: _for,
    cst.With: _with,
    cst.Try: _try,
    cst.TryStar: _try,
    cst.ExceptHandler: _handler,
    cst.ExceptStarHandler: _handler,
    cst.Match: _match,
    cst.MatchCase: _case,
    cst.FunctionDef: _function,
    cst.ClassDef: _class,
    cst.Call: _call,
    cst.Lambda: _lambda,
    **dict.fromkeys((cst.Tuple, cst.List, cst.Set), _elements),
    cst.Dict: _dict,
    **dict.fromkeys((cst.ListComp, cst.SetComp, cst.GeneratorExp), _comprehension),
    cst.DictComp: _dict_comprehension,
    cst.BooleanOperation: _boolean,
    cst.Comparison: _comparison,
    cst.Yield: _yield,
    cst.Subscript: _subscript,
    cst.FormattedString: _formatted,
    cst.ConcatenatedString: _formatted,
}
if hasattr(cst, "TemplatedString"):
    _OTHERS[cst.TemplatedString] = _formatted
