"""The two readers count alike: whatever LibCST visits, its `ast` twin is the same piece of code."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import libcst as cst
import pytest

from tests.harness.programs import Program
from tests.invariants.awkward import AWKWARD
from tests.invariants.samples import WITH_SOURCES, library_files
from torchlint.catalogue import load_catalogue
from torchlint.checks.registration import Check, Finding, Vocabulary
from torchlint.checks.visit import Visit
from torchlint.checks.walk import Walk, table_of
from torchlint.engine.nomination import Span, _whole_lines, whole_file
from torchlint.engine.pieces import parse_piece
from torchlint.errors import UnreadableSource
from torchlint.facts.file import FileFacts
from torchlint.facts.name_table import NameTable
from torchlint.project.modules import ModuleIndex
from torchlint.source.syntax import parse_python
from torchlint.source.text import source_from_bytes


def probe(seen: list[str]) -> Check:
    """A check that compares every call and assignment it visits with its twin."""

    def find(visit: Visit, node: cst.CSTNode) -> Iterator[Finding]:
        if isinstance(node, cst.Call):
            own, twin = visit.code(node.func), visit.call.func
        elif isinstance(node, cst.Assign):
            assert isinstance(visit.assignment, ast.Assign)
            own, twin = visit.code(node.targets[0].target), visit.assignment.targets[0]
        else:
            assert isinstance(node, cst.AugAssign | cst.AnnAssign)
            assert type(node).__name__ == type(visit.assignment).__name__
            assert not isinstance(visit.assignment, ast.Assign)
            own, twin = visit.code(node.target), visit.assignment.target
        assert ast.unparse(ast.parse(f"({own}\n)")) == ast.unparse(_readable(twin)), own
        seen.append(own)
        yield from ()

    return Check("probe", lambda _: frozenset(), (cst.Call, cst.Assign, cst.AugAssign, cst.AnnAssign), _no_words, find)


def _readable(expression: ast.expr) -> ast.expr:
    """As an expression that is read: a target says that it is written."""
    return ast.parse(f"({ast.unparse(expression)}\n)", mode="eval").body


def _no_words(_: object) -> Vocabulary:
    return Vocabulary()


@functools.lru_cache(maxsize=1)
def names() -> NameTable:
    return NameTable(load_catalogue().names, frozenset())


def facts_of(data: bytes, path: str) -> FileFacts:
    source = source_from_bytes(data, path, notebook=False)
    return FileFacts.read(path, source, parse_python(source), names(), ModuleIndex((), "root", lambda *_: None))


def walk(facts: FileFacts, span: Span) -> list[str]:
    """Walk a piece with the probe; every call and assignment in it was compared."""
    piece = parse_piece(facts.source.lines, span)
    seen: list[str] = []
    visit = Visit(facts, load_catalogue(), frozenset())
    walker = Walk(visit, table_of([probe(seen)]), span.cursor)
    for root in piece.roots:
        root.visit(walker)
    assert not walker.broken, walker.broken[0].error
    assert visit.ancestors == []
    assert visit.scope == span.cursor.scope
    return seen


def all_pieces_agree(facts: FileFacts, *, every: int = 1) -> None:
    """Walk the file as one piece, then the piece of each statement (or every so many of them)."""
    (whole,) = whole_file(facts)
    assert len(walk(facts, whole)) == len(facts.reading.calls) + len(facts.reading.assign_sites)
    spans = {_whole_lines(facts, statement) for statement in list(facts.reading.parents)[::every]}
    for span in spans:
        if span.last - span.first < 60:
            walk(facts, span)


@pytest.mark.parametrize("program", WITH_SOURCES, ids=[program.name for program in WITH_SOURCES])
def test_every_node_of_a_fixture_finds_its_twin(program: Program) -> None:
    for path, text in program.sources.items():
        all_pieces_agree(facts_of(text.encode(), path))


@pytest.mark.parametrize("path", list(library_files(40)), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_node_of_a_library_file_finds_its_twin(path: Path) -> None:
    try:
        facts = facts_of(path.read_bytes(), path.name)
    except UnreadableSource as error:
        pytest.skip(str(error))
    all_pieces_agree(facts, every=17)


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD)
def test_every_node_of_awkward_code_finds_its_twin(text: str) -> None:
    all_pieces_agree(facts_of(text.encode(), "awkward.py"))


def test_every_shape_with_indentation_and_tabs_finds_its_twin() -> None:
    for text in AWKWARD.values():
        body = "".join(f"\t{line}\n" for line in text.splitlines())
        all_pieces_agree(facts_of(f"class Outer:\n{body}".encode(), "indented.py"))
        all_pieces_agree(facts_of(f"async def outer():\n{body}".encode(), "indented.py"))
