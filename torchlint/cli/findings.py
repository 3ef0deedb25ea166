"""Where the findings of a check go: to standard output or a file, and to other files as well."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from torchlint.cli.printing import print_lines, say, say_error
from torchlint.cli.writing import write_whole
from torchlint.diagnostics import Report
from torchlint.errors import ConfigError
from torchlint.report.context import Context, NotebookLines
from torchlint.report.formats import render
from torchlint.report.statistics import statistics_json_lines, statistics_lines

_WITH_EDITS = frozenset({"full", "json", "json-lines", "rdjson", "rdjsonl", "sarif"})


@dataclass(frozen=True, slots=True)
class Shown:
    """How findings are shown, and where."""

    output_format: str
    output: Path | None = None
    also: tuple[tuple[str, Path], ...] = ()
    statistics: bool = False
    notebook_lines: NotebookLines = "cell"
    all_places: bool = False

    @property
    def needs_edits(self) -> bool:
        """Whether some format tells the automatic fixes of findings."""
        return not _WITH_EDITS.isdisjoint((self.output_format, *(name for name, _ in self.also)))

    def say(self, report: Report, context: Context, *, on_error: bool = False) -> bool:
        """Write the files first: a reader that closes the pipe early must not cost them.

        With `on_error` the report goes to standard error: standard output has the text of a file.
        Whether all could be written: one that could not costs neither the others nor what is printed.
        """
        plain = dataclasses.replace(context, colour=False)
        files = [("--also", path, render(name, report, plain)) for name, path in self.also]
        if self.output is not None:
            files.append(("--output", self.output, self._lines(report, plain)))
        failures = []
        for option, path, lines in files:
            try:
                _write(path, lines, report, option)
            except ConfigError as error:
                failures.append(error)
        if self.output is None:
            print_lines(self._lines(report, context), on_error=on_error)
        for failure in failures:
            say_error(failure)
        return not failures

    def _lines(self, report: Report, context: Context) -> Iterator[str]:
        if not self.statistics:
            return render(self.output_format, report, context)
        return statistics_json_lines(report) if self.output_format == "json" else statistics_lines(report, context)


def _write(path: Path, lines: Iterator[str], report: Report, option: str) -> None:
    """Raises ConfigError."""
    write_whole(path, "".join(f"{line}\n" for line in lines), option)
    count = len(report.diagnostics)
    say(f"wrote {path} ({count} finding{'' if count == 1 else 's'})")
