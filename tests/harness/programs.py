"""The fixtures as programs that can be written to a folder and checked there.

A fixture is a `.py` file, a notebook, or a folder that is a whole project, each in the folder of the rule it is about.
A first line such as `# torchlint-fixture: torch=2.6 determinism=on select=TL101,TL102 devices=cuda,mps` sets options;
`styles=no` and `twin=no` leave out the runs in other import styles and as a notebook. A folder with a file `BASE` holds
only what it changes of the folder beside it that `BASE` names.
"""

from __future__ import annotations

import functools
import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest import mock

from tests.harness.marks import Hit, Mark, read_marks
from torchlint import api
from torchlint.diagnostics import Report

FIXTURES = Path(__file__).parents[2] / "fixtures"
_OPTIONS = re.compile(r"# torchlint-fixture:(?P<options>.*)")
_SETTINGS = ("torch", "determinism", "min-confidence")
_LISTS = ("select", "extend-select", "ignore", "devices")
_SWITCHES = ("styles", "twin")
_CONFIGURATION = ("torchlint.toml", "pyproject.toml")


@dataclass(frozen=True, eq=False)
class Program:
    """One fixture. `files` are all its files, by POSIX path. A program is equal to itself alone."""

    name: str
    files: Mapping[str, bytes]
    options: Mapping[str, str] = field(default_factory=dict)
    is_folder: bool = False

    @property
    def sources(self) -> dict[str, str]:
        """The Python files, as text."""
        return {path: data.decode() for path, data in self.files.items() if path.endswith(".py")}

    @property
    def marks(self) -> list[Mark]:
        return [mark for path, data in self.files.items() for mark in _marks(path, data)]

    def with_sources(self, sources: Mapping[str, str]) -> Program:
        """The same program with other Python in it."""
        return replace(self, files={**self.files, **{path: text.encode() for path, text in sources.items()}})

    def write(self, folder: Path) -> None:
        """Write the program, and a configuration that says what its options say."""
        for path, data in {**self.files, **self._configuration()}.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)

    def _configuration(self) -> dict[str, bytes]:
        if any(name in self.files for name in _CONFIGURATION):
            return {}
        lines = [f"{key} = {json.dumps(self.options[key])}" for key in _SETTINGS if key in self.options]
        lines += [f"{key} = {json.dumps(self.options[key].split(','))}" for key in _LISTS if key in self.options]
        return {"torchlint.toml": "".join(f"{line}\n" for line in lines).encode()}


def _marks(path: str, data: bytes) -> Iterator[Mark]:
    if path.endswith(".py"):
        yield from read_marks(path, data.decode())
    elif path.endswith(".ipynb"):
        for index, cell in enumerate(json.loads(data).get("cells", []), 1):
            text = "".join(cell["source"])
            if cell["cell_type"] == "code" and not re.match(r"\s*[%!]", text):
                yield from read_marks(path, text, index)
            for line, items in cell["metadata"].get("expect", {}).items():  # a magic's line takes no comment
                yield from read_marks(path, "\n" * (int(line) - 1) + f"# expect: {items}", index)


@functools.cache
def all_programs() -> tuple[Program, ...]:
    """Every fixture, sorted by name."""
    return tuple(
        _read(entry, f"{rule.name}/{entry.name}")
        for rule in sorted(path for path in FIXTURES.iterdir() if path.is_dir())
        for entry in sorted(rule.iterdir())
        if entry.is_dir() or entry.suffix in (".py", ".ipynb")
    )


def fixture(name: str) -> Program:
    """One fixture: `TL301/unseeded_notebook.ipynb`."""
    return next(program for program in all_programs() if program.name == name)


def _read(entry: Path, name: str) -> Program:
    files = _files(entry) if entry.is_dir() else {entry.name: entry.read_bytes()}
    options = _options(name, next(iter(files.values()))) if not entry.is_dir() else {}
    return Program(name, files, options, is_folder=entry.is_dir())


def _files(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    base = files.pop("BASE", None)
    return files if base is None else dict(sorted({**_files(folder.parent / base.decode().strip()), **files}.items()))


def _options(name: str, data: bytes) -> dict[str, str]:
    first = data.decode().partition("\n")[0]
    match = _OPTIONS.search(first.replace("\\n", "").rstrip('",'))
    if match is None and name.endswith(".ipynb"):
        match = _OPTIONS.search("".join("".join(cell["source"]) for cell in json.loads(data).get("cells", [])[:1]))
    options = dict(word.split("=", 1) for word in match["options"].split()) if match else {}
    unknown = options.keys() - {*_SETTINGS, *_LISTS, *_SWITCHES}
    assert not unknown, f"{name}: unknown options {sorted(unknown)}"
    return options


def lint(program: Program, folder: Path) -> Report:
    """Write a program into a folder and check it."""
    program.write(folder)
    return check(folder)


@functools.cache
def hits_as_written(program: Program) -> tuple[Hit, ...]:
    """The findings of a fixture as it stands, without a note: many tests compare them with those of a changed one."""
    with tempfile.TemporaryDirectory() as folder:
        report = lint(program, Path(folder))
        assert report.notes == ()
        return tuple(hits(report, Path(folder)))


def check(*paths: Path, options: api.CheckOptions | None = None) -> Report:
    """Check paths, whatever torch is installed beside the tests. Nothing may break."""
    with mock.patch("torchlint.project.outside.Outside.installed_torch", return_value=""):
        report = api.check_paths(paths, options or api.CheckOptions(jobs=1))
    assert not report.internal_errors, report.internal_errors
    return report


def hits(report: Report, folder: Path) -> list[Hit]:
    """The findings of a report, with paths inside the folder."""
    return sorted(
        Hit(
            path=Path(found.location.path).relative_to(folder).as_posix(),
            cell=found.location.cell or 0,
            line=found.location.line,
            column=found.location.column,
            code=found.code,
            severity=found.severity.label,
            confidence=found.confidence.label,
        )
        for found in report.diagnostics
    )
