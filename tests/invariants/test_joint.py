"""The two readers agree: every `ast` node has a LibCST node that is the same code."""

from __future__ import annotations

import ast
from pathlib import Path

import libcst as cst
import pytest

from tests.facts.reading import facts_of
from tests.harness.programs import Program
from tests.invariants.awkward import AWKWARD
from tests.invariants.samples import WITH_SOURCES, library_files
from torchlint.errors import UnreadableSource
from torchlint.facts.file import FileFacts
from torchlint.lossless.reader import Lossless, read_span
from torchlint.lossless.spans import Span, span_of, whole_file

RULES = sorted({program.name.partition("/")[0] for program in WITH_SOURCES})


def same_code(own: cst.CSTNode, twin: ast.AST) -> bool:
    """Whether two nodes are the same code; brackets, which say nothing, stand on one side alone."""
    if isinstance(own, cst.StarredElement) and isinstance(twin, ast.Starred):
        own, twin = own.value, twin.value
    code = _EMPTY.code_for_node(own).strip()
    if isinstance(twin, ast.ExceptHandler | ast.match_case | ast.Slice):
        return True  # no code by itself; what is in it is compared
    if isinstance(twin, ast.stmt):
        return ast.unparse(ast.parse(code)) == ast.unparse(ast.Module([twin], []))
    return ast.unparse(ast.parse(f"({code}\n)")) == ast.unparse(ast.parse(f"({ast.unparse(twin)}\n)"))


_EMPTY = cst.Module([])


def read(facts: FileFacts, span: Span) -> list[ast.AST]:
    """The twins of all nodes of a span; every pair is compared."""
    found = list(read_span(facts, span))
    if not span.is_header:  # a header's own code goes on
        assert all(same_code(node, twin) for node, twin in found)
    assert len({twin for _, twin in found}) == len(found)
    return [twin for _, twin in found]


def the_whole_agrees(facts: FileFacts) -> None:
    seen = set(read(facts, whole_file(facts)))
    assert {site.node for site in facts.symbols.calls} <= seen
    assert set(facts.symbols.scope_of) <= seen


def all_pieces_agree(facts: FileFacts, *, every: int = 1) -> None:
    """Walk the file as one piece, then the piece of each statement (or every so many of them)."""
    the_whole_agrees(facts)
    spans = {span_of(facts, statement) for statement in list(facts.symbols.parents)[::every]}
    for span in spans:
        if span.last - span.first < 60:
            read(facts, span)


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


def test_what_has_no_lossless_twin_is_said_to_have_none() -> None:
    facts = facts_of(b"match a:\n    case B.c:\n        d = [0]\n", "pattern.py")
    (match,) = facts.tree.body
    (pattern,) = [node for node in ast.walk(match) if isinstance(node, ast.Attribute)]
    with pytest.raises(UnreadableSource):
        Lossless(facts).code(pattern, match)
