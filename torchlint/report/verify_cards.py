"""One finding on the page of `verify`: its verdict, what shows it, and how to see it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from torchlint.recording.names import VerdictName
from torchlint.report.html_page import breakable, code_text, rich, text
from torchlint.report.plots import plots_of
from torchlint.report.verify_words import MEANINGS, NOT_YET_SAFE, evidence_name, told_evidence, worded
from torchlint.verify.data import Result

_LOOKS: dict[VerdictName, tuple[str, str]] = {
    "DIVERGED": ("red", "✗"),
    "RAISED": ("red", "✗"),
    "CONFIRMED": ("red", "✗"),
    "REFUTED": ("green", "✓"),
    "VARIES": ("blue", "≈"),
    "TRACED": ("amber", "!"),
    "KERNEL-ONLY": ("amber", "!"),
    "NOT REPRODUCED": ("open", "?"),
    "SKIPPED": ("open", "–"),
}
"""The class of each verdict's colours, and a sign for those who do not see them. Not reproduced is no green."""
_STANZA = "configure"
_MOST_ROWS = 40
_WIDE = 30
"""Longer values have a line of their own."""


def look(verdict: VerdictName) -> str:
    """The class that gives an element the colours of a verdict."""
    return _LOOKS[verdict][0]


def badge(verdict: VerdictName) -> str:
    kind, sign = _LOOKS[verdict]
    mark = f'<span class="mark" aria-hidden="true">{sign}</span>'
    return f'<span class="state-badge {kind}" title="{text(MEANINGS[verdict])}">{mark} {verdict}</span>'


def card_lines(result: Result, anchor: str) -> Iterator[str]:
    finding = result.finding
    yield f'<section class="section finding {look(result.verdict)}" id="{anchor}">'
    yield f'<h3>{badge(result.verdict)} <span class="reason">{breakable(rich(result.reason))}</span></h3>'
    if result.verdict == "NOT REPRODUCED":
        yield f'<p class="caution">{text(NOT_YET_SAFE[:1].upper() + NOT_YET_SAFE[1:])}.</p>'
    asked = f" · probe {text(result.probe)} on {text(result.device)}" if result.probe else ""
    rule = f" · {text(finding.code)} {text(finding.name)}" if finding.code else ""
    yield f'<p class="where">{breakable(text(str(finding.location)))}{rule}{asked}</p>'
    if finding.source_line.strip():
        yield f'<pre class="source">{code_text(finding.source_line.strip())}</pre>'
    yield f'<p class="said">{breakable(rich(finding.message))}</p>'
    yield from evidence_lines(result.evidence)
    yield from _others(result)
    yield from _stanza(result.evidence.get(_STANZA))
    if result.reproduce:
        yield f'<p class="advice">Run it alone:</p><pre class="source command">{text(result.reproduce)}</pre>'
    yield "</section>"


def _others(result: Result) -> Iterator[str]:
    """What the other probes answered; their evidence unfolds."""
    if not result.others:
        return
    yield '<h4>Other answers</h4><ul class="others">'
    for answer in result.others:
        head = (
            f'{badge(answer.verdict)} <span class="where">{text(answer.probe)} on {text(answer.device)}</span> '
            f'<span class="reason">{breakable(rich(answer.reason))}</span>'
        )
        evidence = list(evidence_lines(answer.evidence))
        if evidence:
            yield f"<li><details><summary>{head}</summary>"
            yield from evidence
            yield "</details></li>"
        else:
            yield f'<li class="bare">{head}</li>'
    yield "</ul>"


def _stanza(configure: object) -> Iterator[str]:
    if not isinstance(configure, str):
        return
    yield '<p class="advice">Tell torchlint how to run it, in <code>pyproject.toml</code>:</p>'
    yield '<pre class="source command">'
    yield from (code_text(line) for line in configure.split("\n"))
    yield "</pre>"


# -- evidence -----------------------------------------------------------------------------------------


def evidence_lines(evidence: Mapping[str, object]) -> Iterator[str]:
    """The plots, then all that is told, by name; what a plot shows whole is not told again."""
    plots = plots_of(evidence)
    told = {key: value for key, value in told_evidence(evidence).items() if key not in {_STANZA, *plots.tell}}
    plain = {key: value for key, value in told.items() if not _is_table(value)}
    if plots.figures:
        yield '<div class="plots">'
        yield from plots.figures
        yield "</div>"
    if plain:
        yield from definition_lines({evidence_name(key): worded(value) for key, value in plain.items()})
    for key, value in told.items():
        if _is_table(value):
            yield f"<details><summary>{text(evidence_name(key))} ({len(_rows(value))})</summary>"
            yield from _table(_rows(value))
            yield "</details>"


def definition_lines(told: Mapping[str, str]) -> Iterator[str]:
    yield '<dl class="facts">'
    for name, words in told.items():
        kind = ' class="wide"' if len(words) > _WIDE else ""
        yield f"<div{kind}><dt>{text(name)}</dt><dd>{breakable(text(words))}</dd></div>"
    yield "</dl>"


def _is_table(value: object) -> bool:
    """Whether it is records of the same kind: a list of objects, or objects by name."""
    inner = list(value.values()) if isinstance(value, dict) else value
    return isinstance(inner, list) and bool(inner) and all(isinstance(each, dict) for each in inner)


def _rows(value: object) -> list[dict[str, object]]:
    if isinstance(value, dict):
        return [{"": name, **record} for name, record in value.items()]
    return [record for record in value if isinstance(record, dict)] if isinstance(value, list) else []


def _table(rows: Sequence[Mapping[str, object]]) -> Iterator[str]:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    heads = "".join(f'<th scope="col">{text(evidence_name(key))}</th>' for key in columns)
    yield f'<div class="table"><table><thead><tr>{heads}</tr></thead><tbody>'
    for row in rows[:_MOST_ROWS]:
        cells = "".join(f"<td>{breakable(text(worded(row[key])) if key in row else '')}</td>" for key in columns)
        yield f"<tr>{cells}</tr>"
    yield "</tbody></table></div>"
    if len(rows) > _MOST_ROWS:
        yield f'<p class="advice">and {len(rows) - _MOST_ROWS} more</p>'
