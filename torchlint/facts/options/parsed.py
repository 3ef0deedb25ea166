"""What becomes of the options that `argparse` parses: whether any code reads one of them."""

from __future__ import annotations

import ast
import enum
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torchlint.facts.flow.recording import is_recorded
from torchlint.facts.options.escapes import Carrier, Follower
from torchlint.facts.scopes import BindingKind, Scope

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


class Role(enum.Enum):
    """What a followed object is."""

    PARSER = "parser"
    OPTIONS = "options"


_PARSING: dict[str, tuple[int, ...]] = {
    "parse_args": (),
    "parse_intermixed_args": (),
    "parse_known_args": (0,),
    "parse_known_intermixed_args": (0,),
}
"""Each with the place of the options in what it returns."""
_PARTS = frozenset({"add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "add_parser"})
"""Methods of a parser that give something to add options to."""
_HARMLESS = frozenset(
    {
        *("add_argument", "set_defaults", "get_default", "error", "exit", "print_help", "print_usage", "format_help"),
        *("format_usage", "description", "prog", "epilog", "usage", "required", "title"),
    }
)
_BY_NAME = frozenset({"builtins.getattr", "builtins.hasattr", "builtins.setattr", "builtins.delattr"})


@dataclass(slots=True)
class OptionFollower(Follower):
    """Follows a parser and its options. `option` is the attribute that somebody may read."""

    option: str = ""
    parsed: list[ast.Call] = field(default_factory=list)
    """The calls that parse."""
    asked: set[tuple[int, str]] = field(default_factory=set)
    """Names whose parsers were looked up: bound to each other in many branches, they are walked once."""

    def used(self, found: Carrier, parent: ast.AST) -> list[Carrier] | None:
        if isinstance(parent, ast.Attribute):
            return self._parser_member(found, parent) if found.role is Role.PARSER else self._option(parent)
        if isinstance(parent, ast.Compare):
            return [] if self._is_other_name(parent.left) else None
        is_argument = isinstance(parent, ast.Call) and parent.func is not found.node
        if is_argument and found.role is Role.OPTIONS and self._is_asked_by_name(parent):  # type: ignore[arg-type]
            return [] if self._is_other_name(parent.args[1]) else None  # type: ignore[attr-defined]
        return [] if is_recorded(self.facts, found.node) else None

    def _parser_member(self, found: Carrier, member: ast.Attribute) -> list[Carrier] | None:
        call = self.tree.parents[member]
        if not isinstance(call, ast.Call) or call.func is not member:
            return [] if member.attr in _HARMLESS else None
        if member.attr in _PARSING:
            if len(call.args) > 1 or any(keyword.arg != "args" for keyword in call.keywords):
                return None  # into an object that exists already
            self.parsed.append(call)
            return [Carrier(call, Role.OPTIONS, _PARSING[member.attr])]
        if member.attr in _PARTS:
            return [found.at(call)]
        return [] if member.attr in _HARMLESS else None

    def _option(self, member: ast.Attribute) -> list[Carrier] | None:
        if member.attr == self.option:
            return None
        return [] if not member.attr.startswith("_") or is_recorded(self.facts, member) else None

    def _is_asked_by_name(self, call: ast.Call) -> bool:
        """`getattr(args, "epochs")`."""
        return len(call.args) > 1 and self.facts.names(call.func, self.tree.scope_of(call)).only in _BY_NAME

    def _is_other_name(self, name: ast.expr) -> bool:
        """A string that names something else than the option: `"lr"`, `f"{split}_files"`."""
        if isinstance(name, ast.JoinedStr):
            parts = [re.escape(str(one.value)) if isinstance(one, ast.Constant) else ".*" for one in name.values]
            return re.fullmatch("".join(parts), self.option) is None
        return isinstance(name, ast.Constant) and isinstance(name.value, str) and name.value != self.option


def is_unread(facts: FileFacts, parser: ast.expr, scope: int, option: str) -> OptionFollower | None:
    """Who followed an option that `parser` parses and found no code that reads it; None where that is not sure."""
    follower = OptionFollower(facts, option=option)
    made = _parsers(follower, parser, scope)
    if not made or not follower.keeps(Carrier(call, Role.PARSER) for call in made):
        return None
    return follower if follower.parsed else None


def _parsers(follower: OptionFollower, expression: ast.expr, scope: int) -> list[ast.Call] | None:
    """The calls that made the parser that `expression` is or belongs to; None where one is not known."""
    facts = follower.facts
    if isinstance(expression, ast.Call):
        if facts.names(expression.func, scope).only == "argparse.ArgumentParser":
            return [expression]
        made = expression.func
        is_part = isinstance(made, ast.Attribute) and made.attr in _PARTS
        return _parsers(follower, made.value, scope) if is_part else None  # type: ignore[attr-defined]
    owner = facts.resolver.owner(expression.id, scope) if isinstance(expression, ast.Name) else None
    if owner is None or not isinstance(expression, ast.Name):
        return None
    if (owner.index, expression.id) in follower.asked:
        return []
    follower.asked.add((owner.index, expression.id))
    found: list[ast.Call] = []
    for binding in owner.bindings[expression.id]:
        if binding.kind is BindingKind.ASSIGN and binding.value is not None:
            some = _parsers(follower, binding.value, binding.scope)
        else:
            is_parameter = binding.kind is BindingKind.PARAMETER
            some = _of_callers(follower, owner, expression.id) if is_parameter else None
        if some is None:
            return None
        found += some
    return found


def _of_callers(follower: OptionFollower, function: Scope, parameter: str) -> list[ast.Call] | None:
    found: list[ast.Call] = []
    for given in follower.arguments_for(function, parameter) or [None]:
        some = None if given is None else _parsers(follower, given, follower.tree.scope_of(given))
        if some is None:
            return None
        found += some
    return found
