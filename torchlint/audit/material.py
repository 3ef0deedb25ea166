"""What the sections of a page draw on: one program, its project and what was found in the files that it reaches."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from torchlint.audit.page import Light, Line, Spot
from torchlint.audit.sources import Sources
from torchlint.diagnostics import Confidence, Diagnostic, Location, Report, Severity
from torchlint.facts.summary import FileSummary
from torchlint.project.index import Project
from torchlint.project.programs import Program

NOT_RUN = "in code that may not run"
_MOST_WORDS = 4
"""Names listed in a sentence before the rest is counted."""


@dataclass
class Material:
    """`project` is the project as the program sees it, and `report` holds the findings in the program's files."""

    program: Program
    project: Project
    report: Report
    sources: Sources
    least: Confidence
    """Of what `check` reports: a page shows the rest as well, in amber."""

    @functools.cached_property
    def summaries(self) -> list[FileSummary]:
        """Of the files that the program reaches."""
        known = self.project.summaries
        return [known[path] for path in sorted(self.program.files) if path in known]

    @functools.cached_property
    def devices(self) -> tuple[str, ...]:
        """The accelerators that findings about the program are about."""
        return self.project.devices_for(self.program.path)

    @property
    def trains(self) -> bool:
        """Whether the program is seen to train, by itself or by a library's trainer."""
        return self.project.randomness_of(self.program).trained is not None

    @property
    def files(self) -> str:
        """`the file` or `the 12 files`, for sentences about where was looked."""
        return "the one file" if len(self.program.files) == 1 else f"the {len(self.program.files)} files"

    def findings(self, codes: Collection[str]) -> list[Diagnostic]:
        """What `check` reports as well."""
        return [found for found in self.suspicions(codes) if self.is_reported(found)]

    def suspicions(self, codes: Collection[str]) -> list[Diagnostic]:
        """All that was found: also by rules that are off by default, and with less confidence than `check` asks for."""
        return [found for found in self.report.diagnostics if found.code in codes]

    def is_reported(self, found: Diagnostic) -> bool:
        return found.confidence >= self.least and found.code not in self.project.settings.optional

    def doubts(self, found: Diagnostic) -> tuple[bool, bool]:
        """Whether its code may not run, and whether `check` is silent on it: the least doubtful sorts first."""
        return not self.is_run(found.location), not self.is_reported(found)

    def spots(self, locations: Iterable[Location]) -> tuple[Spot, ...]:
        return tuple(self.sources.spot(location) for location in locations)

    def lines_of(self, codes: Collection[str]) -> list[Line]:
        """One line for each rule that found something: its message, or where it found several, its summary."""
        by_code: dict[tuple[bool, bool, str], list[Diagnostic]] = {}
        for found in self.suspicions(codes):
            by_code.setdefault((*self.doubts(found), found.code), []).append(found)
        return [*(self.line_of(found) for _, found in sorted(by_code.items())), *self._open_lines(codes)]

    def open_points(self, codes: Collection[str]) -> list[Diagnostic]:
        """What these rules leave open, code that may run first: nothing was shown to be wrong, nor to be harmless.

        Code that no name leads to counts as well: `eval("build_" + mode)` may.
        """
        found = [one for one in self.report.left_open if one.code in codes]
        return sorted(found, key=lambda one: not self.is_run(one.location))

    def _open_lines(self, codes: Collection[str]) -> Iterator[Line]:
        """One line for each rule that leaves points open."""
        by_kind: dict[tuple[str, str], list[Diagnostic]] = {}
        for one in self.open_points(codes):
            by_kind.setdefault((one.code, one.variant), []).append(one)
        for _, found in sorted(by_kind.items()):
            places = f" ({len(found)} places)" if len(found) > 1 else ""
            yield self.open_line(found, found[0].name, f"{found[0].message}{places}")

    def _spots_of(self, found: Diagnostic) -> Iterator[Spot]:
        """The place of a finding, and those that it names in other files: the kernel that adds atomically."""
        yield self.sources.spot(found.location, found.source_line)
        for related in found.related:
            if related.location.path != found.location.path:
                yield replace(self.sources.spot(related.location), note=related.message)

    def open_line(self, found: Sequence[Diagnostic], label: str, text: str) -> Line:
        """The line of points that are open for one reason."""
        first, spots = found[0], []
        for one in found:
            spots.append(self.sources.spot(one.location, one.source_line))
            uses = (self.sources.spot(related.location) for related in one.related)
            spots += [replace(spot, note=related.message) for spot, related in zip(uses, one.related, strict=True)]
        text = text if self.is_run(first.location) else f"{text} ({NOT_RUN})"
        by_line = {str(spot): spot for spot in reversed(spots)}
        return Line(label, text, Light.AMBER, tuple(reversed(by_line.values())), first.code, first.url, first.advice)

    def is_run(self, location: Location) -> bool:
        """Whether code at this place may run in the program, as far as names tell."""
        path = self._paths.get(location.path)
        return path is None or self.project.reach_of(self.program).holds(path, self.sources.symbol(location))

    @functools.cached_property
    def _paths(self) -> dict[str, str]:
        return {summary.start.location.path: summary.path for summary in self.summaries}

    def line_of(self, found: Sequence[Diagnostic], *, label: str = "", text: str = "") -> Line:
        """The line of findings that are one thing to know: either the program runs them all, or none of them."""
        first = found[0]
        if not text:
            summary = self.project.catalogue.rules[first.code].summary
            text = first.message if len(found) == 1 else f"{len(found)} places. {' '.join(summary.split()).rstrip('.')}"
        light = light_of(max(one.severity for one in found)) if self.is_reported(first) else Light.AMBER
        if first.confidence < self.least:
            text = f"{text} ({first.confidence.name.lower()} confidence)"
        if not self.is_run(first.location):
            text, light = f"{text} ({NOT_RUN})", Light.AMBER
        return Line(
            label=label or first.name,
            text=text,
            light=light,
            spots=tuple(spot for one in found for spot in self._spots_of(one)),
            code=first.code,
            url=first.url,
            advice=first.advice,
        )


def light_of(severity: Severity) -> Light:
    """What changes the exit code of a check is a reason found; a note leaves a point open."""
    return Light.RED if severity >= Severity.WARNING else Light.AMBER


def listed(words: Sequence[str], most: int = _MOST_WORDS) -> str:
    """`a`, `a and b`, `a, b and c`; `a, b and 7 more`."""
    if len(words) > most + 1:
        return f"{', '.join(words[:most])} and {len(words) - most} more"
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def headline(lines: Sequence[Line], otherwise: str = "") -> str:
    """What the judged lines of a section are about, the worst alone; `otherwise` where all are well."""
    for light in (Light.RED, Light.AMBER):
        labels = list(dict.fromkeys(line.label for line in lines if line.light is light))
        if labels:
            return listed(labels, 2)
    return otherwise
