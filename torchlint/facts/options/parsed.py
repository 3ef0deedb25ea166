"""What becomes of the options that `argparse` parses: whether any code reads one of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from torchlint.facts.calls import callers
from torchlint.facts.definitions import definitions_of
from torchlint.facts.ends import Definition, Parameter, Through
from torchlint.facts.flow.containment import lost
from torchlint.facts.flow.stores import symbol_of
from torchlint.facts.flow.tracker import Sink
from torchlint.facts.flow.values import Exit, Given, Item, Move, Others, Value
from torchlint.facts.options.settings import SettingsAnalysis
from torchlint.facts.tree import is_method_call

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

PARSER = "the parser"
"""The label of what still parses; that of options is empty."""
_PARSING = {
    "parse_args": False,
    "parse_intermixed_args": False,
    "parse_known_args": True,
    "parse_known_intermixed_args": True,
}
"""Each with whether it gives the options beside what is left."""
_PARTS = frozenset({"add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "add_parser"})
"""Methods of a parser that give something to add options to."""
_HARMLESS = frozenset(
    {
        *("add_argument", "set_defaults", "get_default", "error", "exit", "print_help", "print_usage", "format_help"),
        *("format_usage", "description", "prog", "epilog", "usage", "required", "title"),
    }
)


class OptionsAnalysis(SettingsAnalysis):
    """Follows a parser, and the options that it parses."""

    def __init__(self, facts: FileFacts, option: str) -> None:
        super().__init__(facts, (option,), have_methods=False)
        self.parsed: list[ast.Call] = []
        """The calls that parse."""

    def beyond(self, move: Move) -> Iterator[Move | Sink]:
        """Who else calls a function that adds options to a parser has these options as well."""
        if isinstance(move, Given) and move.value.label == PARSER:
            yield Exit(symbol_of(self.facts, move.function), Others(), (), PARSER)
        yield from super().beyond(move)

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        member = self.facts.index.parents[value.node]
        if value.label != PARSER:
            return super().steps(value)
        return self._parser_member(value, member) if isinstance(member, ast.Attribute) else self.passes(value)

    def _parser_member(self, value: Value, member: ast.Attribute) -> Iterable[Move | Sink]:
        call = self.facts.index.parents[member]
        if isinstance(call, ast.Call) and call.func is member:
            if member.attr in _PARTS:
                return [value.at(call)]
            if member.attr in _PARSING:
                if len(call.args) > 1 or any(keyword.arg != "args" for keyword in call.keywords):
                    return [lost(call)]  # into an object that exists already
                self.parsed.append(call)
                options = replace(value, node=call, label="")
                return options.inside(Item(0), call) if _PARSING[member.attr] else [options]
        return [] if member.attr in _HARMLESS else [lost(member)]


def parsers_of(facts: FileFacts, expression: ast.expr, scope: int) -> list[ast.Call] | None:
    """The calls that made the parser that `expression` is or belongs to; None where one is not known."""
    found: dict[ast.Call, None] = {}
    waiting, seen = [(expression, scope)], set[ast.expr]()
    while waiting:
        one, where = waiting.pop()
        for end in definitions_of(facts, one, where, Through.PARAMETERS):
            if isinstance(end, Parameter) and callers(facts, end.function):
                continue
            made = end.node if isinstance(end, Definition) and not end.parts else None
            if not isinstance(end, Definition) or not isinstance(made, ast.Call):
                return None
            if facts.names(made.func, end.scope).only == "argparse.ArgumentParser":
                found[made] = None
            elif not is_method_call(made, *_PARTS):
                return None
            elif made not in seen:
                seen.add(made)
                waiting.append((made.func.value, end.scope))
    return list(found)
