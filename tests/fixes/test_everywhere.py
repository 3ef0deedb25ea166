"""Every fixture, fixed: it parses, what was fixed is found no more, a second run changes nothing, all else stays."""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.harness.programs import Program, all_programs
from torchlint import api
from torchlint.catalogue import load_catalogue
from torchlint.config import Overrides
from torchlint.diagnostics import Diagnostic, FixEdits, Report
from torchlint.engine.fixing import FixChoice
from torchlint.fixes.calls import Arguments, added, added_first, arguments_of, dropped
from torchlint.fixes.code import FileCode
from torchlint.fixes.planning import read_code
from torchlint.source.edits import Replacement, edited_text
from torchlint.source.syntax import parse_python, parses
from torchlint.source.text import Source, source_from_text
from torchlint.source.written_files import sources_of

PROGRAMS = all_programs()
NAMES = [program.name for program in PROGRAMS]
CALLS = 12
"""Calls of each file whose arguments are changed."""


@pytest.mark.parametrize("program", PROGRAMS, ids=NAMES)
def test_a_fixture_can_be_fixed(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    options = api.CheckOptions(overrides=Overrides(extend_select=("ALL",)), jobs=1)

    def check(texts: Mapping[Path, bytes]) -> Report:
        return api.check_paths([Path()], options, texts)

    report = api.with_edits(check({}), options)
    for finding in report.diagnostics:
        if finding.edits is not None and finding.location.cell is None:
            _require_nothing_else(finding)
    kinds = {one.edits.is_safe for one in report.diagnostics if one.edits is not None}
    for unsafe in sorted({not is_safe for is_safe in kinds}):
        choice = FixChoice(fix=True, unsafe=unsafe)
        found = api.fix_report(report, check, choice, options)
        left = [one.edits for one in found.report.diagnostics if one.edits is not None]
        assert not any(unsafe or edits.is_safe for edits in left)
        assert not found.report.internal_errors
        texts = {file.path: file.after for file in found.files}
        assert all(parses(one.text) for path, data in texts.items() for one in sources_of(data, str(path)))
        for file in found.files:
            if file.path.suffix == ".ipynb":
                assert _without_sources(file.before) == _without_sources(file.after)
        again = api.fix_report(check(texts), check, choice, options, texts)
        assert again.files == ()


def _without_sources(data: bytes) -> str:
    """A notebook without what its cells hold, laid out as it is."""
    notebook = json.loads(data)
    for cell in notebook["cells"]:
        cell["source"] = []
    return json.dumps(notebook)


def _require_nothing_else(finding: Diagnostic) -> None:
    """Put into the lines of the file by another hand, the edits change what the preview shows."""
    assert finding.edits is not None
    before = Path(finding.location.path).read_text(encoding="utf-8")
    after = _by_hand(before, finding.edits)
    old, new = before.split("\n"), after.split("\n")
    signs = [line[:1] for line in finding.edits.preview]
    assert {line[1:] for line in finding.edits.preview if line.startswith("+")} <= {*new}
    assert len(new) - len(old) == signs.count("+") - signs.count("-")
    assert parses(after)


def _by_hand(text: str, edits: FixEdits) -> str:
    lines = text.split("\n")
    for edit in sorted(edits.edits, reverse=True):
        place = edit.location
        head, tail = lines[place.line - 1][: place.column - 1], lines[place.end_line - 1][place.end_column - 1 :]
        lines[place.line - 1 : place.end_line] = f"{head}{edit.content}{tail}".split("\n")
    return "\n".join(lines)


SOURCES = {f"{program.name}:{path}": text for program in PROGRAMS for path, text in program.sources.items()}


@pytest.mark.parametrize("name", SOURCES)
def test_arguments_of_any_call_can_be_changed(name: str) -> None:
    """The tree afterwards is the tree before with one argument more or less."""
    source = source_from_text(SOURCES[name], name)
    code = read_code(source, load_catalogue())
    if code is None:
        return
    calls = [node for node in ast.walk(code.facts.tree) if isinstance(node, ast.Call)]
    chosen = random.Random(name).sample(calls, min(CALLS, len(calls)))  # noqa: S311 - the same in each run
    for call in chosen:
        arguments = arguments_of(code, call)
        for changes, wanted in [] if arguments is None else _changes(code, call, arguments):
            assert _tree(source, changes) == wanted, (call.lineno, changes)


def _changes(code: FileCode, call: ast.Call, arguments: Arguments) -> Iterator[tuple[list[Replacement], str]]:
    given, named = call.args, call.keywords
    yield (
        added(code, arguments, "bias=False"),
        _with(code, call, given, [*named, ast.keyword("bias", ast.Constant(value=False))]),
    )
    if not any(isinstance(one, ast.Starred) for one in given):
        yield [added_first(arguments, '"cuda"')], _with(code, call, [ast.Constant("cuda"), *given], named)
    for one in arguments.given:
        rest = (
            [value for value in given if value is not one.value],
            [each for each in named if each.value is not one.value],
        )
        yield [dropped(arguments, one)], _with(code, call, *rest)


def _with(code: FileCode, call: ast.Call, given: list[ast.expr], named: list[ast.keyword]) -> str:
    kept = call.args, call.keywords
    call.args, call.keywords = given, named
    dumped = ast.dump(code.facts.tree)
    call.args, call.keywords = kept
    return dumped


def _tree(source: Source, changes: list[Replacement]) -> str:
    return ast.dump(parse_python(source_from_text(edited_text(source, changes), source.path)))
