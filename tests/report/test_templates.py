"""Templates escape what they print, and nothing beside them makes markup."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from torchlint.report.html_page import templates

REPORT = Path(__file__).parents[2] / "torchlint" / "report"
ELEMENT = re.compile(r"</?(?:a|b|code|dd|div|dl|dt|h\d|html|li|p|pre|section|span|t[dhr]|table|ul|wbr)\b[^()]*>")

_WRITES_MARKDOWN = "markdown.py"
"""Cells of a table have no other mark-up for code; `test_audit_markdown.py` holds it to escaping all it is given."""


def printed(template: str, **shown: object) -> str:
    return (
        templates().from_string(f'{{% from "text.html" import breakable, code_lines, rich %}}{template}').render(shown)
    )


def test_what_is_printed_is_escaped_and_visible() -> None:
    said = printed("<p title='{{ words }}'>{{ words }}</p>", words="<b>'\"&\x1b\u202e\n")
    shown = "&lt;b&gt;&#39;&#34;&amp;\\x1b\\u202e\\n"
    assert said == f"<p title='{shown}'>{shown}</p>"


def test_what_is_not_given_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="gone"):
        printed("{{ gone }}")


def test_a_line_may_break_after_slashes_and_underscores() -> None:
    assert printed("{{ breakable(words) }}", words="src/my_net.py / <_x/") == "src/<wbr>my_<wbr>net.py / &lt;_<wbr>x/"


def test_what_is_in_backquotes_is_code() -> None:
    said = printed("{{ rich(words) }}", words="`a_b` is <`c>`, not `d")
    assert said == "<code>a_<wbr>b</code> is &lt;<code>c&gt;</code>, not `d"


def test_code_keeps_its_lines_and_its_indentation() -> None:
    said = printed('{{ code_lines(code, "command") }}', code="if a:\n\tb </pre>  \n\nc")
    assert said == '<pre class="source command">\nif a:\n    b &lt;/pre&gt;\n\nc\n</pre>'


def test_only_a_drawing_is_taken_as_it_is() -> None:
    trusted = [
        line for path in (REPORT / "templates").iterdir() for line in re.findall(r".*\bsafe\b.*", path.read_text())
    ]
    assert [line for line in trusted if "not_yet_safe" not in line] == ['{{ plot.drawing | join("\\n") | safe }}']
    python = {path.name: path.read_text() for path in REPORT.rglob("*.py")}
    assert [name for name, text in python.items() if re.search(r"\bMarkup\b|markupsafe", text)] == []
    assert [name for name, text in python.items() if ELEMENT.search(text)] == [_WRITES_MARKDOWN]


def test_pages_have_no_script_and_no_address() -> None:
    for path in (REPORT / "templates").iterdir():
        assert not re.search(r"<script|<link|<img|url\(|@import|\b(?:src|on\w+)=", path.read_text()), path.name
