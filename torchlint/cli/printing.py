"""What the command line says: findings and listings on stdout, notes and errors on stderr."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathlib import Path

    from torchlint.diagnostics import InternalError, Note
    from torchlint.engine.run import Root


def print_lines(lines: Iterable[str], *, on_error: bool = False) -> None:
    """Print in one piece; the reports colour by themselves, so click strips nothing."""
    text = "\n".join(lines)
    if text:
        click.echo(text, color=True, err=on_error)


def print_bytes(data: bytes) -> None:
    """Print a file as it is."""
    click.echo(data, nl=False)


def say(message: str) -> None:
    """Tell on stderr how the run goes: what was written, what is executed."""
    click.echo(message, err=True)


def say_note(note: object) -> None:
    """Print what changes no exit code on stderr."""
    say(f"note: {note}")


def say_error(error: object) -> None:
    """Print on stderr what makes the exit code 2; every failure of the command line comes this way."""
    say(f"error: {error}")


def from_here(path: Path) -> str:
    """A path as seen from the current folder: `../torchlint.toml`."""
    return os.path.relpath(path).replace(os.sep, "/")


def say_missing(paths: Iterable[object]) -> None:
    """Print an error for each path that is not there."""
    for path in paths:
        say_error(f"{path}: no such file or folder")


def say_notes(notes: Iterable[Note]) -> None:
    """Print the notes."""
    for note in notes:
        say_note(note)


def say_internal_errors(errors: Iterable[InternalError]) -> None:
    """Print a line for each check that broke."""
    for error in errors:
        message = " ".join(error.message.split())
        say_error(f"internal: check `{error.check}` broke on {error.path}: {message}")


def setting_lines(root: Root) -> Iterator[str]:
    """Yield `name = value` for each setting, and a `target-torch` for each torch that files are judged for."""
    for field in fields(root.settings):
        if not field.repr:  # no setting: what is wrong with one
            continue
        yield f"{field.name.replace('_', '-')} = {_shown(getattr(root.settings, field.name))}"
        if field.name == "torch":
            for target, count in sorted(root.targets.items(), key=lambda item: item[0].source):
                files = f"; {count} file{'' if count == 1 else 's'}" if len(root.targets) > 1 else ""
                yield f"target-torch = {target} ({target.source}{files})"


def _shown(value: object) -> str:
    """A setting on one line, the same in every run."""
    label = getattr(value, "label", None)
    if label is not None:
        return str(label)
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, frozenset):
        return ", ".join(sorted(value)) or "none"
    if isinstance(value, tuple):
        return ", ".join(_pair(item) for item in value) or "none"
    return str(value)


def _pair(item: object) -> str:
    if isinstance(item, tuple):
        key, value = item
        return f"{key}: {value if isinstance(value, str) else ' '.join(sorted(value))}"
    return str(item)
