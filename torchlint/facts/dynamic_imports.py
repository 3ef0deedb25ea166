"""Modules that are imported by a text that is worked out: `importlib.import_module("models." + name + "_model")`."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from torchlint.facts.full_names import UNKNOWN, Callee, Names
from torchlint.facts.scopes import BindingKind
from torchlint.facts.tree import is_method_call

if TYPE_CHECKING:
    from torchlint.facts.names import Resolver

IMPORTING = frozenset({"importlib.import_module", "builtins.__import__"})
_ANY = r"[\w.]*"
_DEPTH = 4
_MOST = 60
"""Modules that one may be; of more, none is meant."""
_FIELD = re.compile(r"%\w|\{[^{}]*\}")


def imported_by_text(resolver: Resolver, call: ast.Call, scope: int) -> Names:
    """The modules of the project that the text may name; which of them it is, is not known."""
    written = pattern_of(resolver, call.args[0], scope)
    if not says_any(written):
        return UNKNOWN  # any module at all
    found = resolver.modules.matching(written, resolver.path)
    return Names(tuple(Callee(f"{path}::") for path in found), complete=False) if len(found) <= _MOST else UNKNOWN


def says_any(written: str) -> bool:
    """Whether such an expression has a word of its own: what matches it is meant, not only there by chance."""
    return re.search(r"\w", written.replace(_ANY, "")) is not None


def pattern_of(resolver: Resolver, text: ast.expr, scope: int, depth: int = _DEPTH) -> str:
    """A regular expression for what a text may be."""
    if isinstance(text, ast.Constant):
        return re.escape(str(text.value))
    if isinstance(text, ast.JoinedStr):
        return "".join(pattern_of(resolver, part, scope, depth) for part in text.values)
    if isinstance(text, ast.BinOp) and isinstance(text.op, ast.Add):
        return "".join(pattern_of(resolver, side, scope, depth) for side in (text.left, text.right))
    template = text.left if isinstance(text, ast.BinOp) and isinstance(text.op, ast.Mod) else None
    if isinstance(text, ast.Call) and isinstance(text.func, ast.Attribute) and text.func.attr == "format":
        template = text.func.value
    if isinstance(template, ast.Constant):
        return _ANY.join(map(re.escape, _FIELD.split(str(template.value))))
    if isinstance(text, ast.Name) and depth:
        owner = resolver.owner(text.id, scope)
        bound = owner.bindings[text.id] if owner is not None else []
        if len(bound) == 1 and bound[0].kind is BindingKind.ASSIGN and bound[0].value is not None:
            return pattern_of(resolver, bound[0].value, bound[0].scope, depth - 1)
    return _default_of(resolver, text.attr) or _ANY if isinstance(text, ast.Attribute) else _ANY


def _default_of(resolver: Resolver, option: str) -> str:
    """A regular expression for what an option is where it is not given: `add_argument("--model", default="small")`."""
    for site in resolver.symbols.calls:
        flag = site.node.args[0] if is_method_call(site.node, "add_argument") and site.node.args else None
        if isinstance(flag, ast.Constant) and str(flag.value).lstrip("-").replace("-", "_") == option:
            given = (one.value for one in site.node.keywords if one.arg == "default")
            return next(
                (re.escape(one.value) for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)),
                "",
            )
    return ""
