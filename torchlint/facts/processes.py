"""Calls that start other processes which may be Python: these do read what the program wrote into its environment."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from torchlint.catalogue.programs import ProcessStarters
    from torchlint.facts.file import FileFacts


class ProcessStart(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A call that starts a process, by the code that runs it."""

    symbol: str
    line: int
    """In the joined source."""


def process_starts(facts: FileFacts, starters: ProcessStarters) -> Iterator[ProcessStart]:
    """What starts processes; no command that is evidently no Python, such as `git`."""
    for site in facts.calls.find(names=starters.calls_and_commands):
        is_command = facts.names(site.node.func, site.scope).names <= frozenset(starters.commands)
        if not is_command or _program(site.node) not in starters.other_programs:
            yield ProcessStart(facts.symbol_of(site), site.node.lineno)


def _program(call: ast.Call) -> str | None:
    """The first word of a command: of `["git", "rev-parse"]`, `"git status"` or `f"git clone {url}"`."""
    command: ast.expr | None = call.args[0] if call.args else None
    if isinstance(command, ast.List | ast.Tuple) and command.elts:
        command = command.elts[0]
    if isinstance(command, ast.JoinedStr) and command.values:
        command = command.values[0]
    text = command.value if isinstance(command, ast.Constant) else None
    words = re.split(r"\s", text.strip()) if isinstance(text, str) else []
    return words[0] if words else None
