"""Programs: the ways a project is started, what each reaches, and the determinism mode it runs under."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from torchlint.diagnostics import Location
from torchlint.facts.call_edges import Argument, Edge
from torchlint.facts.entries import Entry, EntryKind, is_example, is_test
from torchlint.facts.graphs import reached
from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import memoized
from torchlint.facts.modes import Mode, ModeCall
from torchlint.facts.notation import Symbol, is_of_project, name_in, symbol_of
from torchlint.facts.summary import FileSummary
from torchlint.project.answers import Answering
from torchlint.project.call_details import KnownDetails
from torchlint.project.call_graph import CallGraph
from torchlint.project.requirements.pyproject import table_of, toml_of
from torchlint.project.requirements.specifiers import text_of
from torchlint.project.trainings import training_in

_TARGET = re.compile(r"^[\w.-]+\s*=\s*(?P<module>[\w.]+)\s*:\s*(?P<function>[\w.]+)\s*(?:\[.*\])?$")
_QUOTED = re.compile(r"""["']([\w.-]+\s*=\s*[\w.]+:[\w.]+)["']""")
_BUILD_FILES = ("pyproject.toml", "setup.cfg", "setup.py")
_PACKAGE = re.compile(r"^\[(?:project|build-system|tool\.poetry|metadata)\]", re.MULTILINE)
"""Tables that a `pyproject.toml` or `setup.cfg` has which does more than set up tools."""


class Program(msgspec.Struct, frozen=True, eq=False):
    """One way to start something: compared by identity, since there is one object for each."""

    path: str
    entry: Entry
    reached: frozenset[Symbol]
    files: frozenset[str]


class ModeVerdict(msgspec.Struct, frozen=True):
    """The mode that a file runs under, and the call and program that decided it."""

    mode: Mode
    place: Location | None = None
    program: str | None = None


class Programs(Answering):
    """All programs of one project."""

    def __init__(self, summaries: Mapping[str, FileSummary], scripts: tuple[tuple[str, str], ...] = ()) -> None:
        self._summaries = summaries
        self.calls = CallGraph(summaries)
        entries = [(path, entry) for path, summary in sorted(summaries.items()) for entry in summary.entries]
        working = set(self._working([one for one in entries if one[1].is_tentative]))
        entries = [one for one in entries if not one[1].is_tentative or one in working]
        own = ((path, function) for path, function in scripts if path in summaries)
        entries += [(path, Entry(EntryKind.COMMAND, function, summaries[path].start)) for path, function in own]
        ways = ((path, entry, self.calls.reached([(path, ""), (path, entry.symbol)])) for path, entry in entries)
        self.programs = [Program(path, entry, run, frozenset(file for file, _ in run)) for path, entry, run in ways]
        super().__init__()
        self._call_details: KnownDetails | None = None

    def ask(self, call_details: KnownDetails) -> None:
        """From now on ask this for what calls hand on: programs may outlive the files of a run."""
        self._call_details = call_details
        self.answers.clear()

    def _working(self, entries: Sequence[tuple[str, Entry]]) -> Iterator[tuple[str, Entry]]:
        """Those from which a training runs, or what sets the mode that all behind it runs under.

        Every module of a package is such an entry, and none works mostly: all are asked together, then by halves.
        """
        run = self.calls.run([(path, entry.symbol) for path, entry in entries])
        files = {path for path, _ in run} & self._summaries.keys()
        sets_mode = any((path, call.symbol) in run for path in files for call in self._summaries[path].modes)
        if sets_mode or training_in(run, self._summaries) is not None:
            middle = len(entries) // 2
            halves = (entries[:middle], entries[middle:])
            yield from (one for half in halves for one in self._working(half)) if middle else entries

    @functools.cached_property
    def sets_mode(self) -> bool:
        """Whether any file of the project touches the mode at all."""
        return any(summary.modes for summary in self._summaries.values())

    def reaching(self, path: str) -> list[Program]:
        """The programs that decide for a file: not tests, and examples only for example files."""
        allow_examples = is_example(path)
        loading = (one for one in self.programs if path in one.files and not is_test(one.path))
        return [one for one in loading if allow_examples or one.path == path or not is_example(one.path)]

    @functools.cached_property
    def has_own(self) -> bool:
        """Whether the project starts anything: tests and examples are left out."""
        return any(not is_test(program.path) and not is_example(program.path) for program in self.programs)

    def without_mode(self, path: str) -> list[Program]:
        """The programs that decide for a file and leave the mode off."""
        return [one for one in self.reaching(path) if self.mode_of(one).mode in (Mode.OFF, Mode.OPTIONAL)]

    @memoized
    def mode_of(self, program: Program) -> ModeVerdict:
        """The mode that one program sets: a large project has hundreds, and every finding asks."""
        found = ModeVerdict(Mode.OFF, program=program.path)
        for path in sorted(program.files & self._summaries.keys()):
            for call in sorted(self._summaries[path].modes, key=lambda call: call.symbol):
                if (path, call.symbol) in program.reached:
                    mode = self._mode_at(program, path, call)
                    if mode > found.mode:
                        found = ModeVerdict(mode, call.location, program.path)
        return found

    def mode_for(self, path: str) -> ModeVerdict:
        """The weakest mode among the programs that reach a file; off when none does."""
        if not self.sets_mode:
            return ModeVerdict(Mode.OFF)
        verdicts = [self.mode_of(program) for program in self.reaching(path)]
        return min(verdicts, key=lambda verdict: verdict.mode, default=ModeVerdict(Mode.OFF))

    def _mode_at(self, program: Program, path: str, call: ModeCall) -> Mode:
        if call.parameter is None:
            return call.mode
        calls = self.calls.calls_of(name_in(path, call.symbol))
        modes = {self._argument_mode(path, call, place[0], edge) for place, edge in calls if place in program.reached}
        return modes.pop() if len(modes) == 1 else Mode.OPTIONAL

    def _argument_mode(self, path: str, call: ModeCall, caller: str, edge: Edge) -> Mode:
        parameters = dict(self._summaries[path].parameters).get(call.symbol)
        if parameters is None or call.parameter is None or self._call_details is None:
            return Mode.OPTIONAL
        given = self._call_details.of(caller, edge).arguments
        position = parameters.names.index(call.parameter) if call.parameter in parameters.names else None
        for key in (call.parameter, position):
            if key is not None and key in given:
                return _mode_of_flag(call.mode, given[key])
        if "*" in given:
            return Mode.OPTIONAL
        return _mode_of_flag(call.mode, dict(parameters.defaults).get(call.parameter, ...))


def _mode_of_flag(mode: Mode, value: Argument) -> Mode:
    if value is True:
        return mode
    return Mode.OFF if value is False or value is None else Mode.OPTIONAL


class Reach:
    """What the call graph reaches, every method of a class that is reached, and those of its bases."""

    def __init__(self, program: Program, summaries: Mapping[str, FileSummary]) -> None:
        self._reached = program.reached
        told = ((path, owner, base) for path, summary in summaries.items() for owner, base in summary.bases)
        bases = grouped(((path, owner), symbol_of(base)) for path, owner, base in told if is_of_project(base))
        owners = [(path, _owner(symbol)) for path, symbol in program.reached if "." in symbol]
        self._owners = frozenset(reached((*owners, *program.reached), lambda place: bases.get(place, ())))

    def holds(self, path: str, symbol: str) -> bool:
        """Whether a symbol may run: it is reached, or lies in a function or class that is."""
        if not symbol:
            return (path, "") in self._reached
        while symbol:
            if (path, symbol) in self._owners:
                return True
            symbol = _owner(symbol)
        return False


def _owner(symbol: str) -> str:
    return symbol.rpartition(".")[0]


def console_scripts(files: Sequence[Path], sources: Collection[str]) -> Iterator[tuple[str, str]]:
    """The project file and the function of each console script whose module is one of the project's `sources`."""
    named = (one for path in sorted(files) if path.name in _BUILD_FILES for one in _targets(path))
    for module, function in named:
        base = module.replace(".", "/")
        wanted = (f"{base}.py", f"{base}/__init__.py")
        found = [path for path in sources if path in wanted or path.endswith(tuple(f"/{name}" for name in wanted))]
        if found:  # `src/pkg/cli.py`, or `pkg/cli/__init__.py`: the shortest
            yield min(found, key=lambda path: (len(path), path)), function


def builds_package(files: Sequence[Path], root: Path) -> bool:
    """Whether the files at the root make a package that is installed; a `setup.py` further down makes an extension."""
    own = [path for path in files if path.name in _BUILD_FILES and path.parent == root]
    return any(path.name == "setup.py" or _PACKAGE.search(text_of(path)) for path in own)


def _targets(path: Path) -> Iterator[tuple[str, str]]:
    text = text_of(path)
    if path.name == "pyproject.toml":
        data = toml_of(text)
        tables = (table_of(data, "project", "scripts"), table_of(data, "tool", "poetry", "scripts"))
        lines = [f"{name} = {target}" for table in tables for name, target in table.items() if isinstance(target, str)]
    elif path.name == "setup.py":
        lines = _QUOTED.findall(text)
    else:
        lines = text.partition("console_scripts")[2].splitlines()
    for match in filter(None, (_TARGET.match(line.strip()) for line in lines)):
        yield match["module"], match["function"]
