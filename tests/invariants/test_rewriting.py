"""What changes only the looks of a program changes no finding."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest

from tests.harness.programs import Program, hits, hits_as_written, lint
from tests.invariants.rewriting import as_notebook, comment_on_line, names_of, spelled, with_remarks
from tests.invariants.samples import WITH_SOURCES

NAMES = [program.name for program in WITH_SOURCES]
SINGLE = [program for program in WITH_SOURCES if not program.is_folder and program.options.get("twin") != "no"]
_OWN = ("TL001", "TL002")
"""Findings about comments and bytes: no comment silences them."""
_MISSING = ("TL210", "TL301")
"""Findings about what is missing: they stand where it should be, and not at their cause."""
FORMS = ("# torchlint: ignore[{codes}] tried", "# noqa: {codes}")


@pytest.mark.parametrize("program", WITH_SOURCES, ids=NAMES)
def test_comments_and_blank_lines_move_findings_and_change_none(program: Program, tmp_path: Path) -> None:
    beside = "".join(f"\n# {spelled(name)}" for name in _names_beside(program.name.partition("/")[0]))
    moved = {path: with_remarks(text) for path, text in program.sources.items()}
    changed = program.with_sources({path: one.text + beside for path, one in moved.items()})
    expected = [
        (
            hit.path,
            moved[hit.path].line(hit.line) if hit.path in moved else hit.line,
            hit.column,
            hit.code,
            hit.severity,
        )
        for hit in hits_as_written(program)
    ]
    found = [
        (hit.path, hit.line, hit.column, hit.code, hit.severity) for hit in hits(lint(changed, tmp_path), tmp_path)
    ]
    assert found == sorted(expected)


@functools.cache
def _names_beside(rule: str) -> list[str]:
    """The names that any program of a rule names."""
    beside = [program for program in WITH_SOURCES if program.name.startswith(f"{rule}/")]
    return sorted(
        {name for program in beside for text in program.sources.values() for name in names_of(ast.parse(text))}
    )


@pytest.mark.parametrize("program", SINGLE, ids=[program.name for program in SINGLE])
def test_the_cells_of_a_notebook_give_the_findings_of_the_program(program: Program, tmp_path: Path) -> None:
    ((path, text),) = program.sources.items()
    twin = as_notebook(text)
    notebook = Program(program.name, {"twin.ipynb": twin.notebook}, program.options)
    expected = [
        (*twin.place(hit.line), hit.column, hit.code, hit.severity, hit.confidence)
        for hit in hits_as_written(program)
        if hit.path == path
    ]
    found = [
        (hit.cell, hit.line, hit.column, hit.code, hit.severity, hit.confidence)
        for hit in hits(lint(notebook, tmp_path), tmp_path)
    ]
    assert found == sorted(expected)


@pytest.mark.parametrize("program", WITH_SOURCES, ids=NAMES)
def test_a_finding_is_silenced_on_its_line_and_nothing_else_changes(program: Program, tmp_path: Path) -> None:
    found = hits_as_written(program)
    sources = program.sources
    silenced = set()
    for path, line in sorted({(hit.path, hit.line) for hit in found if hit.path in sources and hit.code not in _OWN}):
        codes = sorted({hit.code for hit in found if (hit.path, hit.line) == (path, line) and hit.code not in _OWN})
        form = FORMS[line % len(FORMS)]
        changed = comment_on_line(sources[path], line, form.format(codes=", ".join(codes)))
        if changed is not None:
            sources[path] = changed
            silenced |= {(path, line, code) for code in codes}
    left = hits(lint(program.with_sources(sources), tmp_path), tmp_path)
    assert left == [hit for hit in found if (hit.path, hit.line, hit.code) not in silenced]


@pytest.mark.parametrize("program", WITH_SOURCES, ids=NAMES)
def test_a_comment_is_reported_once_its_cause_is_gone(program: Program, tmp_path: Path) -> None:
    found = [hit for hit in hits_as_written(program) if hit.code not in (*_OWN, *_MISSING)]
    sources = {path: text.split("\n") for path, text in program.sources.items()}
    expected = set()
    for path, lines in sources.items():
        for line, indent in _whole_line_statements(program.sources[path]).items():
            codes = sorted({hit.code for hit in found if (hit.path, hit.line) == (path, line)})
            if codes:
                lines[line - 1] = f"{' ' * indent}pass  # torchlint: ignore[{', '.join(codes)}]"
                expected.add((path, line))
    changed = program.with_sources({path: "\n".join(lines) for path, lines in sources.items()})
    unused = {(hit.path, hit.line) for hit in hits(lint(changed, tmp_path), tmp_path) if hit.code == "TL002"}
    assert expected <= unused


def _whole_line_statements(text: str) -> dict[int, int]:
    """The lines that are one simple statement, with its indentation."""
    lines = text.split("\n")
    found = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assign | ast.Expr | ast.Return | ast.AnnAssign) and node.lineno == node.end_lineno:
            rest = lines[node.lineno - 1].encode()[node.end_col_offset :].decode().strip()
            before = lines[node.lineno - 1].encode()[: node.col_offset].decode()
            if not before.strip() and (not rest or rest.startswith("#")):
                found[node.lineno] = node.col_offset
    return found


UPSAMPLING = 'from torch import nn\n\nlayer = nn.Upsample(scale_factor=2, mode="bilinear")\n'


@pytest.mark.parametrize(("more", "is_named"), [('layer.to("mps")', True), ('# layer.to("mps") is slow', False)])
def test_a_device_counts_where_code_names_it(more: str, is_named: bool, tmp_path: Path) -> None:  # noqa: FBT001
    found = lint(Program("device", {"net.py": f"{UPSAMPLING}{more}\n".encode()}, {"torch": "2.13"}), tmp_path)
    assert ["MPS" in one.message for one in found.diagnostics] == [is_named]
