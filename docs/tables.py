"""Parts of generated pages: headed sections and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def section(title: str, text: str) -> str:
    """A second-level section; nothing for an empty text."""
    return f"## {title}\n\n{text.strip()}" if text.strip() else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; `|` in a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
