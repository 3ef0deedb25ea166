"""What build files say: whether a package is installed, and the commands (console scripts) that come with it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from torchlint.project.requirements.pyproject import table_of, toml_of
from torchlint.project.requirements.specifiers import text_of

_TARGET = re.compile(r"^[\w.-]+\s*=\s*(?P<module>[\w.]+)\s*:\s*(?P<function>[\w.]+)\s*(?:\[.*\])?$")
_QUOTED = re.compile(r"""["']([\w.-]+\s*=\s*[\w.]+:[\w.]+)["']""")
_BUILD_FILES = ("pyproject.toml", "setup.cfg", "setup.py")
_PACKAGE = re.compile(r"^\[(?:project|build-system|tool\.poetry|metadata)\]", re.MULTILINE)
"""Tables that a `pyproject.toml` or `setup.cfg` has which does more than set up tools."""


def console_scripts(files: Sequence[Path], sources: Collection[str]) -> Iterator[tuple[str, str]]:
    """The project file and the function of each console script whose module is one of the project's `sources`."""
    for path in sorted(files):
        if path.name in _BUILD_FILES:
            for module, function in _targets(path):
                found = _file_of(module, sources)
                if found is not None:
                    yield found, function


def builds_package(files: Sequence[Path], root: Path) -> bool:
    """Whether the files at the root make a package that is installed; a `setup.py` further down makes an extension."""
    own = [path for path in files if path.name in _BUILD_FILES and path.parent == root]
    return any(path.name == "setup.py" or _PACKAGE.search(text_of(path)) for path in own)


def _file_of(module: str, sources: Collection[str]) -> str | None:
    """The shortest project path that this module may be: `pkg/cli.py`, `src/pkg/cli.py`, `pkg/cli/__init__.py`."""
    base = module.replace(".", "/")
    wanted = (f"{base}.py", f"{base}/__init__.py")
    found = [path for path in sources if path in wanted or path.endswith(tuple(f"/{name}" for name in wanted))]
    return min(found, key=lambda path: (len(path), path), default=None)


def _targets(path: Path) -> Iterator[tuple[str, str]]:
    text = text_of(path)
    lines = _in_pyproject(text) if path.name == "pyproject.toml" else _in_setup(path.name, text)
    for line in lines:
        match = _TARGET.match(line.strip())
        if match:
            yield match["module"], match["function"]


def _in_pyproject(text: str) -> Iterator[str]:
    data = toml_of(text)
    for keys in (("project", "scripts"), ("tool", "poetry", "scripts")):
        scripts = table_of(data, *keys).items()
        yield from (f"{name} = {target}" for name, target in scripts if isinstance(target, str))


def _in_setup(name: str, text: str) -> Iterator[str]:
    if name == "setup.py":
        yield from _QUOTED.findall(text)
    elif "console_scripts" in text:
        yield from text.partition("console_scripts")[2].splitlines()
