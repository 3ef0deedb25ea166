"""What the requirements of a project admit: the target torch, and releases of other packages."""

from __future__ import annotations

import ast
import functools
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from torchlint.catalogue.versions import Minor, TorchTarget, format_minor, parse_minor
from torchlint.errors import ConfigError

_PATCHES = range(10)
"""A minor release is admitted when any of its patch releases is."""

_TORCH = "torch"
_CONDA_NAMES = {_TORCH: "(?:torch|pytorch)"}


def target_of(
    root: Path, requirement_files: Sequence[Path], configured: str | None, catalogue: Releases
) -> TorchTarget:
    """The target torch of the project at `root`.

    In this order: the configuration; the project's requirements; the torch installed in its environment; the newest
    release the registry was checked against. Raises ConfigError when `configured` is no version specifier.
    """
    releases, newest = catalogue
    checked = tuple(release for release in releases if release <= newest)
    if configured:
        return _configured(configured, releases, checked)
    for path in _in_order(requirement_files):
        for specifier in specifiers_in(path, _TORCH):
            admitted = admitted_releases(specifier, checked) or admitted_releases(specifier, releases)
            if admitted:
                return TorchTarget(admitted, f"{path.relative_to(root).as_posix()}: torch{specifier}")
    installed = _installed(root)
    if installed is not None:
        source = f"torch {format_minor(installed)} installed in the project's environment"
        return TorchTarget((installed,), source, declared=False)
    return TorchTarget((newest,), "nothing pins torch", pinned=False, declared=False)


Releases = tuple[tuple[Minor, ...], Minor]
"""All known releases, and the newest that the registry was checked against."""


def _configured(text: str, releases: tuple[Minor, ...], checked: tuple[Minor, ...]) -> TorchTarget:
    source = f"torch = {text!r} in the configuration"
    if re.fullmatch(r"\s*\d+\.\d+(\.\d+)?\s*", text):
        return TorchTarget((parse_minor(text.strip()),), source)
    try:
        admitted = admitted_releases(text, checked) or admitted_releases(text, releases)
    except ValueError as error:
        raise ConfigError(f"torch: `{text}` is neither a version such as 2.6 nor a range such as >=2.1,<2.6") from error
    if not admitted:
        raise ConfigError(f"torch: `{text}` admits no release that torchlint knows")
    return TorchTarget(admitted, source)


def admitted_releases(specifier: str, releases: Iterable[Minor]) -> tuple[Minor, ...]:
    """The minor releases that a PEP 440 specifier admits. Raises ValueError for text that is none."""
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415 - only a few runs need it

    allowed = SpecifierSet(specifier)
    return tuple(
        release
        for release in releases
        if any(allowed.contains(f"{format_minor(release)}.{patch}") for patch in _PATCHES)
    )


def specifiers_in(path: Path, package: str) -> list[str]:
    """The usable specifiers of a package that a requirements file holds. A file that cannot be read holds none."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    found = _reader_for(path)(text, package)
    return [specifier for specifier in map(_clean, found) if specifier]


def pinned(requirement_files: Sequence[Path], package: str) -> str | None:
    """The specifier that the project's requirements give a package: the first in the order of `target_of`."""
    for path in _in_order(requirement_files):
        for specifier in specifiers_in(path, package):
            return specifier
    return None


def admits(specifier: str, releases: Iterable[str]) -> bool:
    """Whether a usable specifier admits one of these releases."""
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415 - only a few runs need it

    allowed = SpecifierSet(specifier)
    return any(allowed.contains(release) for release in releases)


def _in_order(requirement_files: Sequence[Path]) -> list[Path]:
    return sorted(requirement_files, key=lambda path: (len(path.parts), _rank(path), str(path)))


def _clean(specifier: str) -> str | None:
    """A PEP 440 specifier, without local versions; None for an empty or foreign one."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415 - only a few runs need it

    text = re.sub(r"\+[\w.]+", "", specifier).strip().strip("()").strip()
    try:
        return str(SpecifierSet(text)) or None
    except InvalidSpecifier:
        return None


def _rank(path: Path) -> int:
    order = ("pyproject.toml", "requirements", "setup.cfg", "setup.py", ".lock", "environment", "conda")
    return next((index for index, part in enumerate(order) if part in path.name), len(order))


def _reader_for(path: Path) -> Callable[[str, str], Iterator[str]]:
    if path.name == "pyproject.toml":
        return _in_pyproject
    if path.name == "setup.py":
        return _in_setup_py
    if path.name == "Pipfile.lock":
        return _in_pipfile_lock
    if path.suffix == ".lock":
        return _in_lock
    if path.suffix in (".yml", ".yaml"):
        return _in_environment
    return _in_lines


@functools.cache
def _requirement(package: str) -> re.Pattern[str]:
    name = _CONDA_NAMES.get(package, package)
    return re.compile(rf"""^\s*{name}(?![\w.-])\s*(?:\[[^\]]*\])?\s*(?P<spec>[^;#"']*)""", re.IGNORECASE)


def _in_lines(text: str, package: str) -> Iterator[str]:
    for line in text.splitlines():
        yield from _of_requirement(line, package)


def _of_requirement(line: str, package: str) -> Iterator[str]:
    match = _requirement(package).match(line)
    if match:
        yield match["spec"]


def _in_lock(text: str, package: str) -> Iterator[str]:
    for match in re.finditer(rf'name\s*=\s*"{package}"\s*\nversion\s*=\s*"(?P<version>[^"]+)"', text):
        yield f"=={match['version']}"


def _in_environment(text: str, package: str) -> Iterator[str]:
    name = _CONDA_NAMES.get(package, package)
    pattern = rf"^\s*-\s*[\"']?(?:[\w-]+::)?{name}\s*(?P<spec>[=<>!~][^\"'#]*)"
    for match in re.finditer(pattern, text, re.MULTILINE):
        specifier = match["spec"].strip()
        if re.match(r"=[^=]", specifier):  # conda's `=2.1=py3.11_cuda` means any 2.1 release
            specifier = f"=={specifier[1:].partition('=')[0]}.*"
        yield specifier


def _in_setup_py(text: str, package: str) -> Iterator[str]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _of_requirement(node.value, package)


def _in_pipfile_lock(text: str, package: str) -> Iterator[str]:
    try:
        version = json.loads(text)["default"][package]["version"]
    except (ValueError, KeyError, TypeError):
        return
    if isinstance(version, str):
        yield version


def _in_pyproject(text: str, package: str) -> Iterator[str]:
    import tomli  # noqa: PLC0415 - only projects with a pyproject.toml need it

    try:
        data: dict[str, Any] = tomli.loads(text)
    except tomli.TOMLDecodeError:
        return
    for requirement in _requirement_strings(data):
        yield from _of_requirement(requirement, package)
    poetry = _table(data, "tool", "poetry", "dependencies").get(package)
    version = poetry.get("version") if isinstance(poetry, dict) else poetry
    if isinstance(version, str):
        yield _from_poetry(version)


def _requirement_strings(data: dict[str, Any]) -> Iterator[str]:
    project = _table(data, "project")
    lists = [project.get("dependencies", [])]
    lists += _table(project, "optional-dependencies").values()
    lists += _table(data, "dependency-groups").values()
    for requirements in lists:
        if isinstance(requirements, list):
            yield from (item for item in requirements if isinstance(item, str))


def _table(data: dict[str, Any], *keys: str) -> dict[str, Any]:
    for key in keys:
        inner = data.get(key)
        data = inner if isinstance(inner, dict) else {}
    return data


def _from_poetry(version: str) -> str:
    """Poetry's `^2.1` is `>=2.1,<3`, its bare `2.1.0` is `==2.1.0`."""
    caret = re.fullmatch(r"\^\s*(\d+)\.(\d+)[\w.]*", version.strip())
    if caret:
        return f">={caret[1]}.{caret[2]},<{int(caret[1]) + 1}"
    return f"=={version}" if re.fullmatch(r"\d[\w.]*", version.strip()) else version


def _installed(root: Path) -> Minor | None:
    """The torch of the project's environment, read from the names of metadata folders."""
    active = [os.environ.get(name) for name in ("VIRTUAL_ENV", "CONDA_PREFIX")]
    prefixes = [root / ".venv", root / "venv", *(Path(prefix) for prefix in active if prefix), Path(sys.prefix)]
    for prefix in prefixes:
        for pattern in ("lib/python3*/site-packages/torch-*.dist-info", "Lib/site-packages/torch-*.dist-info"):
            for folder in sorted(prefix.glob(pattern), reverse=True):
                return parse_minor(folder.name.removeprefix("torch-"))
    return None
