"""What a run of `verify` showed, as one HTML file that needs nothing else: no script, no font, no network."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from torchlint import __version__
from torchlint.recording.messages import Environment
from torchlint.recording.names import VerdictName
from torchlint.report.executed_code import listing_lines, marks_of
from torchlint.report.html_page import breakable, code_text, items, page_lines, rich, text
from torchlint.report.verify_cards import badge, card_lines, definition_lines, look
from torchlint.report.verify_words import MEANINGS, NOT_YET_SAFE, call_words
from torchlint.verify.data import STRONGEST_FIRST, Result, TargetRun, Verification


@dataclasses.dataclass(frozen=True)
class _Numbered:
    """A result with the name that links use."""

    anchor: str
    result: Result


@dataclasses.dataclass(frozen=True)
class _Target:
    """What belongs together on the page: one target and the findings about it, the strongest first."""

    name: str
    path: str
    run: TargetRun | None
    findings: tuple[_Numbered, ...]


def html_lines(found: Verification) -> Iterator[str]:
    """Yield the file's lines."""
    counts = ", ".join(f"{count} {verdict}" for verdict, count in found.summary.items())
    yield from page_lines(f"torchlint verify: {counts or 'nothing to verify'}", "verify.css", _body(found))


def _body(found: Verification) -> Iterator[str]:
    findings = _numbered(found)
    targets = _targets(found, findings)
    yield from _header(found, targets)
    if findings:
        yield from _index(findings)
    for target in targets:
        yield from _target(target, is_only=len(targets) == 1)
    yield "<footer>"
    yield '<h2>Verdicts, the strongest first</h2><ul class="meanings">'
    yield items(f"{badge(verdict)} {text(MEANINGS[verdict])}" for verdict in STRONGEST_FIRST)
    yield "</ul>"
    yield f"<p>Written by torchlint {text(__version__)}, which executed the code that is shown here.</p>"
    yield "</footer>"


def _numbered(found: Verification) -> list[_Numbered]:
    ordered = sorted(found.results, key=lambda result: (STRONGEST_FIRST.index(result.verdict), result.sort_key))
    return [_Numbered(f"f{number}", result) for number, result in enumerate(ordered, 1)]


def _targets(found: Verification, findings: Sequence[_Numbered]) -> list[_Target]:
    """In the order of their strongest verdicts."""
    runs = {(run.path, run.name): run for run in found.runs}
    grouped: dict[tuple[str, str], list[_Numbered]] = {}
    for numbered in findings:
        result = numbered.result
        grouped.setdefault((result.finding.location.path, result.target), []).append(numbered)
    return [_Target(name, path, runs.get((path, name)), tuple(own)) for (path, name), own in grouped.items()]


# -- header and index ---------------------------------------------------------------------------------


def _header(found: Verification, targets: Sequence[_Target]) -> Iterator[str]:
    yield "<header>"
    yield '<p class="eyebrow">torchlint verify</p>'
    if found.results:
        yield f"<h1>{_count(len(found.results), 'finding')}, {_count(len(targets), 'target')}</h1>"
    else:
        yield "<h1>Nothing to verify</h1>"
    if found.environment is not None:
        yield f'<ul class="about">{items(map(text, _chips(found.environment)))}</ul>'
    yield '<nav class="tiles verdicts" aria-label="Verdicts">'
    for verdict, count in found.summary.items():
        yield from _tile(verdict, count)
    yield "</nav>"
    if "NOT REPRODUCED" in found.summary:
        yield f'<p class="caution">{text(NOT_YET_SAFE[:1].upper() + NOT_YET_SAFE[1:])}.</p>'
    if found.without_probe:
        yield f'<p class="advice">{_count(found.without_probe, "more finding")} that no run can tell about.</p>'
    if found.sandbox:
        yield f'<p class="protection">What kept the code from your files: {text(found.sandbox)}.</p>'
    if found.environment is not None:
        yield "<details><summary>Environment: the bits depend on all of it</summary>"
        yield from definition_lines(_environment(found.environment))
        yield "</details>"
    if found.notes:
        notes = map(str, found.notes)
        yield f"<details><summary>{_count(len(found.notes), 'note')}</summary>"
        yield f'<ul class="notes">{items(breakable(rich(note)) for note in notes)}</ul></details>'
    yield "</header>"


def _chips(environment: Environment) -> list[str]:
    devices = [name if device == "cpu" else f"{device}: {name}" for device, name in environment.devices.items()]
    return [f"torch {environment.torch}", f"Python {environment.python}", *devices]


def _environment(environment: Environment) -> dict[str, str]:
    variables = {f"variable {name}": value for name, value in environment.variables.items()}
    devices = {f"device {name}": value for name, value in environment.devices.items()}
    return {
        "torch": environment.torch,
        "Python": environment.python,
        "platform": environment.platform,
        "CPU": environment.cpu,
        "CPU capability": environment.cpu_capability,
        "threads": str(environment.threads),
        "seed": str(environment.seed),
        **devices,
        **variables,
    }


def _tile(verdict: VerdictName, count: int) -> Iterator[str]:
    yield f'<a class="tile {look(verdict)}" href="#{_anchor(verdict)}">'
    yield f'<b class="count">{count}</b> {badge(verdict)}'
    yield f'<span class="headline">{text(MEANINGS[verdict])}</span>'
    yield "</a>"


def _index(findings: Sequence[_Numbered]) -> Iterator[str]:
    yield '<nav class="index" aria-label="Findings"><table>'
    previous: VerdictName | None = None
    for numbered in findings:
        result = numbered.result
        if result.verdict != previous:
            if previous is not None:
                yield "</tbody>"
            previous = result.verdict
            yield f'<tbody class="{look(previous)}" id="{_anchor(previous)}">'
            yield f'<tr class="group"><th scope="rowgroup" colspan="3">{badge(previous)}</th></tr>'
        where = breakable(text(result.finding.location.shown_line))
        yield (
            f'<tr><td class="rule">{text(result.finding.code or result.finding.name)}</td>'
            f'<th scope="row"><a href="#{numbered.anchor}">{where}</a></th>'
            f'<td class="reason">{breakable(rich(result.reason))}</td></tr>'
        )
    yield "</tbody></table></nav>"


def _anchor(verdict: VerdictName) -> str:
    return verdict.lower().replace(" ", "-")


# -- targets ------------------------------------------------------------------------------------------


def _target(target: _Target, *, is_only: bool) -> Iterator[str]:
    yield '<article class="target">'
    name = breakable(text(target.name)) if target.name else "not planned"
    yield f'<h2>{name} <span class="where">{breakable(text(target.path))}</span></h2>'
    if target.run is not None:
        yield from definition_lines(_how_it_ran(target.run))
    for numbered in target.findings:
        yield from card_lines(numbered.result, numbered.anchor)
    if target.run is not None:
        yield from _executed(target, target.run, is_open=is_only)
        yield from _output(target.run.output)
    yield "</article>"


def _how_it_ran(run: TargetRun) -> dict[str, str]:
    told: dict[str, str] = {}
    if run.executed is not None:
        told["executed"] = call_words(run.executed)
        told["arguments"] = run.executed.built_by
        told["attempts"] = str(run.executed.attempts) if run.executed.attempts > 1 else ""
        told["stood in for missing imports"] = ", ".join(run.executed.stubs)
    told["took"] = f"{run.seconds:.1f} s"
    told["ended"] = "" if run.end == "done" else run.end
    return {name: words for name, words in told.items() if words}


def _executed(target: _Target, run: TargetRun, *, is_open: bool) -> Iterator[str]:
    if not run.text.strip():
        return
    yield f"<details{' open' if is_open else ''}><summary>The code that was executed</summary>"
    yield from listing_lines(run, marks_of(run, [numbered.result for numbered in target.findings]))
    yield "</details>"


def _output(output: str) -> Iterator[str]:
    if not output.strip():
        return
    yield "<details><summary>What it printed</summary>"
    yield '<pre class="source output">'
    yield from map(code_text, output.rstrip().split("\n"))
    yield "</pre></details>"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
