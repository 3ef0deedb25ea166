"""Which statements run before, after or instead of which. Statements are calls, `a()`, named by their letter."""

from __future__ import annotations

import ast
import functools
import itertools
import textwrap

import pytest

from torchlint.catalogue import load_catalogue
from torchlint.facts.control.blocks import loops_around
from torchlint.facts.control.conditions import conditions_on, mutually_exclusive
from torchlint.facts.control.order import between, dominates, may_follow, precedes, run_after
from torchlint.facts.file import FileFacts
from torchlint.facts.full_names import NameTable
from torchlint.project.modules import ModuleIndex
from torchlint.source.syntax import parse_python
from torchlint.source.text import source_from_bytes


@functools.lru_cache(maxsize=1)
def names() -> NameTable:
    return NameTable(load_catalogue().names, frozenset())


class Program:
    """A program and its statements by their letters."""

    def __init__(self, text: str) -> None:
        source = source_from_bytes(textwrap.dedent(text).encode(), "program.py", notebook=False)
        modules = ModuleIndex((), "root", lambda *_: None)
        self.facts = FileFacts.read("program.py", source, parse_python(source), names(), modules.asked_by("program.py"))
        calls = (site for site in self.facts.symbols.calls if isinstance(site.node.func, ast.Name))
        self.statements = {ast.unparse(site.node.func): site.statement for site in calls}

    def pairs(self, question: object) -> set[str]:
        """The pairs of letters for which a question says yes."""
        assert callable(question)
        found = itertools.permutations((letter for letter in self.statements if len(letter) == 1), 2)
        return {
            first + second
            for first, second in found
            if question(self.facts, self.statements[first], self.statements[second])
        }

    def letters(self, found: object) -> str:
        """The letters of simple statements, in their order."""
        assert isinstance(found, list)
        letter_of = {statement: letter for letter, statement in self.statements.items() if len(letter) == 1}
        return "".join(letter_of[statement] for statement in found if statement in letter_of)


IF = """
    a()
    if test:
        b()
        c()
    else:
        d()
    e()
"""
ONE_BRANCH_LEAVES = """
    def main():
        if test:
            a()
        else:
            b()
            return
        c()
"""
NESTED_RETURNS = """
    def main():
        if test:
            a()
            if other:
                b()
                return
            else:
                raise
        c()
"""
TRY = """
    try:
        a()
    except OSError:
        b()
    except ValueError:
        c()
    else:
        d()
    finally:
        e()
    f()
"""
HANDLERS_LEAVE = """
    def main():
        try:
            a()
        except OSError:
            b()
            raise
        c()
"""
WITH = """
    with manager() as x:
        a()
        with other():
            b()
    c()
"""
SUPPRESSED = """
    import contextlib
    with contextlib.suppress(OSError):
        a()
        b()
    c()
"""
LOOP = """
    a()
    for x in y:
        b()
        if test:
            c()
            continue
        d()
    else:
        e()
    f()
"""
MATCH = """
    match x:
        case 1:
            a()
        case 2:
            b()
    c()
"""
EQUAL_TESTS = """
    if test:
        a()
    if not test:
        b()
    if other is None:
        c()
    if other is not None:
        d()
"""
FUNCTIONS = """
    def first():
        a()

    def second():
        b()
        c()
"""
ONE_LINE = "a(); b()"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param(IF, "ab ac ad ae bc", id="if"),
        pytest.param(ONE_BRANCH_LEAVES, "ac", id="one branch leaves"),
        pytest.param(TRY, "ef", id="try"),
        pytest.param(HANDLERS_LEAVE, "ac", id="handlers leave"),
        pytest.param(WITH, "ab ac bc", id="with"),
        pytest.param(SUPPRESSED, "ab", id="suppressed"),
        pytest.param(LOOP, "ab ac ad ae af bc bd", id="loop"),
        pytest.param(MATCH, "", id="match"),
        pytest.param(FUNCTIONS, "bc", id="functions"),
        pytest.param(ONE_LINE, "ab", id="one line"),
    ],
)
def test_what_has_run_whenever_another_runs(text: str, wanted: str) -> None:
    assert Program(text).pairs(dominates) == set(wanted.split())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param(IF, "bd cd", id="if"),
        pytest.param(ONE_BRANCH_LEAVES, "ab bc", id="early return"),
        pytest.param(NESTED_RETURNS, "ac bc", id="nested returns"),
        pytest.param(TRY, "bc bd cd", id="try"),
        pytest.param(HANDLERS_LEAVE, "bc", id="handlers leave"),
        pytest.param(LOOP, "cd", id="loop"),
        pytest.param(MATCH, "ab", id="match"),
        pytest.param(EQUAL_TESTS, "ab cd", id="equal tests"),
        pytest.param(FUNCTIONS, "", id="functions"),
    ],
)
def test_what_never_runs_in_one_pass(text: str, wanted: str) -> None:
    one_way = set(wanted.split())
    assert Program(text).pairs(mutually_exclusive) == one_way | {pair[::-1] for pair in one_way}


@pytest.mark.parametrize(
    ("text", "in_one_pass", "round_a_loop"),
    [
        pytest.param(IF, "ab ac ad ae bc be ce de", "", id="if"),
        pytest.param(ONE_BRANCH_LEAVES, "ac", "", id="early return"),
        pytest.param(LOOP, "ab ac ad ae af bc bd be bf ce cf de df ef", "cb db cd dc", id="loop"),
    ],
)
def test_what_may_run_after_another(text: str, in_one_pass: str, round_a_loop: str) -> None:
    program = Program(text)
    assert program.pairs(precedes) == set(in_one_pass.split())
    assert program.pairs(may_follow) == set(in_one_pass.split()) | set(round_a_loop.split())


def test_another_function_may_run_at_any_time() -> None:
    assert Program(FUNCTIONS).pairs(may_follow) == {"ab", "ac", "ba", "ca", "bc"}


def test_a_call_comes_after_its_arguments_and_an_assignment_after_both() -> None:
    facts = Program("x = outer(inner(x))").facts
    inner, outer = sorted((site.node for site in facts.symbols.calls), key=lambda call: -call.col_offset)
    statement = facts.tree.body[0]
    assert precedes(facts, inner, outer)
    assert not precedes(facts, outer, inner)
    assert not precedes(facts, statement, inner)


def test_what_runs_after_a_statement_in_its_pass() -> None:
    for text, first, wanted in (
        (IF, "b", "ce"),
        (TRY, "a", "def"),
        (TRY, "b", "ef"),
        (LOOP, "c", "ef"),
        (NESTED_RETURNS, "a", "b"),
        (FUNCTIONS, "b", "c"),
    ):
        program = Program(text)
        assert program.letters(list(run_after(program.facts, program.statements[first]))) == wanted


def test_what_lies_between_two_statements() -> None:
    program = Program("a()\nb()\nif test:\n    c()\n    d()\ne()")
    for first, last, wanted in (("a", "d", "bc"), ("a", "b", ""), ("a", "e", "b")):
        found = between(program.facts, program.statements[first], program.statements[last])
        assert program.letters(found) == wanted
    assert between(program.facts, program.statements["c"], program.statements["e"]) is None
    assert between(program.facts, program.statements["b"], program.statements["a"]) is None


def test_a_loop_does_not_repeat_its_else() -> None:
    program = Program(LOOP)
    repeated = [
        letter for letter, statement in program.statements.items() if any(loops_around(program.facts, statement))
    ]
    assert repeated == ["b", "c", "d"]


def test_the_answers_by_which_a_statement_runs() -> None:
    program = Program(
        """
        def main():
            if not first:
                return
            for x in y:
                if second is not None:
                    continue
                elif third:
                    a()
            b()
        """
    )
    assert conditions_on(program.facts, program.statements["a"]) == {
        "third": True,
        "second is None": True,
        "first": True,
    }
    assert conditions_on(program.facts, program.statements["b"]) == {"first": True}
