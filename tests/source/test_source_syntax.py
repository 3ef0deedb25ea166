"""Parsing: every failure is one exception with a place, and no text kills the process."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlint.errors import UnreadableSource
from torchlint.source.nesting import bracket_depth_exceeds, is_safe_to_parse_natively
from torchlint.source.syntax import NewerSyntax, parse_python, parse_text
from torchlint.source.text import source_from_text

PATHOLOGICAL = {
    "brackets": '"(" * 5000 + "1" + ")" * 5000',
    "open brackets": '"[" * 100_000',
    "sum": '"x = " + "+".join(["a"] * 5000)',
    "long sum": '"x = " + "+".join(["a"] * 100_000)',
    "chain": '"x" + ".f(1)" * 200',
    "long chain": '"x" + ".f(1)" * 20_000',
    "elifs": '"if a: pass\\n" + "elif a: pass\\n" * 400',
    "many elifs": '"if a: pass\\n" + "elif a: pass\\n" * 20_000',
    "minus": '"x = " + "-" * 10_000 + "1"',
    "not": '"x = " + "not " * 10_000 + "1"',
    "lambda": '"x = " + "lambda: " * 10_000 + "1"',
    "ternary": '"x = " + "a if b else " * 20_000 + "c"',
    "power": '"x = " + "a**" * 20_000 + "1"',
    "formatted brackets": '"f\'{" + "(" * 5000 + "1" + ")" * 5000 + "}\'"',
    "formatted minus": '"f\'{" + "-" * 20_000 + "1}\'"',
    "formatted specs": '"f\'" + "{a:" * 5000 + "}" * 5000 + "\'"',
    "blocks": '"".join(" " * n + "if 1:\\n" for n in range(1000)) + " " * 1000 + "pass"',
    "newer syntax and minus": '"type X = int\\nx = " + "-" * 20_000 + "1"',
    "newer syntax and calls": '"type X = int\\nx" + "()" * 20_000',
    "newer syntax and brackets": '"type X = int\\nx = " + "[" * 5000 + "]" * 5000',
    "newer syntax and formatted minus": '"type X = int\\nf\'{" + "-" * 20_000 + "1}\'"',
    "newer syntax and elifs": '"type X = int\\nif a: pass\\n" + "elif a: pass\\n" * 20_000',
    "newer syntax and lines of minus": '"type X = int\\nx = (" + "-\\n" * 20_000 + "1)"',
}


@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_no_nesting_kills_the_process(name: str) -> None:
    program = f"""
        from torchlint.errors import UnreadableSource
        from torchlint.source.syntax import parse_text
        try:
            parse_text({PATHOLOGICAL[name]})
        except UnreadableSource as error:
            print(error.reason, error.line, error.column)
        else:
            print("parsed")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("text", ["x" + ".f(1)" * 200, "if a: pass\n" + "elif a: pass\n" * 400, "(" * 150 + ")" * 150])
def test_deep_but_ordinary_code_parses(text: str) -> None:
    assert parse_text(text).body


@pytest.mark.parametrize("text", ["(" * 300 + ")" * 300, "x = " + "-" * 10_000 + "1"])
def test_too_deep_is_said_in_words(text: str) -> None:
    with pytest.raises(UnreadableSource, match="nested too deeply"):
        parse_text(text)


def test_a_syntax_error_is_placed_in_code_points() -> None:
    with pytest.raises(UnreadableSource) as caught:
        parse_python(source_from_text("a = 1\n'𝒳é'; ?\n", "a.py"))
    assert (caught.value.line, caught.value.column) == (2, 7)


@pytest.mark.parametrize("text", ["f(", "x = '''\n\n", "if a:", "x = \\", "\tif a:\n        b\n\tc"])
def test_an_error_at_the_end_stays_inside_the_text(text: str) -> None:
    with pytest.raises(UnreadableSource) as caught:
        parse_text(text)
    lines = text.split("\n")
    assert caught.value.column <= len(lines[caught.value.line - 1]) + 1


@pytest.mark.parametrize(
    "text",
    [
        'print "a"',
        "exec code",
        "raise E, 'x'",
        "if a <> b: pass",
        "x = 0777",
        "x = `y`",
        "try: pass\nexcept E, e: print e",
    ],
)
def test_python_2_is_recognised(text: str) -> None:
    with pytest.raises(UnreadableSource, match="Python 2 syntax"):
        parse_text(text)


def test_lone_surrogates_and_nulls_are_placed() -> None:
    for text, column in (("ab\n'\ud800'", 2), ("ab\nc\0", 2)):
        with pytest.raises(UnreadableSource) as caught:
            parse_text(text)
        assert (caught.value.line, caught.value.column) == (2, column)


def test_invalid_escapes_warn_nobody() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        parse_text("x = '\\d'\nif x is 1: pass\n")
    assert caught == []


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="needs a Python without the syntax")
@pytest.mark.parametrize(
    "text", ["type X = int\n", "def f[T](x: T): pass\n", "class A[T]: pass\n", 'x = f"{d["a"]}"\n']
)
def test_newer_syntax_is_told_from_a_mistake(text: str) -> None:
    with pytest.raises(NewerSyntax, match=r"^line 1 needs Python >= 3\.12, and torchlint runs on 3\.1[01]$") as caught:
        parse_text(text)
    assert caught.value.version == (3, 12)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="needs a Python without the syntax")
def test_template_strings_and_bare_except_tuples_need_python_3_14() -> None:
    for text in ('x = t"{a}"\n', "try:\n    pass\nexcept A, B:\n    pass\n"):
        with pytest.raises(NewerSyntax) as caught:
            parse_text(text)
        assert caught.value.version == (3, 14)


def test_a_mistake_beside_newer_syntax_is_still_a_mistake() -> None:
    with pytest.raises(UnreadableSource) as caught:
        parse_text("type X = int\ny = = 1\n")
    assert not isinstance(caught.value, NewerSyntax)


def test_the_first_bracket_too_deep_is_found() -> None:
    assert bracket_depth_exceeds("a\n" + "(" * 5 + ")" * 5, limit=4) == (2, 5)
    assert bracket_depth_exceeds("()" * 300) is None
    assert bracket_depth_exceeds("[" * 200 + "]" * 200) is None
    assert bracket_depth_exceeds("[" * 201) == (1, 201)


def test_brackets_in_strings_and_comments_do_not_count_and_do_not_hide() -> None:
    assert bracket_depth_exceeds("x = '" + "(" * 500 + "'\n# " + "[" * 500 + '\n"""' + "{" * 500 + '"""') is None
    assert bracket_depth_exceeds("(')'," * 300) is not None
    assert bracket_depth_exceeds("f'{" + "(" * 300 + "}'") is not None
    assert bracket_depth_exceeds("'\\'' '''a'b''c''' \"\"\"\\\"\"\"\"" + "(" * 201) is not None


def test_ordinary_tables_are_safe_to_parse_natively() -> None:
    assert is_safe_to_parse_natively("x = [\n" + "    {'a': -1, 'b': f(x.y + 2)},\n" * 5000 + "]\n")
    assert is_safe_to_parse_natively("a.b(c) + d\n" * 5000)


@given(st.text(alphabet="ab=:()[]{}'\"\\\n f-,", max_size=80))
def test_any_text_parses_or_is_refused_with_a_place_inside_it(text: str) -> None:
    lines = text.split("\n")
    line, column = place_of_refusal(text) or (1, 1)
    assert 1 <= line <= len(lines)
    assert 1 <= column <= len(lines[line - 1]) + 1
    bracket_depth_exceeds(text, limit=3)
    is_safe_to_parse_natively(text)


def place_of_refusal(text: str) -> tuple[int, int] | None:
    try:
        parse_text(text)
    except UnreadableSource as error:
        return error.line, error.column
    return None
