"""Finds and reads the configuration file nearest to a folder."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomli

from torchlint.config.options import Options, is_nearly_torchlint, parse_options
from torchlint.errors import ConfigError

OWN_FILE = "torchlint.toml"
PROJECT_FILE = "pyproject.toml"
BASELINE_FILE = "torchlint-baseline.json"

_TABLE = re.compile(r"^\s*\[\s*(?:tool\s*\.\s*)?[\"']?[\w-]+|^\s*tool\.[\w-]+", re.MULTILINE)
_PLACE = re.compile(r"(?P<what>.*) \(at (?:line (?P<line>\d+), column \d+|end of document)\)", re.DOTALL)


def find_config(folder: Path) -> Path | None:
    """The nearest torchlint.toml, or pyproject.toml with a `[tool.torchlint]` table, in `folder` or above it.

    In one folder torchlint.toml wins. The search ends with the home folder or the root of a mounted file system.
    Raises ConfigError for a pyproject.toml that mentions torchlint and is not TOML.
    """
    start = Path(os.path.abspath(folder))  # noqa: PTH100 - `resolve` would leave the user's tree at a symbolic link
    return next(filter(None, map(config_in, _searched(start))), None)


def _searched(start: Path) -> Iterator[Path]:
    """An absolute folder and those above it, up to the home folder or the root of a mounted file system."""
    for candidate in (start, *start.parents):
        yield candidate
        if ends_search(candidate):
            return


def ends_search(folder: Path) -> bool:
    """Whether nothing above a folder belongs to a project in it."""
    return _is_end(folder, home_folder())


@functools.lru_cache(maxsize=1024)  # the folders above those of a project are asked for each of these
def _is_end(folder: Path, home: Path | None) -> bool:
    return folder in (folder.parent, home) or os.path.ismount(folder)


def config_in(folder: Path) -> Path | None:
    """The configuration that a folder itself holds. Raises ConfigError as `find_config` does."""
    own, project = folder / OWN_FILE, folder / PROJECT_FILE
    if own.is_file():
        return own
    return project if project.is_file() and _table_of(project) is not None else None


def misspelt(folder: Path) -> Iterator[tuple[Path, str]]:
    """Files from `folder` up to its configuration that hold one which nothing reads, each with what to write."""
    start = Path(os.path.abspath(folder))  # noqa: PTH100 - as in find_config
    for candidate in _searched(start):
        hidden, project = candidate / f".{OWN_FILE}", candidate / PROJECT_FILE
        if hidden.is_file():
            yield hidden, f"nothing reads this file; did you mean `{OWN_FILE}`?"
        if project.is_file():
            yield from ((project, what) for what in _misspelt_tables(project))
        if config_in(candidate) is not None:
            return


def _misspelt_tables(project: Path) -> Iterator[str]:
    data = project.read_bytes()
    for found in dict.fromkeys(match[0] for match in _TABLE.finditer(data.decode(errors="replace"))):
        table = re.sub(r"[\s\[\"']", "", found)
        if table != "tool.torchlint" and is_nearly_torchlint(table.removeprefix("tool.")):
            yield f"nothing reads the table `{table}`; did you mean `tool.torchlint`?"


def read_options(config: Path) -> tuple[Options, str]:
    """The checked options of a configuration file, and the prefix of its keys (`tool.torchlint.` or nothing).

    Raises ConfigError naming the file and the line or key.
    """
    if config.name == PROJECT_FILE:
        return parse_options(_table_of(config) or {}, config, "tool.torchlint."), "tool.torchlint."
    return parse_options(_read_toml(config), config, ""), ""


def home_folder() -> Path | None:
    """None where neither the environment nor the list of users names one, as for the user of many a container."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def _table_of(project: Path) -> dict[str, Any] | None:
    """The `[tool.torchlint]` table; a project file that never says `torchlint` need not even be valid TOML."""
    tool = _read_toml(project).get("tool", {})
    table = tool.get("torchlint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{project}: `tool.torchlint`: expected a table")
    return table


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        status = path.stat()
        return _parse_toml(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error


@functools.lru_cache(maxsize=1024)
def _parse_toml(path: Path, _modified: int, _size: int) -> dict[str, Any]:
    data = path.read_bytes()
    if path.name == PROJECT_FILE and b"torchlint" not in data:
        return {}
    try:
        return tomli.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: is not UTF-8 text") from error
    except tomli.TOMLDecodeError as error:
        match = _PLACE.fullmatch(str(error))
        place = match["line"] if match and match["line"] else len(data.splitlines())
        what = match["what"] if match else str(error)
        raise ConfigError(f"{path}:{place}: is not TOML: {what[:1].lower()}{what[1:]}") from error
    except RecursionError:
        raise ConfigError(f"{path}: is nested too deeply") from None
