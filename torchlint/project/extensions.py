"""Extensions that a project compiles: which of their functions, as Python calls them, end in atomic additions."""

# A walk over thousands of files works on strings; a Path for each would cost more than the walk.

from __future__ import annotations

import functools
import os
import posixpath
import re
from collections import deque
from collections.abc import Collection
from pathlib import Path

import msgspec

from torchlint.facts.graphs import each_once
from torchlint.facts.grouping import grouped
from torchlint.project.outside import Outside
from torchlint.project.texts import Contents
from torchlint.source.cuda import Addition, Function, bindings, functions

_KERNELS = (".cu", ".cuh")
_LARGEST = 1_000_000
"""Bytes. What is larger was generated."""
_MOST_FILES = 2_000


class Kernel(msgspec.Struct, frozen=True):
    """Where a function that Python calls adds floats atomically; `path` is inside the project."""

    path: str
    addition: Addition
    is_sure: bool
    """The extension of that name is built from the file that binds the function, or no other binds such a name."""


class Extensions:
    """The C++ and CUDA files below `root` (None: there are none), looked at when a call may lead to one."""

    def __init__(self, root: Path | None, contents: Contents, outside: Outside) -> None:
        self._root, self._outside = root, outside
        self._contents = contents

    def kernel_behind(self, modules: Collection[str], function: str, caller: str) -> Kernel | None:
        """The first atomic addition that a function of one of these modules reaches.

        None where which function it is cannot be told: of several, the one whose source lies below the caller is.
        """
        bound = self._bound.get(function, ())
        closeness = {path: max((self._closeness(one, path) for one in modules), default=0) for path, _ in bound}
        closest = max(closeness.values(), default=0)
        chosen = [(path, target) for path, target in bound if closeness[path] == closest]
        if len(chosen) > 1:
            folder = posixpath.dirname(caller)
            chosen = [one for one in chosen if not folder or one[0].startswith(folder + "/")]
        if len(chosen) != 1:
            return None
        path, target = chosen[0]
        found = self._reached(target, posixpath.dirname(posixpath.dirname(path)))
        return None if found is None else Kernel(*found, is_sure=closest > 0)

    def _closeness(self, module: str, binding: str) -> int:
        """How plainly some code builds the extension from the file that binds its functions: 2 where it lists it."""
        quoted = re.compile(rb"[\"'](?:[\w.]+\.)?%s[\"']" % re.escape(module.encode()))
        name, closest = posixpath.basename(binding).encode(), 0
        for path, data in self._building:
            folder, found = posixpath.dirname(path), quoted.search(data)
            if found is None or (folder and not binding.startswith(folder + "/")):
                continue
            listed = re.split(rb"Extension\w*\(|\bload\w*\(", data[found.end() :], maxsplit=1)[0]
            closest = max(closest, 2 if name in listed else int(name in data or b"glob" in data))
        return closest

    @functools.cached_property
    def _building(self) -> list[tuple[str, bytes]]:
        """The code that builds extensions, without comments; a `#` in a string ends the line as well."""
        told = ((path, data) for path, data in self._contents() if b"Extension" in data or b"cpp_extension" in data)
        return [(path, re.sub(rb"#[^\n]*", b"", data)) for path, data in told]

    @functools.cached_property
    def _texts(self) -> dict[str, str]:
        """The sources, by path; none where no kernel is among them."""
        paths = [] if self._root is None else self._outside.extension_sources(self._root)
        if self._root is None or len(paths) > _MOST_FILES or not any(path.endswith(_KERNELS) for path in paths):
            return {}
        return {os.path.relpath(path, self._root).replace(os.sep, "/"): self._text(path) for path in paths}

    def _text(self, path: str) -> str:
        data = self._outside.data(path)
        text = data.decode(errors="replace") if len(data) <= _LARGEST else ""
        return text.replace("\r\n", "\n").replace("\r", "\n")

    @functools.cached_property
    def _bound(self) -> dict[str, tuple[tuple[str, str], ...]]:
        """By the name that Python uses: the files that bind it, and the functions behind it."""
        telling = ((path, text) for path, text in self._texts.items() if "def" in text or "impl" in text)
        found = grouped((name, (path, function)) for path, text in telling for name, function in bindings(text))
        return {name: tuple(dict.fromkeys(places)) for name, places in found.items()}

    @functools.cached_property
    def _defined(self) -> dict[str, list[tuple[str, Function]]]:
        return grouped((one.name, (path, one)) for path, text in self._texts.items() for one in functions(text))

    def _reached(self, start: str, folder: str) -> tuple[str, Addition] | None:
        """The first addition in what a function calls, by names, in the files below a folder."""
        waiting = deque([start])
        for name in each_once(waiting):
            for path, function in self._defined.get(name, ()):
                if folder and not path.startswith(folder + "/"):
                    continue
                if function.additions:
                    return path, function.additions[0]
                waiting += sorted(function.words & self._defined.keys())
        return None
