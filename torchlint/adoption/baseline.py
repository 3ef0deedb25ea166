"""The findings that a project had when it took torchlint up: a file names them, so that only new ones count."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from torchlint.config import BASELINE_FILE, Settings
from torchlint.diagnostics import Diagnostic
from torchlint.errors import ConfigError
from torchlint.fingerprints import path_from

_VERSION = 1
_LONGEST = 100
"""Characters of the source line that an entry shows: it is there for people, the fingerprint decides."""
_FINGERPRINT = re.compile(r"[0-9a-f]{64}")
_CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7})(?: |$)", re.MULTILINE)


class Row(msgspec.Struct, frozen=True):
    """What the file says of a fingerprint."""

    path: str
    code: str
    line: str


class Entry(msgspec.Struct, frozen=True, order=True):
    """A known finding; its path counts from the root, with `/`."""

    path: str
    code: str
    line: str
    fingerprint: str


class Baseline(msgspec.Struct, frozen=True):
    """The known findings of one root."""

    path: Path
    entries: tuple[Entry, ...] = ()

    @classmethod
    def read(cls, path: Path) -> Baseline:
        """Raises ConfigError for a file that is no baseline."""
        try:
            text = path.read_text(encoding="utf-8-sig")
            content: Any = json.loads(text)
        except FileNotFoundError as error:
            raise ConfigError(f"{path}: there is no such baseline (`torchlint baseline` writes it)") from error
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise ConfigError(f"{path}: cannot be read: {reason}") from error
        except (ValueError, RecursionError) as error:
            raise ConfigError(_damage(path, text, error)) from error
        if not isinstance(content, dict) or "version" not in content:
            raise ConfigError(f"{path}: is not a baseline of torchlint (`torchlint baseline` writes one)")
        version = content.pop("version")
        if version != _VERSION:
            raise ConfigError(f"{path}: is a baseline of version {version}, and this torchlint reads {_VERSION}")
        return cls(path, tuple(sorted(_entries(path, content))))

    @property
    def text(self) -> str:
        """The same for the same entries. One line each, and none is the last: branches that add entries merge."""
        lines = [f"  {json.dumps(entry.fingerprint)}: {_row(entry)}," for entry in sorted(self.entries)]
        return "\n".join(["{", *lines, f'  "version": {_VERSION}', "}", ""])


def baseline_of(settings: Settings) -> Baseline | None:
    """The baseline that holds for a root, if there is one. Raises ConfigError for one that cannot be read."""
    path = baseline_path(settings)
    if settings.baseline is None and not path.exists():
        return None
    return Baseline.read(path)


def baseline_path(settings: Settings) -> Path:
    """Where the baseline of a root is, or would be."""
    return settings.baseline or settings.root / BASELINE_FILE


def refuse_shared(paths: Sequence[Path]) -> None:
    """Raise ConfigError where two roots have one baseline: its paths count from the root."""
    for path, count in Counter(paths).items():
        if count > 1:
            raise ConfigError(f"{path}: is the baseline of {count} roots: give each root its own")


def entries_for(findings: Iterable[Diagnostic], root: Path) -> tuple[Entry, ...]:
    """What a baseline says of these findings."""
    return tuple(
        Entry(path_from(root, found.location.path), found.code, _shown(found.source_line), found.fingerprint)
        for found in findings
    )


def _shown(source_line: str) -> str:
    line = " ".join(source_line.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _row(entry: Entry) -> str:
    return json.dumps({"path": entry.path, "code": entry.code, "line": entry.line})


def _entries(path: Path, content: dict[str, Any]) -> Iterable[Entry]:
    try:
        rows = msgspec.convert(content, dict[str, Row])
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: is damaged: {error}") from error
    for fingerprint, row in rows.items():
        if not _FINGERPRINT.fullmatch(fingerprint):
            raise ConfigError(f"{path}: is damaged: `{fingerprint}` is not a fingerprint")
        yield Entry(row.path, row.code, row.line, fingerprint)


def _damage(path: Path, text: str, error: Exception) -> str:
    conflict = _CONFLICT.search(text)
    if conflict is not None:
        line = text.count("\n", 0, conflict.start()) + 1
        remedy = "keep the lines of both sides, or delete the file and run `torchlint baseline`"
        return f"{path}:{line}: holds a merge conflict: {remedy}"
    place = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
    return f"{path}{place}: is damaged: it is not valid JSON"
