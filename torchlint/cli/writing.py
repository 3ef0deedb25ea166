"""Writes a report to the file that `--output` names."""

from __future__ import annotations

import os
from pathlib import Path

from torchlint.errors import ConfigError

_SOURCES = frozenset({".py", ".pyw", ".ipynb"})


def write_whole(path: Path, text: str) -> None:
    """Write all of it or nothing: what stood there before survives a full disk."""
    if path.suffix.lower() in _SOURCES:
        raise ConfigError(f"--output: {path} is named like a source file, which would be lost")
    try:
        if path.exists() and not path.is_file():  # a device or a pipe is no file to be replaced
            _write_to(path, text)
            return
        target = path.resolve()  # a link stays one
        beside = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            _write_to(beside, text)
            if target.exists():
                beside.chmod(target.stat().st_mode)
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"--output: {path} cannot be written: {reason}") from error


def _write_to(path: Path, text: str) -> None:
    # A path that is no text (a lone surrogate) is written escaped rather than not at all.
    path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
