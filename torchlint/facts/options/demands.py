"""What an option, or a parameter, has to be for code to run: `if args.deterministic:`, `if seed is not None:`."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from torchlint.facts.constants import UNKNOWN
from torchlint.facts.control.conditions import decisions
from torchlint.facts.definitions import only_end
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Definition, Parameter, Through
from torchlint.facts.memoizing import memoized
from torchlint.facts.options.declared import held_default
from torchlint.facts.scopes import BindingKind
from torchlint.facts.tree import method_called
from torchlint.facts.values import Constant

_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], object]] = {
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
}
_TRUTH = ""


class Demand(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One test of an option or of a parameter, and the answer by which something runs."""

    name: str
    function: str = ""
    """The function whose parameter it is; empty for an option."""
    default: tuple[Constant, ...] = ()
    """Of an option, where the reading itself says it: `getattr(args, "deterministic", False)`."""
    settled: tuple[Constant, ...] = ()
    """What the file itself gives the name, which then is neither: `DEBUG = False`, `random_seed = 0`."""
    compared: str = _TRUTH
    """How it is compared, as the class of `ast` is called; empty where its truth is asked."""
    value: Constant = None
    answer: bool = True

    @property
    def denied(self) -> Demand:
        """The same test with the other answer."""
        return replace(self, answer=not self.answer)

    def is_met_by(self, given: object) -> bool | None:
        """Whether this value lets it run; None for a value that cannot be compared."""
        if self.compared == _TRUTH:
            return bool(given) is self.answer
        try:
            return bool(_OPERATORS[self.compared](given, self.value)) is self.answer
        except TypeError:
            return None


_OPERATORS = {kind.__name__: compare for kind, compare in _COMPARED.items()}


def demands_on(facts: FileFacts, statement: ast.stmt, scope: int) -> tuple[Demand, ...]:
    """All that has to be so for a statement to run, as far as it asks options and parameters one by one."""
    found = [_tested(facts, decision.test, scope, answer) for decision, answer in decisions(facts, statement)]
    return tuple(dict.fromkeys(one for demands in found for one in demands)) if found else ()


@memoized
def _tested(facts: FileFacts, test: ast.expr, scope: int, answer: bool) -> tuple[Demand, ...]:  # noqa: FBT001 - a key
    """What one test demands: all that stands under it asks."""
    return tuple(_of_test(facts, test, scope, answer=answer))


def demand_of(facts: FileFacts, expression: ast.expr | None, scope: int) -> Demand | None:
    """What has to be so for an expression to be true, where that is one such question and nothing else."""
    if expression is None or isinstance(expression, (ast.BoolOp, ast.Constant)):
        return None
    return next(_of_test(facts, expression, scope, answer=True), None)


def of_argument(facts: FileFacts, demand: Demand, given: ast.expr, scope: int) -> Demand | None:
    """What a demand on a parameter is for a caller that hands an option, its opposite, or a parameter on."""
    asked = demand_of(facts, given, scope)
    if asked is None or asked.compared != _TRUTH:
        return None
    if asked.answer:
        return replace(asked, compared=demand.compared, value=demand.value, answer=demand.answer)
    return replace(asked, answer=not demand.answer) if demand.compared == _TRUTH else None


def default_of(facts: FileFacts, function: int, parameter: str) -> tuple[Constant, ...]:
    """The default of a parameter, of `typer.Option(False)` as well; nothing where it has none, or none is seen."""
    bindings = facts.symbols.scopes[function].bindings.get(parameter, [])
    default = bindings[0].value if len(bindings) == 1 and bindings[0].kind is BindingKind.PARAMETER else None
    if default is None:
        return ()
    scope = bindings[0].scope
    return facts.value(default, scope).constants or held_default(facts, default, scope)


def _of_test(facts: FileFacts, test: ast.expr, scope: int, *, answer: bool) -> Iterator[Demand]:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _of_test(facts, test.operand, scope, answer=not answer)
    elif isinstance(test, ast.BoolOp):
        for part in test.values if isinstance(test.op, ast.And) is answer else ():
            yield from _of_test(facts, part, scope, answer=answer)
    elif isinstance(test, ast.Compare):
        compared = test.comparators[0]
        is_simple = len(test.ops) == 1 and isinstance(compared, (ast.Constant, ast.UnaryOp))
        value = facts.value(compared, scope)
        if is_simple and type(test.ops[0]) in _COMPARED and len(value.constants) == 1:
            asked = _asked(facts, test.left, scope)
            kind = type(test.ops[0]).__name__
            yield from () if asked is None else [replace(asked, compared=kind, value=value.constants[0], answer=answer)]
    else:
        asked = _asked(facts, test, scope)
        yield from () if asked is None else [replace(asked, answer=answer)]


def _asked(facts: FileFacts, read: ast.expr, scope: int) -> Demand | None:
    """The option or parameter that an expression reads: `args.seed`, `cfg["seed"]`, `getattr(args, "seed", None)`."""
    parameter = facts.parameter_named(read, scope)
    function = facts.function_of(scope)
    if parameter is not None and function is not None:
        return Demand(parameter, facts.symbols.scopes[function].qualname)
    only = only_end(facts, read, scope, Through.NOTHING)
    if isinstance(only, Parameter):  # that a name, or an attribute of `self`, keeps
        return None if only.parts else Demand(only.name, facts.symbols.scopes[only.function].qualname)
    value, scope = (only.node, only.scope) if isinstance(only, Definition) and not only.parts else (None, scope)
    if isinstance(value, ast.Attribute):
        return Demand(value.attr)
    if isinstance(value, ast.Subscript):
        key = facts.value(value.slice, scope).only(str)
        return None if key is None else Demand(key)
    if isinstance(value, ast.Call):
        return _by_call(facts, value, scope)
    # A name that has one value in all the file, or `if False:` itself.
    values = facts.value(read, scope) if isinstance(read, (ast.Name, ast.Constant)) else UNKNOWN
    is_one = values.is_known and len(values.constants) == 1
    return Demand(ast.unparse(read), settled=values.constants) if is_one else None


def _by_call(facts: FileFacts, call: ast.Call, scope: int) -> Demand | None:
    """`args.get("seed", 1)`, `getattr(args, "seed", None)`, `bool(args.seed)`."""
    given = call.args
    if isinstance(call.func, ast.Name):
        name = facts.names(call.func, scope).only
        if name == "builtins.bool" and len(given) == 1:
            return _asked(facts, given[0], scope)
        given = given[1:] if name == "builtins.getattr" else []
    elif method_called(call) != "get":
        given = []
    key = facts.value(given[0], scope).only(str) if given else None
    default = facts.value(given[1], scope).constants if len(given) > 1 else ()
    return None if key is None else Demand(key, default=default)
