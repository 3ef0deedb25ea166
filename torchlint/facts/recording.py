"""What only writes something down: printing and logging an object is no use of what it holds."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.expression_tree import ExpressionTree

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_RECORDERS = frozenset({"builtins.print", "pprint.pprint", "rich.print", "json.dump", "yaml.dump", "yaml.safe_dump"})
_DESCRIBING = frozenset(
    {
        *("builtins.vars", "builtins.str", "builtins.repr", "builtins.dict", "pprint.pformat"),
        *("json.dumps", "yaml.dump", "yaml.safe_dump"),
    }
)
_LOGGING = frozenset({"debug", "info", "warning", "warn", "error", "log", "add_text"})
_TEXT = (ast.keyword, ast.FormattedValue, ast.JoinedStr, ast.BinOp, ast.Dict, ast.Tuple, ast.List)


def is_recorded(facts: FileFacts, node: ast.expr) -> bool:
    """Whether a value ends in a call that prints or logs it, as it is or described."""
    tree = facts.once(ExpressionTree)
    below: ast.AST = node
    while True:
        above = tree.parents[below]
        if isinstance(above, ast.Call):
            name = facts.names(above.func, tree.scope_of(above)).only or ""
            if above.func is not below and (name in _RECORDERS or _logs(above, name)):
                return True
            if above.func is not below and name not in _DESCRIBING and not _formats(above):
                return False
        elif not isinstance(above, _TEXT) and not (isinstance(above, ast.Attribute) and above.attr.startswith("_")):
            return False
        below = above


def _logs(call: ast.Call, name: str) -> bool:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _LOGGING or "::" in name:
        return False
    return not (isinstance(call.func.value, ast.Name) and call.func.value.id in ("self", "cls"))


def _formats(call: ast.Call) -> bool:
    """`"options: {}".format(args)`."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "format"
