"""Options of the command line, as `argparse` declares them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torchlint.facts.control.conditions import decisions
from torchlint.facts.values import Constant, argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.scopes import CallSite

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


def option_defaults(facts: FileFacts, attribute: str) -> tuple[Constant, ...]:
    """What `args.attribute` is when nobody gives the option; empty where the file declares none of that name."""
    return facts.once(_defaults).get(attribute, ())


def option_asked(facts: FileFacts, statement: ast.stmt) -> str:
    """The option whose default keeps a statement from running, as in `if args.seed is not None:`; else empty."""
    for decision, answer in decisions(facts, statement):
        asked = [node for node in ast.walk(decision.test) if isinstance(node, ast.Attribute)]
        defaults = option_defaults(facts, asked[0].attr) if len(asked) == 1 else ()
        if len(defaults) == 1 and _comes_to(decision.test, defaults[0]) is (not answer):
            return asked[0].attr
    return ""


def _comes_to(test: ast.expr, value: Constant) -> bool | None:
    """What a test of a single attribute comes to where that has a value; None for a test of another form."""
    if isinstance(test, ast.Attribute):
        return bool(value)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _comes_to(test.operand, value)
        return None if inner is None else not inner
    is_simple = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Attribute)
    if not is_simple or not isinstance(test, ast.Compare):
        return None
    compared = _COMPARED.get(type(test.ops[0]))
    try:
        return None if compared is None else bool(compared(value, ast.literal_eval(test.comparators[0])))
    except (TypeError, ValueError):
        return None  # a value that has no such order, or is no literal


def _defaults(facts: FileFacts) -> dict[str, tuple[Constant, ...]]:
    found: dict[str, tuple[Constant, ...]] = {}
    for site in facts.reading.calls:
        if not isinstance(site.node.func, ast.Attribute) or site.node.func.attr != "add_argument":
            continue
        flags = [a.value for a in site.node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        long = next((flag for flag in flags if flag.startswith("--") or len(flag) > len("-s")), None)
        default = argument_of(site.node, "default", None)
        if long is not None:
            found[long.lstrip("-").replace("-", "_")] = _default(facts, site, default)
    return found


def _default(facts: FileFacts, site: CallSite, default: ast.expr | None) -> tuple[Constant, ...]:
    if default is not None:
        return facts.value(default, site.scope).constants
    is_plain = not {keyword.arg for keyword in site.node.keywords} & {"action", "required", "nargs", None}
    return (None,) if is_plain else ()
