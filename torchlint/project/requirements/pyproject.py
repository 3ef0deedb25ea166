"""TOML: pyproject.toml with the tables of Poetry, PDM and uv, Pipfiles, and lock files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from torchlint.project.requirements.specifiers import from_poetry, of_requirement


def in_pyproject(text: str, package: str) -> Iterator[str]:
    """What a pyproject.toml says of a package, in the tables that tools agree on and in those of their own."""
    data = toml_of(text)
    project, uv, poetry = table_of(data, "project"), table_of(data, "tool", "uv"), table_of(data, "tool", "poetry")
    lists = [project.get("dependencies"), *table_of(project, "optional-dependencies").values()]
    lists += table_of(data, "dependency-groups").values()
    lists += table_of(data, "tool", "pdm", "dev-dependencies").values()
    lists += [uv.get(name) for name in ("dev-dependencies", "constraint-dependencies", "override-dependencies")]
    stated = (one for some in lists if isinstance(some, list) for one in some if isinstance(one, str))
    for requirement in stated:
        yield from of_requirement(requirement, package)
    groups = (group for group in table_of(poetry, "group").values() if isinstance(group, dict))
    for group in (poetry, *groups):
        yield from _chosen(table_of(group, "dependencies"), package)
    yield from _chosen(table_of(poetry, "dev-dependencies"), package)
    yield from _from_source(table_of(data, "tool", "uv", "sources").get(package), package)


def in_pipfile(text: str, package: str) -> Iterator[str]:
    """What a Pipfile says of a package."""
    data = toml_of(text)
    for name in ("packages", "dev-packages"):
        yield from _chosen(table_of(data, name), package)


def in_pipfile_lock(text: str, package: str) -> Iterator[str]:
    """The version that a Pipfile.lock holds."""
    try:
        entry = json.loads(text)["default"][package]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    yield from _of_value(entry, package)


def in_lock(text: str, package: str) -> Iterator[str]:
    """The versions that a lock file of uv, Poetry or PDM holds; it may hold several, for platforms."""
    for match in re.finditer(rf'^name\s*=\s*"{package}"\s*\nversion\s*=\s*"(?P<version>[^"]+)"', text, re.MULTILINE):
        yield f"=={match['version']}"


def _chosen(table: dict[str, Any], package: str) -> Iterator[str]:
    """What a table from names to versions says of a package: one entry, or a list of them for platforms."""
    for name, value in table.items():
        if name.lower().replace("_", "-") == package.replace("_", "-"):
            for entry in value if isinstance(value, list) else [value]:
                yield from _of_value(entry, package)


def _of_value(entry: object, package: str) -> Iterator[str]:
    version = entry.get("version") if isinstance(entry, dict) else entry
    if isinstance(version, str):
        yield from from_poetry(version)
    yield from _from_source(entry, package)


def _from_source(entry: object, package: str) -> Iterator[str]:
    """A package that comes from a wheel, by its address or path, or from a tag of a repository."""
    for source in entry if isinstance(entry, list) else [entry]:
        if isinstance(source, dict):
            places = [source.get(key) for key in ("url", "path", "file")]
            places.append(f"git+{source['git']}@{source.get('tag') or source.get('rev')}" if "git" in source else None)
            for place in places:
                yield from of_requirement(f"{package} @ {place}" if isinstance(place, str) else "", package)


def toml_of(text: str) -> dict[str, Any]:
    """What a TOML text holds; nothing where it is none."""
    import tomli  # noqa: PLC0415 - only projects with such a file need it

    try:
        return tomli.loads(text)
    except (tomli.TOMLDecodeError, RecursionError):
        return {}


def table_of(data: dict[str, Any], *keys: str) -> dict[str, Any]:
    """The table under some keys; empty where there is none."""
    for key in keys:
        inner = data.get(key)
        data = inner if isinstance(inner, dict) else {}
    return data
