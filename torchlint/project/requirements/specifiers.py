"""Version specifiers, out of what files of many kinds write: pip, Poetry, conda, wheels, tags, a requirement a line."""

from __future__ import annotations

import ast
import codecs
import functools
import re
from collections.abc import Iterator
from pathlib import Path

from torchlint.project.outside import Outside

CONDA_NAMES = {"torch": "(?:torch|pytorch|pytorch-gpu|pytorch-cpu)"}
"""What a package is called on conda's channels, where it is called otherwise."""

_SEPARATORS = re.compile(r"[-_.]+")
_SUFFIX = re.compile(r"(?<=\d)(?:\+[\w.]+|(?:\.?(?:dev|post)|a|b|rc)\d+)", re.IGNORECASE)
"""What follows the release in a version: a local label, or the marks of a build before or after it."""
_VERSION = r"v?(?P<version>\d+\.\d+(?:\.\d+)*)"
_POETRY = re.compile(r"(?P<operator>\^|~(?!=)|==?)?\s*v?(?P<version>\d+(?:\.\d+)*)(?P<any>\.\*)?", re.IGNORECASE)
_INCLUDE = re.compile(r"\s*(?:-r|-c|--requirement|--constraint)[\s=]*(?P<file>[^\s#]+)")
_ITEM = re.compile(r"^\s*-\s+(?P<item>.*)$", re.MULTILINE)
_MOST_INCLUDED = 20
_COMMENT = re.compile(r"(?:^|\s)#.*")


def clean(specifier: str) -> str | None:
    """A PEP 440 specifier of plain releases; None for an empty or foreign one."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415 - only a few runs need it

    text = _SUFFIX.sub("", re.sub(r"\s+", "", specifier.replace("%2B", "+"))).strip("()")
    try:
        return text if SpecifierSet(text) else None
    except InvalidSpecifier:
        return None


@functools.cache
def _requirement(package: str, *, conda: bool) -> re.Pattern[str]:
    name = CONDA_NAMES.get(package, package) if conda else package
    name = name if "(" in name else _SEPARATORS.sub("[-_.]+", name)
    return re.compile(rf"(?:[\w./-]+::)?{name}(?![\w.-])\s*(?:\[[^\]]*\])?\s*(?P<rest>.*)", re.IGNORECASE | re.DOTALL)


def of_requirement(text: str, package: str) -> Iterator[str]:
    """What one requirement of pip (`torch>=2.1; python_version > "3.9"`, a URL, a wheel) says of a package."""
    requirement = text.strip().strip("\"'")
    match = _requirement(package, conda=False).match(requirement)
    if match is None:
        yield from _of_url(requirement, package)
    elif match["rest"].startswith("@"):
        yield from _of_url(match["rest"], package)
    else:
        yield re.split(r"[;#\"']|\s--", match["rest"])[0]


def of_conda(text: str, package: str) -> Iterator[str]:
    """What one requirement of conda says: for `pytorch=2.1=py3.11_cuda` any release of 2.1 will do."""
    match = _requirement(package, conda=True).match(text.strip().strip("\"'"))
    if match is None:
        return
    rest = match["rest"].partition("#")[0].strip().strip("\"'")
    loose = re.fullmatch(r"=?\s*(?P<version>\d+(?:\.\d+)*)(?:\.?\*)?(?:[=\s].*)?", rest)
    yield re.split(r"\s+(?![<>=!~\d])", rest)[0] if loose is None else f"=={loose['version']}.*"


def _of_url(text: str, package: str) -> Iterator[str]:
    """The version in a wheel's name (`.../torch-2.1.0%2Bcu118-cp310-...whl`), or in a tag (`...pytorch@v2.1.0`)."""
    wheel = re.search(rf"(?:^|[/\s@]){package}-{_VERSION}[^/\s]*?-[^/\s]*\.whl", text)
    tag = re.search(rf"\bgit\+\S+/{CONDA_NAMES.get(package, package)}(?:\.git)?@{_VERSION}", text)
    yield from (f"=={match['version']}" for match in filter(None, (wheel, tag)))


def from_poetry(constraint: str) -> Iterator[str]:
    """Poetry's `^2.1` is `>=2.1,<3`, its `~2.1` is `>=2.1,<2.2`, its bare `2.1.0` is `==2.1.0`; `||` parts choices."""
    for choice in re.split(r"\|\|?", constraint):
        parts = [_poetry_part(part.strip()) for part in re.split(r",|(?<=[\d*])\s+(?=[<>=!~^])", choice)]
        yield ",".join(part for part in parts if part)


def _poetry_part(text: str) -> str:
    match = _POETRY.fullmatch(_SUFFIX.sub("", text))
    if match is None:
        return "" if text == "*" else text
    version = match["version"]
    numbers = [int(number) for number in version.split(".")]
    if match["operator"] == "^":
        fixed = next((index for index, number in enumerate(numbers) if number), len(numbers) - 1)
        return f">={version},<{_next(numbers, fixed)}"
    if match["operator"] == "~":
        return f">={version},<{_next(numbers, min(1, len(numbers) - 1))}"
    return f"=={version}{match['any'] or ''}"


def _next(numbers: list[int], last: int) -> str:
    """The first version that differs in the number at `last`."""
    return ".".join(str(number) for number in [*numbers[:last], numbers[last] + 1])


def in_requirements(path: Path, text: str, package: str, outside: Outside) -> Iterator[str]:
    """What requirements of pip say of a package, with the files they include (`-r`) and are held to (`-c`)."""
    pending, seen = [(path, text)], {path}
    while pending:
        at, content = pending.pop(0)
        for line in re.sub(r"\\\r?\n", " ", content).splitlines():
            plain = _COMMENT.sub("", line)
            included = _INCLUDE.match(plain)
            if included is None:
                yield from of_requirement(plain, package)
                yield from of_conda(plain, package)  # `conda list --export > requirements.txt`
                continue
            file = at.parent / included["file"]
            if file not in seen and len(seen) < _MOST_INCLUDED:
                seen.add(file)
                pending.append((file, _decoded(outside.data(file))))


def in_environment(path: Path, text: str, package: str, outside: Outside) -> Iterator[str]:
    """What a conda environment says of a package, in its own list and in the one for pip."""
    for match in _ITEM.finditer(text):
        item = _COMMENT.sub("", match["item"]).strip().strip("\"'")
        if re.match(r"-[rc]\b|--", item):
            yield from in_requirements(path, item, package, outside)
            continue
        yield from of_conda(item, package)
        yield from of_requirement(item, package)


def in_setup_py(text: str, package: str) -> Iterator[str]:
    """What the strings of a setup.py say of a package."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from of_requirement(node.value, package)


def text_of(path: Path) -> str:
    """The text of a file; one that cannot be read holds nothing. PowerShell's `pip freeze > FILE` writes UTF-16."""
    try:
        data = path.read_bytes()
    except (OSError, ValueError):
        return ""
    return _decoded(data)


def _decoded(data: bytes) -> str:
    is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if is_wide else "utf-8-sig", errors="replace")
