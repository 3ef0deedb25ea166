"""Results as a table to read and as lines to keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import get_args

from tests.hardware.verdict import BAD, MODES, Mode, Observation, Verdict


@dataclass(frozen=True)
class Line:
    """One call of one entry. A field is text without tabs; empty is written `-`."""

    entry: str
    call: str
    row: str
    off: str
    on: str
    warn_only: str
    verdict: Verdict
    why: str = ""

    @property
    def bad(self) -> bool:
        return self.verdict in BAD


COLUMNS = tuple(column.name for column in fields(Line))


def shown(seen: dict[Mode, Observation]) -> tuple[str, str, str]:
    """The observations as the fields `off`, `on` and `warn_only`."""
    off, on, warn_only = (str(seen[mode]) for mode in MODES)
    return off, on, warn_only


def dump(lines: Iterable[Line], about: dict[str, str]) -> str:
    """Tab-separated, after comments that say where the results come from."""
    head = [f"# {name}: {value}" for name, value in about.items()]
    rows = ["\t".join(_field(value) for value in astuple(line)) for line in lines]
    return "\n".join([*head, "\t".join(COLUMNS), *rows, ""])


def _field(value: str) -> str:
    return " ".join(value.split()) or "-"


def load(path: Path) -> tuple[list[Line], dict[str, str]]:
    """Read what `dump` wrote. Raises ValueError for anything else."""
    text = path.read_text(encoding="utf-8").splitlines()
    comments = [line.removeprefix("# ").partition(": ") for line in text if line.startswith("# ")]
    head, *rows = [line.split("\t") for line in text if not line.startswith("# ")]
    if tuple(head) != COLUMNS:
        raise ValueError(f"{path.name}: the columns are not {', '.join(COLUMNS)}")
    lines = [Line(*("" if value == "-" else value for value in row)) for row in rows]  # type: ignore[arg-type]
    if any(line.verdict not in get_args(Verdict) for line in lines):
        raise ValueError(f"{path.name}: unknown verdict")
    return lines, {name: value for name, _, value in comments}


def table(lines: Sequence[Line]) -> str:
    """Aligned columns and, last, how many lines have which verdict."""
    rows = [COLUMNS, *([_field(value) for value in astuple(line)] for line in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    aligned = ["  ".join(f"{value:{width}}" for value, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    counts = Counter(line.verdict for line in lines)
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in get_args(Verdict) if counts[verdict])
    return "\n".join([*aligned, "", f"{len(lines)} calls: {summary}", ""])
