"""Calls that start other processes which may be Python: these do read what the program wrote into its environment."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.catalogue.programs import ProcessStarters
    from torchlint.facts.file import FileFacts
    from torchlint.facts.full_names import Names
    from torchlint.facts.scopes import CallSite


@dataclass(frozen=True, slots=True)
class ProcessStart:
    """A call that starts a process, by the code that runs it."""

    symbol: str
    line: int
    """In the joined source."""


def process_start(facts: FileFacts, site: CallSite, names: Names, starters: ProcessStarters) -> ProcessStart | None:
    """What the call of a starter starts; None for a command that is evidently no Python, such as `git`."""
    if names.names <= frozenset(starters.commands) and _program(site.node) in starters.other_programs:
        return None
    return ProcessStart(facts.symbol_of(site), site.node.lineno)


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
