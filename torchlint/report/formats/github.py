"""Annotations of GitHub Actions: workflow commands that the runner reads from the log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from torchlint.diagnostics import Severity
from torchlint.report.paint import one_line

if TYPE_CHECKING:
    from torchlint.diagnostics import Diagnostic, Report
    from torchlint.report.context import Context

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def lines(report: Report, context: Context) -> Iterator[str]:
    """Yield a command for each finding, and a warning for each file that was not checked."""
    for diagnostic in report.diagnostics:
        yield _annotation(diagnostic, context)
    for skipped in report.skipped:
        properties = {"title": "torchlint: not checked", "file": _file(skipped.path or "")}
        yield _command("warning", properties, one_line(str(skipped)))


def _annotation(diagnostic: Diagnostic, context: Context) -> str:
    place = context.sources.in_file(diagnostic.location)
    properties = {"title": f"{diagnostic.code} {diagnostic.name}", "file": _file(place.path), "line": str(place.line)}
    if place.line == place.end_line:
        # The runner drops the columns of a span over several lines, with a complaint in the log.
        properties |= {"col": str(place.column), "endLine": str(place.end_line), "endColumn": str(place.end_column)}
    else:
        properties |= {"endLine": str(place.end_line)}
    # In the log the runner shows the message alone, so the place stands in it as well.
    message = f"{diagnostic.location}: {diagnostic.code} {diagnostic.message}"
    advice = f"\n{diagnostic.advice}" if diagnostic.advice else ""
    return _command(_COMMANDS[diagnostic.severity], properties, f"{one_line(message)}{advice}")


def _file(path: str) -> str:
    """The runner finds the place of a whole path in the repository; it takes any other to start at the root of it."""
    return str(Path(path).absolute())


def _command(name: str, properties: dict[str, str], message: str) -> str:
    # As the toolkit's `command.ts` escapes and the runner's `ActionCommand.cs` takes back.
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {listed}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
