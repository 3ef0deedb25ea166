"""The formats of `torchlint check`. Each module here is one: `json_lines.py` is `--output-format json-lines`.

A module's `lines(report, context)` yields the lines of the whole output. There is no list to edit.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from torchlint.diagnostics import Report
    from torchlint.report.context import Context


class Renderer(Protocol):
    """What the module of a format holds."""

    def lines(self, report: Report, context: Context) -> Iterator[str]: ...


def format_names() -> tuple[str, ...]:
    """The formats there are, sorted."""
    return tuple(sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__)))


def render(name: str, report: Report, context: Context) -> Iterator[str]:
    """The lines of a report in a format."""
    module = cast("Renderer", importlib.import_module(f"{__name__}.{name.replace('-', '_')}"))
    return module.lines(report, context)
