"""Ways to rewrite a program that must not change its findings."""

from __future__ import annotations

import ast
import bisect
import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

RUFF = shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff")


def reformat(folder: Path, line_length: int) -> None:
    """Format every Python file below a folder."""
    assert RUFF is not None
    options = ["--isolated", "--line-length", str(line_length), "--quiet", "--no-cache"]
    subprocess.run([RUFF, "format", *options, str(folder)], check=True, timeout=600)


@dataclass(frozen=True)
class Moved:
    """A text in which lines have moved down."""

    text: str
    inserted: tuple[int, ...]
    """The lines of the old text before which lines were put, sorted, once for each line put there."""

    def line(self, old: int) -> int:
        return old + bisect.bisect_right(self.inserted, old)


def with_remarks(text: str) -> Moved:
    """A blank line and a comment before every statement that begins its line: it names a rule, and what comes next."""
    lines = text.split("\n")
    starts = _statement_lines(ast.parse(text), lines)
    for start in sorted(starts, reverse=True):
        indent = lines[start - 1][: len(lines[start - 1]) - len(lines[start - 1].lstrip())]
        named = " ".join(spelled(name) for name in names_of(starts[start]))
        lines[start - 1 : start - 1] = ["", f"{indent}# about TL101 and torch: {named}"]
    return Moved("\n".join(lines), tuple(sorted([*starts] * 2)))


def names_of(code: ast.AST) -> list[str]:
    """Every identifier that code writes, in strings too; of a compound statement, in its header."""
    found: set[str] = set()
    inner = [] if isinstance(code, ast.Module) else [one for one in ast.walk(code) if isinstance(one, ast.stmt)][1:]
    below = {node for statement in inner for node in ast.walk(statement)}
    for node in set(ast.walk(code)) - below:
        written = [getattr(node, field, None) for field in ("id", "attr", "arg", "name", "asname", "module", "value")]
        found.update(word for one in written if isinstance(one, str) for word in re.findall(r"[^\W\d]\w*", one))
    return sorted(found)


def spelled(name: str) -> str:
    """A name in every form that code may give it."""
    return f"{name} self.{name} {name}(x) x.{name}(x) x.{name} = {name} x['{name}'] \"{name}\""


def _statement_lines(tree: ast.Module, lines: list[str]) -> dict[int, ast.stmt]:
    """The lines that a statement begins, each with the first one."""
    found: dict[int, ast.stmt] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        decorators = getattr(node, "decorator_list", [])
        line = min([node.lineno, *(decorator.lineno for decorator in decorators)])
        before = lines[line - 1].encode()[: node.col_offset].decode()
        if (decorators or not before.strip()) and not lines[line - 1].lstrip().startswith("elif"):
            found.setdefault(line, node)
    return found


@dataclass(frozen=True)
class Twin:
    """A program as a notebook, and where its lines went."""

    notebook: bytes
    first_lines: tuple[int, ...]

    def place(self, line: int) -> tuple[int, int]:
        """Cell and line of a line of the program."""
        cell = bisect.bisect_right(self.first_lines, line)
        return cell, line - self.first_lines[cell - 1] + 1


def as_notebook(text: str) -> Twin:
    """The program cut at its top-level statements, a cell each."""
    lines = text.split("\n")
    starts = [1]
    last = 0
    for statement in ast.parse(text).body:
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
        if first > max(last, starts[-1]):
            starts.append(first)
        last = statement.end_lineno or first
    cells: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell-{number}",
            "metadata": {},
            "outputs": [],
            "source": "\n".join(lines[start - 1 : end - 1]).splitlines(keepends=True),
        }
        for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(lines) + 1], strict=True))
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    notebook = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    return Twin(json.dumps(notebook).encode(), tuple(starts))


def comment_on_line(text: str, line: int, comment: str) -> str | None:
    """The text with a comment at the end of one of its lines, or None where no comment can stand."""
    lines = text.split("\n")
    lines[line - 1] += f"  {comment}"
    changed = "\n".join(lines)
    try:
        is_comment = ast.dump(ast.parse(changed)) == ast.dump(ast.parse(text))
    except SyntaxError:
        return None
    return changed if is_comment else None
