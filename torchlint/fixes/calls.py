"""The arguments of a call as they are written: one more, another value, one less."""

from __future__ import annotations

import ast

import msgspec

from torchlint.fixes.code import FileCode, Position, end_of, start_of
from torchlint.source.edits import Replacement, insertion


class Argument(msgspec.Struct, frozen=True):
    """One argument, with the brackets around it and the comma behind it."""

    value: ast.expr
    name: str | None
    """Its keyword; empty for `**rest`, None for one by position."""
    start: Position
    end: Position
    comma: Position | None
    """Where the comma behind it ends."""
    value_start: Position


class Arguments(msgspec.Struct, frozen=True):
    """All arguments of a call, in the order of the text."""

    opening: Position
    """Behind the bracket."""
    closing: Position
    """Before the bracket."""
    given: tuple[Argument, ...]

    def named(self, name: str) -> Argument | None:
        """The argument with this keyword."""
        return next((one for one in self.given if one.name == name), None)

    def at(self, position: int) -> Argument | None:
        """The argument at this position, from 0; None also where `*rest` hides it."""
        before = self.given[: position + 1]
        hidden = any(one.name is not None or isinstance(one.value, ast.Starred) for one in before)
        return before[position] if position < len(before) and not hidden else None

    def hides(self, position: int | None) -> bool:
        """Whether `*args` or `**kwargs` may hold an argument."""
        starred = any(isinstance(one.value, ast.Starred) for one in self.given)
        return any(one.name == "" for one in self.given) or (position is not None and starred)


def arguments_of(code: FileCode, call: ast.Call) -> Arguments | None:
    """The arguments; None where they cannot be told apart: in formatted strings, or `f(x for x in y)`."""
    if code.is_in_string(call):
        return None
    tokens = code.tokens(code.end(call.func), code.end(call))
    if not tokens or tokens[-1].string != ")" or end_of(tokens[-1]) != code.end(call):
        return None
    while tokens and tokens[0].string == ")":  # `(f)(x)`
        tokens.pop(0)
    if not tokens or tokens[0].string != "(":
        return None
    opening, closing = end_of(tokens[0]), start_of(tokens[-1])
    values = [*((None, one) for one in call.args), *((one.arg or "", one.value) for one in call.keywords)]
    given = []
    begin = opening
    for name, value in sorted(values, key=lambda pair: code.start(pair[1])):
        argument = _argument(code, name, value, begin, closing)
        if argument is None:
            return None
        given.append(argument)
        begin = argument.comma or closing
    return Arguments(opening, closing, tuple(given))


def _argument(code: FileCode, name: str | None, value: ast.expr, begin: Position, closing: Position) -> Argument | None:
    if code.start(value) < begin:
        return None  # the generator whose brackets are the call's
    before = code.tokens(begin, code.start(value))
    first = start_of(before[0]) if before else code.start(value)
    inner = next((at + 1 for at, token in enumerate(before) if name and token.string == "="), 0)
    value_start = start_of(before[inner]) if inner < len(before) else code.start(value)
    end = code.end(value)
    comma = None
    for token in code.tokens(end, closing):
        if token.string == ",":
            comma = end_of(token)
            break
        end = end_of(token)
    return Argument(value, name, first, end, comma, value_start)


def with_argument(
    code: FileCode, call: ast.Call, name: str, text: str, position: int | None = None
) -> list[Replacement] | None:
    """A call that gives `text` for a parameter, added as a keyword; None where another argument may hide it."""
    arguments = arguments_of(code, call)
    if arguments is None:
        return None
    there = arguments.named(name) or (None if position is None else arguments.at(position))
    if there is not None:
        return [with_value(there, text)]
    if arguments.hides(position) or (position is not None and len(call.args) > position):
        return None
    return added(code, arguments, f"{name}={text}")


def with_value(argument: Argument, text: str) -> Replacement:
    """Another value for an argument that is given."""
    return Replacement(*argument.value_start, *argument.end, text)


def added(code: FileCode, arguments: Arguments, text: str) -> list[Replacement]:
    """One more argument, behind the others; on a line of its own where the last one has one."""
    if not arguments.given:
        return [insertion(*arguments.opening, text)]
    last = arguments.given[-1]
    behind = last.comma or last.end
    line = last.start[0]
    has_own_line = not code.lines[line - 1][: last.start[1] - 1].strip() and arguments.closing[0] > behind[0]
    if not has_own_line:
        return [insertion(*behind, f" {text}" if last.comma else f", {text}")]
    comma = "," if last.comma else ""
    end_of_line = behind[0], len(code.lines[behind[0] - 1]) + 1
    below = insertion(*end_of_line, f"\n{code.indent_of(line)}{text}{comma}")
    return [below] if last.comma else [insertion(*behind, ","), below]


def added_first(arguments: Arguments, text: str) -> Replacement:
    """One more argument, before the others."""
    return insertion(*arguments.opening, f"{text}, " if arguments.given else text)


def dropped(arguments: Arguments, argument: Argument) -> Replacement:
    """A call without one of its arguments, and without the comma that parted it."""
    place = arguments.given.index(argument)
    if place + 1 < len(arguments.given):
        return Replacement(*argument.start, *arguments.given[place + 1].start, "")
    end = argument.comma or argument.end
    if place == 0:
        return Replacement(*argument.start, *end, "")
    before = arguments.given[place - 1]
    return Replacement(*((before.comma or before.end) if argument.comma else before.end), *end, "")
