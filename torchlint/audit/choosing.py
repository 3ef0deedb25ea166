"""Which programs an audit is about."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from torchlint.errors import NoProgram
from torchlint.facts.file import MAIN
from torchlint.facts.summary import EntryKind, is_example, is_test
from torchlint.project.index import Project
from torchlint.project.programs import Program

_SEPARATOR = "::"
_GUARD = "__main__"
"""How a main guard is asked for where a file has commands as well: `tool.py::__main__`."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for: a folder, a file, or one command of a file."""

    path: Path
    command: str | None = None

    @classmethod
    def parse(cls, text: str) -> Request:
        """`train.py`, or `tool.py::train`; a file whose name holds `::` is that file."""
        if _SEPARATOR in text and not Path(text).exists():
            path, _, command = text.rpartition(_SEPARATOR)
            return cls(Path(path), command)
        return cls(Path(text))


def name_of(program: Program) -> str:
    """How a program is asked for beside others of its file."""
    return _GUARD if program.entry.symbol == MAIN else program.entry.symbol


def kind_of(program: Program) -> str:
    kind = program.entry.kind
    return f"command `{program.entry.symbol}`" if kind is EntryKind.COMMAND else kind.value


def programs_among(project: Project, files: Collection[str]) -> list[Program]:
    """The programs that start in these files and have to do with torch: the project's own, then examples."""
    own = [
        program
        for program in project.programs.programs
        if program.path in files and not is_test(program.path) and project.uses_torch(program.path)
    ]
    return sorted(_distinct(own), key=lambda program: (is_example(program.path), program.path))


def programs_of(project: Project, path: str, request: Request) -> list[Program]:
    """The programs of one file. Raises NoProgram where it starts none, or not the command that is asked for."""
    own = [program for program in project.programs.programs if program.path == path]
    if not own:
        raise NoProgram(f"{request.path} starts no program{_hint(project, path)}")
    if request.command is None:
        return _distinct(own)
    named = [program for program in own if name_of(program) == request.command]
    if not named:
        names = list(dict.fromkeys(f"{request.path}{_SEPARATOR}{name_of(program)}" for program in own))
        raise NoProgram(f"{request.path} has no command `{request.command}`; there is {', '.join(names)}")
    return named[:1]


def _hint(project: Project, path: str) -> str:
    """Who starts the file instead, or what would make it a program."""
    reaching = sorted({program.path for program in project.programs.programs if path in program.files})
    if reaching:
        more = f" and {len(reaching) - 3} more" if len(reaching) > 3 else ""
        return f"; these programs reach it: {', '.join(reaching[:3])}{more}"
    return ": it has no main guard, no command, and nothing at its top level trains"


def _distinct(programs: Sequence[Program]) -> list[Program]:
    """Without those that another program of the same file contains: a guard that only calls the file's command."""
    kept: list[Program] = []
    for program in sorted(programs, key=lambda program: -len(program.reached)):
        if not any(_is_within(program, other) for other in kept):
            kept.append(program)
    return sorted(kept, key=programs.index)


def _is_within(program: Program, other: Program) -> bool:
    return program.path == other.path and program.reached - {(program.path, program.entry.symbol)} <= other.reached


def titles(programs: Sequence[Program]) -> Iterator[str]:
    """What to call each program: its file, with its command where the file has several programs."""
    paths = [program.path for program in programs]
    for program in programs:
        is_alone = paths.count(program.path) == 1
        yield program.path if is_alone else f"{program.path}{_SEPARATOR}{name_of(program)}"
