"""Findings that an earlier `check --output-format json` wrote."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from torchlint.diagnostics import Diagnostic
from torchlint.errors import TorchlintError


class SavedFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One object of the array, as far as it tells findings apart."""

    code: str
    path: str
    cell: int | None
    line: int
    column: int


def read_saved(file: Path) -> tuple[SavedFinding, ...]:
    """Raises TorchlintError for a file that cannot be read or is no such array."""
    try:
        return tuple(msgspec.json.decode(file.read_bytes(), type=list[SavedFinding]))
    except OSError as error:
        raise TorchlintError(f"--from: {file} cannot be read: {error.strerror or error}") from error
    except msgspec.DecodeError as error:
        words = "is not the array that `torchlint check --output-format json` writes"
        raise TorchlintError(f"--from: {file} {words}: {error}") from error


def still_there(saved: Iterable[SavedFinding], findings: Iterable[Diagnostic]) -> tuple[list[Diagnostic], int]:
    """The findings of now that were saved, and how many of the saved ones are gone."""
    by_place = {_key(finding): finding for finding in findings}
    kept = [by_place.get((each.code, Path(each.path).as_posix(), each.cell, each.line, each.column)) for each in saved]
    return [finding for finding in kept if finding is not None], kept.count(None)


def _key(finding: Diagnostic) -> tuple[str, str, int | None, int, int]:
    place = finding.location
    return finding.code, Path(place.path).as_posix(), place.cell, place.line, place.column
