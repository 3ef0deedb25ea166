"""What IPython adds to Python, taken out of a cell without moving a line.

Only a cell that does not parse as it is comes here, so a multi-line string with a line that starts with `%`
is in danger only beside a real magic; the scanner below knows strings, brackets and continued lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from torchlint.source.syntax import parses
from torchlint.source.text import EnvironmentSetting

# Their body is Python that runs in the notebook's interpreter.
_PYTHON_CELLS = frozenset(
    {"time", "timeit", "capture", "prun", "debug", "memit", "mprun", "wandb", "snakeviz", "torchlint"}
)
_SHELL_CELLS = frozenset({"bash", "sh", "zsh", "script", "system", "sx", "!"})

_CELL_MAGIC = re.compile(r"%%(!|\w+)")
_TIMED = re.compile(
    r"%(?:time(?:[ \t]+--no-raise-error\b)?"
    r"|timeit(?:[ \t]+-(?:[nrp][ \t]*\d+|[tcqov]+)(?=[ \t]))*"
    r"|prun(?:[ \t]+-(?:[lsTD][ \t]*\S+|[rq]+)(?=[ \t]))*)[ \t]+(?=\S)"
)
_ESCAPED = re.compile(r"[!%?]|[/,;](?=[A-Za-z])")
_HELP = re.compile(r"[^\W\d][^\"'#]*\?\s*(?:#.*)?\Z")
_ASSIGNED = re.compile(r"([^\W\d][\w., \t*]*(?:\[[^=\[\]]*\][\w., \t]*)*=[ \t]*)(?=[!%])")
# Magics that work without their sign. A word that goes on like an expression is a variable.
_BARE = re.compile(
    r"(?:pip3?|conda|mamba|uv|cd|ls|ll|mkdir|rm|rmdir|cp|mv|cat|man|more|less|matplotlib|load_ext|reload_ext|autoreload)"
    r"(?:[ \t]+(?!(?:in|is|and|or|if|not|else|for)\b)[-\w./~$*\"'{].*)?\Z"
)

_TOKEN = re.compile(r"#.*|\"\"\"|'''|\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?|[()\[\]{}]")
_TRIPLES = ('"""', "'''")

_ENV_MAGIC = re.compile(r"%(?:set_)?env[ \t]+(?P<rest>\S.*)\Z")
_EXPORT = re.compile(r"(?:^|[;&|])\s*export\s+(?P<rest>[^;&|]*(?:\"[^\"]*\"|'[^']*')?[^;&|]*)")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|[^\s;&|]*)")


class PlainCell(msgspec.Struct, frozen=True):
    """A cell with its magics replaced, as many lines as before. Settings count lines from the cell's first."""

    text: str
    environment: tuple[EnvironmentSetting, ...]


class _State(msgspec.Struct, frozen=True):
    """What is still open at the end of a line."""

    quote: str = ""
    depth: int = 0
    continued: bool = False

    @property
    def is_between_statements(self) -> bool:
        return not (self.quote or self.depth or self.continued)


def replace_magics(text: str) -> PlainCell:
    """Turn a cell's magics into Python of the same shape, or into blank lines."""
    lines = text.split("\n")
    settings: list[EnvironmentSetting] = []
    index = _blank_cell_magics(lines, settings)
    state = _State()
    while index < len(lines):
        if state.is_between_statements:
            end = _end_of_command(lines, index)
            command = "\n".join(lines[index:end])
            plain = _replacement(command)
            if plain is not None:
                settings += _settings(command, index + 1)
                lines[index:end] = plain.split("\n")
                index = end
                continue
        state = _after(state, lines[index])
        index += 1
    return PlainCell("\n".join(lines), tuple(settings))


def _blank_cell_magics(lines: list[str], settings: list[EnvironmentSetting]) -> int:
    """Blank the `%%` lines on top, and with a body in another language the whole cell. Where Python begins."""
    index = 0
    while index < len(lines):
        match = _CELL_MAGIC.match(lines[index])
        if match is None and lines[index].strip():
            return index
        if match is not None and match[1] not in _PYTHON_CELLS:
            if match[1] in _SHELL_CELLS:
                settings += [found for at, line in enumerate(lines) if at > index for found in _exports(line, at + 1)]
            lines[index:] = [""] * (len(lines) - index)
        if match is not None:
            lines[index] = ""
        index += 1
    return index


def _end_of_command(lines: list[str], index: int) -> int:
    while index < len(lines) - 1 and lines[index].endswith("\\"):
        index += 1
    return index + 1


def _replacement(command: str) -> str | None:
    """The command as Python, with its line count kept; None when it is Python already."""
    body = command.lstrip(" \t")
    indent = command[: len(command) - len(body)]
    first = body.split("\n", 1)[0]
    below = "\n" * command.count("\n")
    # An indented command may be all there is in its block.
    nothing = f"{indent}pass{below}" if indent else below
    timed = _TIMED.match(body)
    if timed is not None:
        return _timed_statement(indent, body, timed.end(), nothing)
    if _ESCAPED.match(body) or _HELP.match(first) or (_BARE.match(first) and not parses(body)):
        return nothing
    assigned = _ASSIGNED.match(body)
    if assigned is None:
        return None
    timed = _TIMED.match(body, assigned.end())
    if timed is not None:
        kept = f"{assigned[1]}{' ' * (timed.end() - timed.start())}{body[timed.end() :]}"
        if parses(kept):
            return indent + kept
    return f"{indent}{assigned[1]}None{below}"


def _timed_statement(indent: str, body: str, start: int, nothing: str) -> str:
    # `%time x` becomes `True; x`: columns stay, and no block or branch appears that the author did not write.
    padded = f"{'True':<{start - 2}}; {body[start:]}"
    if parses(padded):
        return indent + padded
    # A compound statement cannot follow a semicolon: better its columns shift than that it is lost.
    return indent + body[start:] if parses(body[start:]) else nothing


def _after(state: _State, line: str) -> _State:
    """What is open after a line of Python."""
    quote, depth, position = state.quote, state.depth, 0
    is_comment = False
    while True:
        if quote:
            end = _closing(line, quote, position)
            if end < 0:
                return _State(quote, depth)
            quote, position = "", end
        match = _TOKEN.search(line, position)
        if match is None:
            break
        token, position = match[0], match.end()
        is_comment = token.startswith("#")
        if token in _TRIPLES:
            quote = token
        elif token in {"(", "[", "{"}:
            depth += 1
        elif token in {")", "]", "}"}:
            depth = max(depth - 1, 0)
    return _State("", depth, continued=line.endswith("\\") and not is_comment)


def _closing(line: str, quote: str, position: int) -> int:
    """Where a triple-quoted string ends in this line, or -1."""
    end = line.find(quote, position)
    while end > 0:
        backslashes = len(line[position:end]) - len(line[position:end].rstrip("\\"))
        if backslashes % 2 == 0:
            break
        end = line.find(quote, end + 1)
    return end if end < 0 else end + len(quote)


def _settings(command: str, line: int) -> Iterator[EnvironmentSetting]:
    command = command.replace("\\\n", " ").strip()
    if command.startswith("!"):
        yield from _exports(command.lstrip("!"), line)
    match = _ENV_MAGIC.match(command)
    if match is None:
        return
    # IPython's own reading: an equals sign anywhere decides, and quotes stay part of the value.
    name, separator, value = match["rest"].partition("=" if "=" in match["rest"] else " ")
    name = name.strip()
    if separator and name and not any(letter.isspace() for letter in name):
        yield EnvironmentSetting(name, value.strip(), line, in_process=True)


def _exports(command: str, line: int) -> Iterator[EnvironmentSetting]:
    # A shell started by the notebook hands nothing back, so these never reach the interpreter itself.
    for export in _EXPORT.finditer(command):
        for name, value in _ASSIGNMENT.findall(export["rest"]):
            bare = value[1:-1] if value[:1] in {'"', "'"} and value[-1] == value[0] and len(value) > 1 else value
            yield EnvironmentSetting(name, bare, line, in_process=False)
