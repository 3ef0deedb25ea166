"""The magics of notebooks: `%load_ext torchlint`, then `%%torchlint` above a cell, or `%torchlint` for all so far.

The program that is checked is what this kernel has run: its cells in the order in which they ran, also where cells of
the document have changed since, with the facts of the project in whose folder the kernel works.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from msgspec.structs import replace

from torchlint.api import CheckOptions, check_paths
from torchlint.config.settings import Overrides
from torchlint.diagnostics import Diagnostic, Location, Related, Report
from torchlint.errors import TorchlintError
from torchlint.report.context import Context
from torchlint.report.formats import text

_CELL = "%%torchlint"
_NAMELESS = "<notebook>.ipynb"
"""Where the front end does not tell the kernel which document it is of."""


def _codes(option: str) -> tuple[str, ...]:
    return tuple(code for code in option.split(",") if code)


@magics_class
class TorchlintMagics(Magics):
    """What `%load_ext torchlint` brings."""

    shell: InteractiveShell

    @line_magic
    @magic_arguments()
    @argument("--select", type=_codes, default=None, help="Run these rules instead: codes, prefixes, names, ALL.")
    @argument("--extend-select", type=_codes, default=(), help="Run these rules as well.")
    @argument("--ignore", type=_codes, default=(), help="Leave these rules out.")
    @argument("--torch", default=None, help="The torch the notebook runs on, such as 2.6.")
    @argument("--cell", action="store_true", help="Show what is found in this cell alone, as `%%%%torchlint` does.")
    def torchlint(self, line: str) -> None:
        """Show why the notebook may give other numbers when it runs again.

        `%torchlint` checks the cells that have run so far. `%%torchlint` in the first line of a cell shows what is
        found in that cell, before it runs.
        """
        asked = parse_argstring(self.torchlint, line)
        overrides = Overrides(
            select=asked.select, extend_select=asked.extend_select, ignore=asked.ignore, torch=asked.torch
        )
        cells = list(self._cells())
        report = _named_by_count(_checked(cells, self._path(), overrides), [count for count, _ in cells])
        if asked.cell:
            here = _place(cells[-1][0])
            report = dataclasses.replace(
                report, diagnostics=tuple(each for each in report.diagnostics if each.location.path == here)
            )
        _show(report, "this cell" if asked.cell else "the cells that have run")

    def _cells(self) -> Iterator[tuple[int, str]]:
        """Number and text of each cell that has run, this one last; of those that ran again unchanged, the last run."""
        ran: dict[str, int] = {}
        for count, code in enumerate(self.shell.history_manager.input_hist_raw):  # type: ignore[union-attr]
            if count and code.strip():
                ran.pop(code, None)
                ran[code] = count
        yield from ((count, code) for code, count in ran.items())

    def _path(self) -> Path:
        """Where the notebook lies, or would lie."""
        told = self.shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME") or ""
        name = Path(str(told)).name
        return Path(name if name.endswith(".ipynb") else _NAMELESS)


def run_below(lines: list[str]) -> list[str]:
    """Make `%%torchlint` a line of its cell, which runs as any other then, with errors, `await` and a last value."""
    first = lines[0] if lines else ""
    return [f"%torchlint --cell{first[len(_CELL) :]}", *lines[1:]] if first.split()[:1] == [_CELL] else lines


def _checked(cells: Iterable[tuple[int, str]], path: Path, overrides: Overrides) -> Report:
    """Raises UsageError, which IPython shows in a line, for a rule or a setting that does not exist."""
    try:
        return check_paths([], CheckOptions(overrides=overrides, jobs=1), {path: _document(cells)})
    except TorchlintError as error:
        raise UsageError(str(error)) from error


def _document(cells: Iterable[tuple[int, str]]) -> bytes:
    """A notebook of these cells."""
    code: list[dict[str, Any]] = [
        {"cell_type": "code", "execution_count": count, "metadata": {}, "outputs": [], "source": source}
        for count, source in cells
    ]
    metadata = {"language_info": {"name": "python"}}
    return json.dumps({"cells": code, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}).encode()


def _named_by_count(report: Report, counts: list[int]) -> Report:
    """The report with places as the notebook shows them: line 2 of `In [3]`. A magic fixes nothing."""

    def shown(location: Location) -> Location:
        cell = location.cell
        return location if cell is None else replace(location, path=_place(counts[cell - 1]), cell=None)

    def renamed(one: Diagnostic) -> Diagnostic:
        related = tuple(Related(shown(each.location), each.message) for each in one.related)
        return dataclasses.replace(one, location=shown(one.location), related=related, fix_safety="")

    return dataclasses.replace(report, diagnostics=tuple(map(renamed, report.diagnostics)), programs=())


def _place(count: int) -> str:
    return f"In [{count}]"


def _show(report: Report, what: str) -> None:
    lines = [f"torchlint: error: check `{each.check}` broke: {each.message}" for each in report.internal_errors]
    if report.diagnostics:
        lines += text.lines(report, Context(all_places=True))
    else:
        lines.append(f"torchlint: nothing found in {what}")
    sys.stdout.writelines(f"{line.replace(_NAMELESS, 'this notebook')}\n" for line in lines)
