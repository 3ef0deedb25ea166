"""What the page of `verify` shows of an answer's evidence: plots, facts and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torchlint.report.plots import plots_of
from torchlint.report.svg import Figure
from torchlint.report.verify_words import evidence_name, told_evidence, worded

_STANZA = "configure"


@dataclass(frozen=True, slots=True)
class Table:
    """Records of one kind."""

    name: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence in words; what a plot shows whole is not told again."""

    figures: tuple[Figure, ...]
    facts: Mapping[str, str]
    tables: tuple[Table, ...]
    stanza: str
    """What to paste into the configuration."""

    @property
    def is_empty(self) -> bool:
        return not (self.figures or self.facts or self.tables)


def shown_evidence(evidence: Mapping[str, object]) -> Evidence:
    plots = plots_of(evidence)
    stanza = evidence.get(_STANZA)
    told = {key: value for key, value in told_evidence(evidence).items() if key not in {_STANZA, *plots.tell}}
    records = {key: _records(value) for key, value in told.items()}
    return Evidence(
        plots.figures,
        {evidence_name(key): worded(value) for key, value in told.items() if not records[key]},
        tuple(_table(key, rows) for key, rows in records.items() if rows),
        stanza if isinstance(stanza, str) else "",
    )


def _records(value: object) -> list[dict[str, object]]:
    """The rows of a list of objects, or of objects by name; none for what is no table."""
    if isinstance(value, dict) and all(isinstance(record, dict) for record in value.values()):
        return [{"": name, **record} for name, record in value.items()]
    if isinstance(value, list) and all(isinstance(record, dict) for record in value):
        return value
    return []


def _table(key: str, rows: list[dict[str, object]]) -> Table:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    return Table(
        evidence_name(key),
        tuple(map(evidence_name, columns)),
        tuple(tuple(worded(row[column]) if column in row else "" for column in columns) for row in rows),
    )
