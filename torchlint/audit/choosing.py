"""Which programs an audit is about."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from torchlint.errors import NoProgram
from torchlint.facts.entries import EntryKind, is_example, is_test
from torchlint.facts.file import MAIN
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
        if program.path in files and not is_test(program.path) and _is_for_torch(program, project)
    ]
    return sorted(_distinct(own), key=lambda program: (is_example(program.path), program.path))


def _is_for_torch(program: Program, project: Project) -> bool:
    """Whether a program uses torch, or prepares the data of others that do."""
    is_prepared = project.has_torch and any(one.is_prepared for one in project.saved_by(program))
    return is_prepared or project.uses_torch(program.path)


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
    if path not in project.summaries:
        return ": it cannot be read as Python or as a notebook, or its project has too many files"
    reaching = sorted({program.path for program in project.programs.programs if path in program.files})
    if reaching:
        more = f" and {len(reaching) - 3} more" if len(reaching) > 3 else ""
        return f"; these programs reach it: {', '.join(reaching[:3])}{more}"
    return ": it has no main guard, no command, and nothing at its top level trains"


def _distinct(programs: Sequence[Program]) -> list[Program]:
    """Without those that another program of the same file holds; of two that hold each other, the first stays."""
    return [
        program
        for index, program in enumerate(programs)
        if not any(
            _holds(other, program) and (other_index < index or not _holds(program, other))
            for other_index, other in enumerate(programs)
            if other is not program
        )
    ]


def _holds(program: Program, other: Program) -> bool:
    """Whether the other runs in this one: a command that a guard calls, or a guard that only starts commands."""
    if program.path != other.path:
        return False
    if other.entry.symbol == MAIN:
        return other.reached - {(other.path, MAIN)} <= program.reached
    return (other.path, other.entry.symbol) in program.reached and other.reached <= program.reached


def title_of(program: Program, project: Project) -> str:
    """What to call a program: its file, with its command where the file has several programs."""
    beside = _distinct([other for other in project.programs.programs if other.path == program.path])
    return program.path if len(beside) == 1 else f"{program.path}{_SEPARATOR}{name_of(program)}"
