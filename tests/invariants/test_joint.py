"""The two readers agree: whatever LibCST shows a check, its `ast` twin is the same piece of code."""

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

SHOWN = (
    *(cst.Call, cst.Assign, cst.AugAssign, cst.AnnAssign, cst.Attribute, cst.Subscript, cst.BinaryOperation),
    *(cst.Comparison, cst.BooleanOperation, cst.Lambda, cst.ListComp, cst.DictComp, cst.IfExp, cst.NamedExpr),
    *(cst.Dict, cst.List, cst.Tuple, cst.Import, cst.ImportFrom, cst.Return, cst.Raise, cst.Assert, cst.Await),
)
RULES = sorted({program.name.partition("/")[0] for program in WITH_SOURCES})


def probe(seen: list[ast.AST]) -> Check:
    """A check that compares every node it is shown with its twin."""

    def find(visit: Visit) -> Iterator[Finding]:
        own, twin = ast.unparse(ast.parse(_alone(visit))), ast.unparse(_as_read(visit.node))
        assert own == twin, visit.code(visit.lossless)
        seen.append(visit.node)
        yield from ()

    return Check("probe", lambda _: frozenset(), SHOWN, lambda _: Vocabulary(), find)


def _alone(visit: Visit) -> str:
    code = visit.code(visit.lossless).strip()
    return f"({code}\n)" if isinstance(visit.lossless, cst.BaseExpression) else code


def _as_read(node: ast.AST) -> ast.AST:
    """A target says that it is written: as an expression that is read. Brackets a tuple may need are there."""
    if isinstance(node, ast.stmt):
        return ast.parse(ast.unparse(node))
    return ast.parse(f"({ast.unparse(node)}\n)")


@functools.lru_cache(maxsize=1)
def names() -> NameTable:
    return NameTable(load_catalogue().names, frozenset())


def facts_of(data: bytes, path: str) -> FileFacts:
    source = source_from_bytes(data, path, notebook=False)
    return FileFacts.read(path, source, parse_python(source), names(), ModuleIndex((), "root", lambda *_: None))


def walk(facts: FileFacts, span: Span) -> list[ast.AST]:
    """Walk a piece with the probe; the twins of what it was shown."""
    piece = parse_piece(facts.source.lines, span)
    seen: list[ast.AST] = []
    walker = Walk(Visit(facts, load_catalogue(), frozenset()), table_of([probe(seen)]))
    walker.piece(piece.roots, span.statements, is_header=span.is_header)
    assert not walker.broken, walker.broken[0].error
    assert len(set(seen)) == len(seen)
    return seen


def the_whole_agrees(facts: FileFacts) -> None:
    (whole,) = whole_file(facts)
    seen = walk(facts, whole)
    calls = {node for node in seen if isinstance(node, ast.Call)}
    assert calls == {site.node for site in facts.reading.calls}
    stores = {node for node in seen if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)}
    assert stores == {site.node for site in facts.reading.assign_sites}


def all_pieces_agree(facts: FileFacts, *, every: int = 1) -> None:
    """Walk the file as one piece, then the piece of each statement (or every so many of them)."""
    the_whole_agrees(facts)
    spans = {_whole_lines(facts, statement) for statement in list(facts.reading.parents)[::every]}
    for span in spans:
        if span.last - span.first < 60:
            walk(facts, span)


@pytest.mark.parametrize("rule", RULES)
def test_every_node_of_a_fixture_finds_its_twin(rule: str) -> None:
    own: list[Program] = [program for program in WITH_SOURCES if program.name.startswith(f"{rule}/")]
    for program in own:
        for path, text in program.sources.items():
            the_whole_agrees(facts_of(text.encode(), path))


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
