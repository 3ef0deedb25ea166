"""Sources for Pythons of old: `async` as a name is read, Python 2 is told from a mistake."""

from __future__ import annotations

import ast

import pytest

from torchlint.errors import Python2Source, UnreadableSource
from torchlint.source.old_python import is_python_2
from torchlint.source.syntax import parse_text

NAMES = {
    "an argument": ("x.f(async=True)", "x.f(async=True)"),
    "the argument of torch": ("x = y.cuda(0, async=True)", "x = y.cuda(0, non_blocking=True)"),
    "a variable": ("async = 1\nprint(async)", "async = 1\nprint(async)"),
    "an attribute": ("self.async = x.async.y", "self.async = x.async.y"),
    "a parameter": ("def f(async=3):\n    return async", "def f(async=3):\n    return async"),
    "a function": ("def async(x):\n    pass", "def async(x):\n    pass"),
    "an import": ("from x.async import await as async", "from x.async import await as async"),
    "a global name": ("def f():\n    global async", "def f():\n    global async"),
    "await": ("await = f(await)", "await = f(await)"),
    "beside a coroutine": (
        "async def f():\n    await g()\nasync = 1",
        "async def f():\n    await g()\nasync = 1",
    ),
    "beside a formatted string": ("x.f(f'{y} async', async=1)", "x.f(f'{y} async', async=1)"),
    "beside words": ("x.f('async', async=1)  # async", "x.f('async', async=1)"),
}


@pytest.mark.parametrize(("text", "read"), NAMES.values(), ids=NAMES)
def test_what_became_a_keyword_is_read_as_a_name(text: str, read: str) -> None:
    assert ast.unparse(parse_text(text)) == read


def test_columns_stay_where_they_were() -> None:
    (statement,) = parse_text("async.f(async, 'é', x)\n").body
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Call)
    assert [each.col_offset for each in statement.value.args] == [8, 15, 21]


@pytest.mark.parametrize("text", ["async = = 1", "def f(:\n    async", "x = 'async\nasync = 1"])
def test_a_mistake_beside_such_a_name_is_a_mistake(text: str) -> None:
    with pytest.raises(UnreadableSource, match="does not parse"):
        parse_text(text)


PYTHON_2 = {
    "print": "print 'a'",
    "print close to its text": "print'a'",
    "print of a name": "if x:\n    print x, y",
    "print of a negation": "print not x",
    "print of a tuple behind other code": "x = 3; print x",
    "exec": "exec 'x = 1'",
    "exec in a space": "exec code in space",
    "raise": "raise ValueError, 'x'",
    "raise with a trace": "raise a.Error, 'x', trace",
    "except": "try:\n    x\nexcept (A, B), e:\n    print(e)",
    "except of one": "try:\n    x = `y`\nexcept A.B, e:\n    print(e)",
    "backticks": "x = `y`",
    "octal": "os.chmod(x, 0755)",
    "a long number": "x = 0xFFL + 10L",
    "a raw string": "x = ur'a'",
    "unequal": "if a <> b:\n    pass",
    "parameters in brackets": "def f(self, (a, b)):\n    pass",
    "a lambda with parameters in brackets": "f = lambda (a, b): a",
    "tabs": "if x:\n\tprint x\n        y",
}


@pytest.mark.parametrize("text", PYTHON_2.values(), ids=PYTHON_2)
def test_python_2_is_told(text: str) -> None:
    with pytest.raises(Python2Source, match="Python 2 syntax"):
        parse_text(text)


BROKEN = {
    "a plain mistake": "x = = 3",
    "an open bracket": "x = (3,\ny = 4\nprint(x)",
    "the words of Python 2 in a string": "x = 'print y <> `z` 0755'\ny = = 3",
    "its words in a comment": "y = = 3  # print x, `y`",
    "its words in a text": '"""\nprint x\nraise A, b\n"""\ny = = 3',
    "tabs": "if x:\n\ty\n        z",
    "print in a file for Python 3": "def f(x: int):\n    print x",
    "print beside a formatted string": "x = f'{y}'\nprint x",
    "print beside a coroutine": "async def f():\n    print x",
    "a conflict of a merge": "x = 1\n<<<<<<< HEAD\ny = 2\n=======\ny = 3\n>>>>>>> other",
    "a template": "x = {% y %}",
    "a choice of print": "f = print if x else\n",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_mistake_in_python_3_is_a_mistake(text: str) -> None:
    with pytest.raises(UnreadableSource) as caught:
        parse_text(text)
    assert not isinstance(caught.value, Python2Source)


def test_what_both_pythons_read_is_not_python_2() -> None:
    assert not is_python_2("print(x)\nprint (x), y\nprint >> f\nprint -1\nx = 0\ny = 00\nz = 010.5\nexcept (A, B):")
