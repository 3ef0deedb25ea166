"""Environment variables: who sets which, in whatever kind of file, and which calls start processes that read them."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

import msgspec

from torchlint.diagnostics import Location
from torchlint.facts.file import FileFacts
from torchlint.facts.tree import literal_text, method_called
from torchlint.facts.watch import Watch

_SETTERS = frozenset({"os.environ.setdefault", "os.putenv", "os.environ.__setitem__"})


class EnvironmentWrite(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One place that sets a variable; `value` is None when it is not a literal."""

    name: str
    value: str | None
    location: Location


def environment_writes(facts: FileFacts, variables: frozenset[str]) -> list[EnvironmentWrite]:
    """Every evident write of one of these variables in a Python file or notebook."""
    found = [
        EnvironmentWrite(setting.name, setting.value, facts.source.locate(setting.line, 1, setting.line, 1))
        for setting in facts.source.environment
        if setting.in_process and setting.name in variables
    ]
    if facts.source.mentions(*map(str.lower, variables)):
        for name, value, scope, node in _writes(facts, variables):
            if name in variables:
                found.append(EnvironmentWrite(str(name), facts.value(value, scope).text, facts.locate(node)))
    return found


_Write = tuple[object, ast.expr | None, int, ast.AST]
"""The variable, its value, the scope that value is read in, and the node that sets it."""


def _writes(facts: FileFacts, variables: frozenset[str]) -> Iterator[_Write]:
    for assignment in facts.symbols.assignments:
        target = assignment.target
        if isinstance(target, ast.Subscript):
            keys = facts.value(target.slice, assignment.scope).constants
            yield from ((key, assignment.value, assignment.scope, target) for key in keys)
    for site in facts.symbols.calls:
        call, scope, first = site.node, site.scope, site.node.args[0] if len(site.node.args) > 1 else None
        if isinstance(first, ast.Constant) and first.value in variables:
            if facts.names(call.func, scope).names & _SETTERS:
                yield first.value, call.args[1], scope, call
        elif method_called(call) == "update":
            yield from ((keyword.arg, keyword.value, scope, call) for keyword in call.keywords)
    for node in ast.walk(facts.tree):  # the argument of `environ.update(...)`, or the environment of a child process
        for named, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
            if isinstance(named, ast.Constant) and named.value in variables:
                yield named.value, value, 0, named


def environment_outside_python(shown: str, text: str, variables: frozenset[str]) -> list[EnvironmentWrite]:
    """Writes in a shell script, Dockerfile, Makefile, .env or YAML file: `NAME=value`, `ENV NAME value`, `NAME: value`.

    Comments do not count. `value` is empty when it stands on the next line (`- name: NAME` in Kubernetes YAML).
    """
    found = []
    for match in _outside_python(variables).finditer(text):
        name, before = match["name"], text[: match.start("name")]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        place = Location(shown, None, line, column, line, column + len(name))
        found.append(EnvironmentWrite(name, match["value"] or None, place))
    return found


@functools.cache
def _outside_python(variables: frozenset[str]) -> re.Pattern[str]:
    names = "|".join(map(re.escape, sorted(variables)))
    return re.compile(
        rf"^(?P<indent>[^#\n]*?)\b(?P<name>{names})[\"']?\s*(?:[=:]|\s)\s*[\"']?(?P<value>[^\s\"'#]*)", re.MULTILINE
    )


class ProcessStart(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A call that starts a process, by the code that runs it."""

    symbol: str
    line: int
    """In the joined source."""


def process_starts(facts: FileFacts, watch: Watch) -> Iterator[ProcessStart]:
    """What starts processes; no command that is evidently no Python, such as `git`."""
    for site in facts.calls.find(names=watch.processes.calls_and_commands):
        is_command = facts.names(site.node.func, site.scope).names <= frozenset(watch.processes.commands)
        if not is_command or _program(site.node) not in watch.processes.other_programs:
            yield ProcessStart(facts.symbol_of(site), site.node.lineno)


def _program(call: ast.Call) -> str:
    """The first word of a command: of `["git", "rev-parse"]`, `"git status"` or `f"git clone {url}"`."""
    command: ast.expr | None = call.args[0] if call.args else None
    if isinstance(command, (ast.List, ast.Tuple)) and command.elts:
        command = command.elts[0]
    if isinstance(command, ast.JoinedStr) and command.values:
        command = command.values[0]
    return re.split(r"\s", literal_text(command).strip())[0]
