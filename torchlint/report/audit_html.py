"""An audit as one HTML file that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchlint import __version__
from torchlint.audit.page import Audit, Light, Line, Page, Section, Spot
from torchlint.report.audit_words import EXPLAINED, WORDS, facts_of, section_of
from torchlint.report.html_page import breakable, code_text, items, page_lines, rich, text

_MARKS = {Light.GREEN: "✓", Light.AMBER: "!", Light.RED: "✗"}
_SPOTS = 4
"""Places shown of one line; the rest unfold."""


def html_lines(audit: Audit) -> Iterator[str]:
    """Yield the file's lines."""
    title = audit.pages[0].subject.name if len(audit.pages) == 1 else f"{len(audit.pages)} programs"
    yield from page_lines(f"torchlint audit: {title}", "audit.css", _body(audit))


def _body(audit: Audit) -> Iterator[str]:
    if not audit.pages:
        yield "<h1>No program found</h1>"
    if len(audit.pages) > 1:
        yield from _index(audit)
    for number, page in enumerate(audit.pages, 1):
        yield from _page(page, f"p{number}")
    yield "<footer>"
    yield from _legend()
    yield f"<p>Written by torchlint {text(__version__)}, which reads code and runs none of it.</p>"
    yield "</footer>"


def _index(audit: Audit) -> Iterator[str]:
    """A row for each program: what each of its sections comes to."""
    heads = {section.key: section.title for page in audit.pages for section in page.sections}
    yield '<p class="eyebrow">torchlint audit</p>'
    yield f"<h1>{len(audit.pages)} programs</h1>"
    yield from _legend()
    yield '<div class="index"><table>'
    columns = "".join(f'<th scope="col">{text(title)}</th>' for title in heads.values())
    yield f'<thead><tr><th scope="col"></th>{columns}</tr></thead>'
    yield "<tbody>"
    previous: bool | None = None
    for number, page in enumerate(audit.pages, 1):
        if page.subject.is_example != previous:
            previous = page.subject.is_example
            group = "Examples" if previous else "Programs"
            yield f'<tr class="group"><th scope="rowgroup" colspan="{len(heads) + 1}">{group}</th></tr>'
        cells = "".join(f"<td>{_cell(page, number, key)}</td>" for key in heads)
        yield f'<tr><th scope="row"><a href="#p{number}">{breakable(text(page.subject.name))}</a></th>{cells}</tr>'
    yield "</tbody></table></div>"


def _cell(page: Page, number: int, key: str) -> str:
    section = section_of(page, key)
    if section is None:
        return ""
    words = f"{section.title}: {WORDS[section.light]}"
    return f'<a class="{section.light.label}" href="#p{number}-{key}" title="{text(words)}">{_mark(section.light)}</a>'


def _legend() -> Iterator[str]:
    yield '<ul class="legend">'
    for light in sorted(Light, reverse=True):
        yield f'<li class="{light.label}">{_mark(light)} <b>{WORDS[light]}</b>: {EXPLAINED[light]}</li>'
    yield "</ul>"


def _page(page: Page, anchor: str) -> Iterator[str]:
    yield f'<article class="program" id="{anchor}">'
    yield "<header>"
    yield '<p class="eyebrow">torchlint audit</p>'
    yield f"<h1>{breakable(text(page.subject.name))}</h1>"
    yield f'<ul class="about">{"".join(f"<li>{rich(fact)}</li>" for fact in facts_of(page))}</ul>'
    yield f'<p class="verdict {page.light.label}">{_mark(page.light)} <span>{text(page.verdict)}</span></p>'
    yield "</header>"
    yield '<nav class="tiles" aria-label="Sections">'
    for section in page.sections:
        yield from _tile(section, anchor)
    yield "</nav>"
    for section in page.sections:
        yield from _section(section, anchor)
    yield from _unseen(page)
    yield "</article>"


def _tile(section: Section, anchor: str) -> Iterator[str]:
    yield f'<a class="tile {section.light.label}" href="#{anchor}-{text(section.key)}">'
    yield f"<b>{text(section.title)}</b>"
    yield f'<span class="state">{_mark(section.light)} {WORDS[section.light]}</span>'
    if section.headline:
        yield f'<span class="headline">{rich(section.headline)}</span>'
    yield "</a>"


def _section(section: Section, anchor: str) -> Iterator[str]:
    yield f'<section class="section {section.light.label}" id="{anchor}-{text(section.key)}">'
    badge = f'<span class="state-badge">{_mark(section.light)} {WORDS[section.light]}</span>'
    yield f"<h2>{text(section.title)} {badge}</h2>"
    if section.lines:
        yield '<ul class="lines">'
        for line in section.lines:
            yield from _line(line)
        yield "</ul>"
    yield f'<p class="looked">Looked for: {rich(section.looked_for)}</p>'
    yield "</section>"


def _line(line: Line) -> Iterator[str]:
    light = "fact" if line.light is None else line.light.label
    yield f'<li class="{light}">'
    yield _mark(line.light)
    yield f'<span class="label">{breakable(rich(line.label))}</span>'
    yield f'<div class="said">{rich(line.text)}{_rule(line)}'
    if line.advice:
        yield f'<p class="advice">{rich(line.advice)}</p>'
    yield from _spots(line.spots)
    yield "</div>"
    yield "</li>"


def _rule(line: Line) -> str:
    if not line.code:
        return ""
    if not line.url.startswith(("https://", "http://")):
        return f' <span class="rule">{text(line.code)}</span>'
    return f' <a class="rule" href="{text(line.url)}">{text(line.code)}</a>'


def _spots(spots: Sequence[Spot]) -> Iterator[str]:
    if not spots:
        return
    yield '<ul class="spots">'
    yield from map(_spot, spots[:_SPOTS])
    yield "</ul>"
    if len(spots) > _SPOTS:
        yield f"<details><summary>{len(spots) - _SPOTS} more</summary>"
        yield '<ul class="spots">'
        yield from map(_spot, spots[_SPOTS:])
        yield "</ul></details>"


def _spot(spot: Spot) -> str:
    note = f'<span class="note">{text(spot.note)}</span>' if spot.note else ""
    line = code_text(spot.source_line.strip())
    source = f'<pre class="source">{line}</pre>' if line else ""
    return f'<li><span class="where">{breakable(text(str(spot)))}</span>{note}{source}</li>'


def _unseen(page: Page) -> Iterator[str]:
    yield '<section class="unseen">'
    yield "<h2>Not seen</h2>"
    yield f"<ul>{items(rich(cut) for cut in page.unseen)}</ul>"
    count = len(page.subject.files)
    yield f"<details><summary>{'The one file' if count == 1 else f'The {count} files'} that were looked at</summary>"
    yield f'<ul class="files">{items(breakable(text(file)) for file in page.subject.files)}</ul></details>'
    yield "</section>"


def _mark(light: Light | None) -> str:
    """A sign beside the colour, for those who do not see colours; what it means stands in words near it."""
    return f'<span class="mark" aria-hidden="true">{"·" if light is None else _MARKS[light]}</span>'
