"""Requirements a line: requirements.txt with the files it includes, setup.cfg, setup.py and conda environments."""

from __future__ import annotations

import ast
import codecs
import re
from collections.abc import Iterator
from pathlib import Path

from torchlint.project.outside import Outside
from torchlint.project.requirements.specifiers import of_conda, of_requirement

_INCLUDE = re.compile(r"\s*(?:-r|-c|--requirement|--constraint)[\s=]*(?P<file>[^\s#]+)")
_ITEM = re.compile(r"^\s*-\s+(?P<item>.*)$", re.MULTILINE)
_MOST_INCLUDED = 20
_COMMENT = re.compile(r"(?:^|\s)#.*")


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
