"""Notebooks (nbformat 3 and 4): the code cells in file order, joined to one text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from torchlint.errors import SkippedSource, UnreadableSource
from torchlint.source.decoding import normalised, position_at
from torchlint.source.magics import replace_magics
from torchlint.source.syntax import NewerSyntax, parse_text
from torchlint.source.text import CellSpan, EnvironmentSetting, Problem, Source

_PYTHON_NAMES = frozenset({"python", "python2", "python3", "ipython", "ipython2", "ipython3", "pyspark", "pyspark3"})
# Kernels that name no language in the file, by how their names begin.
_OTHER_KERNELS = ("ir", "julia", "rust", "javascript", "bash", "xcpp", "scala", "sos", "octave", "matlab")


class Cell(msgspec.Struct, frozen=True):
    """A code cell."""

    index: int
    """From 1, among all cells of the notebook."""
    text: str
    execution_count: int | None


class _Reading(msgspec.Struct, frozen=True):
    """One cell made ready to join. Problems and settings count lines from the cell's first."""

    text: str
    indent: int = 0
    problem: Problem | None = None
    environment: tuple[EnvironmentSetting, ...] = ()
    newer: str | None = None


def read_notebook(data: bytes, shown: str, *, largest: int | None = None) -> Source:
    """The Python of a notebook. Raises UnreadableSource for what is not a notebook.

    SkippedSource is raised for another language, and where the code has more than `largest` bytes.
    """
    code = code_cells(data)
    size = sum(len(cell.text.encode(errors="surrogatepass")) for cell in code)
    if largest is not None and size > largest:
        raise SkippedSource(f"{size:,} bytes of code is above max-file-size ({largest:,})")
    return _joined(shown, code)


def code_cells(data: bytes) -> list[Cell]:
    """The code cells in file order. Raises UnreadableSource and SkippedSource as `read_notebook` does."""
    notebook = _object(_json(data), "the notebook")
    cells = all_cells(notebook)
    language = _language(notebook)
    if language.lower() not in _PYTHON_NAMES:
        raise SkippedSource(f"the notebook's language is {language}, not Python")
    return [found for index, cell in enumerate(cells, 1) if (found := _code(index, cell)) is not None]


def _joined(shown: str, cells: list[Cell]) -> Source:
    lines: list[str] = []
    spans: list[CellSpan] = []
    problems: list[Problem] = []
    environment: list[EnvironmentSetting] = []
    skipped: list[tuple[int, str]] = []
    for cell in cells:
        reading = _read_cell(cell.text)
        above = len(lines)
        cell_lines = reading.text.split("\n")
        lines += cell_lines
        spans.append(CellSpan(cell.index, above + 1, len(cell_lines), cell.execution_count, reading.indent))
        if reading.problem is not None:
            problems.append(replace(reading.problem, line=above + reading.problem.line))
        if reading.newer is not None:
            skipped.append((cell.index, reading.newer))
        environment += [replace(setting, line=above + setting.line) for setting in reading.environment]
    kept = tuple(lines) or ("",)
    return Source(shown, "\n".join(kept), kept, tuple(spans), tuple(problems), tuple(environment), tuple(skipped))


def _read_cell(text: str) -> _Reading:
    try:
        parse_text(text)
    except UnreadableSource:
        pass
    else:
        return _Reading(text)
    text, indent = _dedented(text)
    plain = replace_magics(text)
    blank = "\n" * text.count("\n")
    try:
        parse_text(plain.text)
    except NewerSyntax as error:
        return _Reading(blank, environment=plain.environment, newer=error.reason)
    except UnreadableSource as error:
        problem = Problem(error.reason, error.line, error.column)
        return _Reading(blank, indent, problem, plain.environment)
    return _Reading(plain.text, indent, environment=plain.environment)


def _dedented(text: str) -> tuple[str, int]:
    """A cell that is indented as a whole, without the indent, as IPython runs it."""
    lines = text.split("\n")
    first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    if not indent or not all(line.startswith(indent) for line in lines if line.strip()):
        return text, 0
    return "\n".join(line.removeprefix(indent) for line in lines), len(indent)


def _code(index: int, cell: object) -> Cell | None:
    """A cell's Python; None for text, raw cells and other languages."""
    where = f"cell {index}"
    fields = _object(cell, where)
    kind = fields.get("cell_type")
    if not isinstance(kind, str):
        raise UnreadableSource(f"not a notebook: {where} has no `cell_type`")
    if kind != "code":
        return None
    text = _cell_text(fields, where)
    count = fields.get("execution_count", fields.get("prompt_number"))
    known = count if isinstance(count, int) and not isinstance(count, bool) else None
    return Cell(index, text if _is_python_cell(fields, where) else "\n" * text.count("\n"), known)


def _cell_text(cell: Mapping[str, Any], where: str) -> str:
    source = cell_source(cell)
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        raise UnreadableSource(f"not a notebook: the source of {where} is neither text nor a list of lines")
    return normalised(source)


def cell_source(cell: Any) -> Any:  # noqa: ANN401 - JSON
    """What a cell holds: text or a list of lines."""
    return cell.get("source", cell.get("input", ""))  # nbformat 3 says `input`


def _is_python_cell(cell: Mapping[str, Any], where: str) -> bool:
    """False for a cell that its editor, or nbformat 3, marks as written in another language."""
    metadata = _object(cell.get("metadata", {}), f"the metadata of {where}")
    editor = metadata.get("vscode")
    named = [cell.get("language"), editor.get("languageId") if isinstance(editor, dict) else None]
    return all(name.lower() in _PYTHON_NAMES for name in named if isinstance(name, str))


def _language(notebook: Mapping[str, Any]) -> str:
    metadata = _object(notebook.get("metadata", {}), "the metadata")
    info = _object(metadata.get("language_info", {}), "`language_info`")
    kernel = _object(metadata.get("kernelspec", {}), "`kernelspec`")
    for name in (info.get("name"), kernel.get("language"), metadata.get("language")):
        if isinstance(name, str) and name:
            return name
    name = kernel.get("name")
    if isinstance(name, str) and (name == "ir" or name.lower().startswith(_OTHER_KERNELS[1:])):
        return name
    return "python"


def all_cells(notebook: Mapping[str, Any]) -> list[object]:
    """The cells of a notebook in file order, of any kind."""
    if "cells" in notebook or "worksheets" not in notebook:
        return _list(notebook.get("cells"), "`cells`")
    sheets = _list(notebook["worksheets"], "`worksheets`")  # nbformat 3
    return [cell for sheet in sheets for cell in _list(_object(sheet, "a worksheet").get("cells", []), "`cells`")]


def _object(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UnreadableSource(f"not a notebook: {what} is not a JSON object")
    return value


def _list(value: object, what: str) -> list[object]:
    if not isinstance(value, list):
        raise UnreadableSource(f"not a notebook: {what} is not a list")
    return value


def _json(data: bytes) -> object:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = normalised(data[: error.start].decode("utf-8-sig", "replace"))
        place = position_at(before, len(before))
        raise UnreadableSource("cannot be decoded as UTF-8, which notebooks are written in", *place) from None
    try:
        parsed: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableSource(f"not valid JSON: {error.msg}", error.lineno, error.colno) from None
    except (RecursionError, MemoryError):
        raise UnreadableSource("the JSON is nested too deeply to read") from None
    except ValueError as error:  # a number with thousands of digits
        raise UnreadableSource(f"not valid JSON: {error}") from None
    return parsed
