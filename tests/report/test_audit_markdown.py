"""The Markdown of an audit, as a reader of Markdown that this project did not write understands it."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.report.audits import amber, green, page, red, spot
from torchlint.audit.page import Audit, Change, Comparison, Light, Line, Page, ProgramChange
from torchlint.report.audit_markdown import LONGEST, markdown_lines
from torchlint.report.markdown import code, html_code, prose

_READER = MarkdownIt("commonmark").enable("table")
_HOSTILE = "<img src=x>|`*_[a](b)_*`` @user #12 $x$\n# head\N{RIGHT-TO-LEFT OVERRIDE}\\"


def written(*pages: Page) -> str:
    return "\n".join(markdown_lines(Audit(pages)))


def tokens(text: str) -> list[Token]:
    return [inner for token in _READER.parse(text) for inner in (token.children or [token])]


def shown(text: str) -> str:
    """What a reader sees of a line."""
    return "".join(token.content for token in tokens(text) if token.type in ("text", "code_inline"))


def cells(text: str) -> list[list[str]]:
    """The rows of the first table, below its head, as a reader sees them."""
    body = _READER.render(text).partition("<tbody>")[2].partition("</tbody>")[0]
    return [
        [html.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in re.findall(r"<td>(.*?)</td>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    ]


def summaries(text: str) -> list[str]:
    return [html.unescape(re.sub(r"<[^>]+>", "", found)) for found in re.findall(r"<summary>(.*?)</summary>", text)]


def test_the_worst_program_comes_first_and_examples_come_last() -> None:
    text = written(
        page("green.py", green("torch")),
        page("one_amber.py", amber("torch")),
        page("examples/worst.py", red("torch"), red("random"), red("numpy.random"), is_example=True),
        page("one_red.py", red("torch"), amber("random"), amber("mode")),
        page("two_red.py", red("torch"), red("random")),
        page("two_amber.py", amber("torch"), amber("mode")),
    )
    assert [row[:2] for row in cells(text)] == [
        ["✗", "two_red.py"],
        ["✗", "one_red.py"],
        ["!", "two_amber.py"],
        ["!", "one_amber.py"],
        ["✓", "green.py"],
        ["✗", "examples/worst.py (example)"],
    ]
    assert text.startswith("## torchlint audit: 6 reasons found, 5 points left open in 5 programs and 1 example\n")
    assert [summary.partition(":")[0] for summary in summaries(text)] == [
        "✗ two_red.py",
        "✗ one_red.py",
        "! two_amber.py",
        "! one_amber.py",
        "✗ examples/worst.py",
    ]


def test_a_line_has_its_mark_places_and_advice_and_red_ones_come_first() -> None:
    places = tuple(spot("train.py", number, "draws" if number == 1 else "") for number in range(1, 6))
    varied = Line("torch", "draws from `torch.rand`", Light.AMBER, places, code="TL301", advice="Seed it.")
    found = [line for line in written(page("train.py", varied, red("random"))).splitlines() if line.startswith("- ")]
    assert found == [
        "- ✗ **Seeds, random**: nothing seeds it<br>`train.py:3`",
        (
            "- ! **Seeds, torch**: draws from `torch.rand` (TL301)"
            "<br>`train.py:1` (draws), `train.py:2`, `train.py:3` and 2 more<br>Seed it."
        ),
    ]


def test_a_published_rule_is_linked() -> None:
    text = written(page("train.py", red("random", code="TL301", url="https://example.org/TL301")))
    assert [token.attrs["href"] for token in tokens(text) if token.type == "link_open"] == ["https://example.org/TL301"]


def test_what_the_project_says_is_text() -> None:
    line = Line(_HOSTILE, f"`{_HOSTILE}` {_HOSTILE}", Light.RED, (spot(_HOSTILE, 3, _HOSTILE),), advice=_HOSTILE)
    text = written(page(_HOSTILE, line), page("plain.py", red("torch")))
    own = {"<details>", "</details>", "<br>", "<code>", "</code>", "<summary>", "</summary>", "<!-- -->"}
    assert set(re.findall(r"<[^>]*>", _READER.render(text.replace("<!-- -->", "")))) >= {"<details>", "<summary>"}
    inline = {token.content for token in tokens(text) if token.type == "html_inline"}
    assert inline <= own
    assert not {"image", "link_open", "em_open"} & {token.type for token in tokens(text)}
    assert len(cells(text)) == 2
    assert {row[1] for row in cells(text)} == {_visible(_HOSTILE), "plain.py"}
    assert _visible(_HOSTILE) in summaries(text)[1] + summaries(text)[0]


def _visible(text: str) -> str:
    return text.replace("\n", "\\n").replace("\N{RIGHT-TO-LEFT OVERRIDE}", "\\u202e")


@pytest.mark.parametrize("text", ["a*b*c", "`x` and **y**", "a_b_c <b>", "1 | 2", "``", "a`b", "\\*", "[a](b)", "&lt;"])
def test_text_reads_as_it_was(text: str) -> None:
    assert shown(prose(text)) == (text if "` and" not in text else "x and **y**")
    assert shown(f"a {code(text)}") == f"a {text}"
    assert html.unescape(html_code(text)) == f"<code>{text}</code>"


@pytest.mark.parametrize("text", ["by @user", "see #12"])
def test_no_text_mentions_a_user_or_an_issue(text: str) -> None:
    """GitHub looks for `@name` and `#1` in one piece of text, which a comment ends."""
    assert not re.search(r"[@#]\w", prose(text))
    assert shown(prose(text)) == text


def _many(programs: int, lines: int) -> Sequence[Page]:
    return [
        page(f"train{number}.py", *(red(f"switch{each}", "varies " * 20) for each in range(lines)))
        for number in range(programs)
    ]


@pytest.mark.parametrize(("programs", "lines"), [(1, 2000), (40, 30), (3000, 1), (300, 0), (3000, 3)])
def test_what_github_would_refuse_is_counted(programs: int, lines: int) -> None:
    text = written(*_many(programs, lines))
    assert len(text) <= LONGEST
    told = sum(line.startswith("- ✗") for line in text.splitlines())
    counted = [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) more lines", text)]
    assert told + sum(counted) == programs * lines
    rows = len(cells(text))
    more = re.search(r"^and ([\d,]+) more programs$", text, re.MULTILINE)
    assert rows + (int(more[1].replace(",", "")) if more else 0) == programs
    assert text.count("<details>") == text.count("</details>")
    if lines:
        assert told


def test_what_changed_is_text_and_counted_where_it_has_no_room() -> None:
    hostile = Change(_HOSTILE, red(_HOSTILE, _HOSTILE), amber("a", _HOSTILE))
    many = tuple(Change("Seeds", red("torch", "varies " * 20)) for _ in range(1000))
    programs = (
        ProgramChange(_HOSTILE, "new", (hostile,)),
        ProgramChange("gone.py", "gone"),
        ProgramChange("train.py", "kept", many, many),
    )
    pages = tuple(_many(40, 30))
    text = "\n".join(markdown_lines(Audit(pages, compared=Comparison("old.json", programs))))
    assert len(text) <= LONGEST
    assert not {"image", "link_open", "em_open"} & {token.type for token in tokens(text)}
    changes = text.partition("### Compared with `old.json`: ")[2].partition("<details>")[0].splitlines()
    assert changes[0] == "1,001 new lines, 1,000 lines gone, 1 new program, 1 program gone"
    more = re.fullmatch(r"- and ([\d,]+) more changes", changes[-2])
    assert more is not None
    rows = [change for change in changes[2:-2] if change]
    assert len(rows) + int(more[1].replace(",", "")) == 2003
    assert len(cells(text)) == 40
    assert "<details>" in text


def test_no_program_is_said() -> None:
    assert written() == "## torchlint audit: no program found"
