"""A folder for a program whose own data is not here: it holds what the code looks for, tiny and valid."""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from torchlint.recording.statements.spoken_paths import Spoken, is_file, spoken_in
from torchlint.recording.statements.tiny_files import tiny_file

Layout = Literal["mixed", "files", "classes"]
"""Whether a folder holds files, folders of files (one for each class), or both."""
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
_STEMS = ("north", "east", "south", "west")
_CLASSES = ("first", "second")
_SOME_SUFFIX = (".png",)
_MOST_SUFFIXES = 6
_MOST_SHOWN = 12


@dataclass
class InventedFolder:
    """While it is served, what the program lists or opens below it is made before it looks."""

    path: Path
    text: str
    """The program's, which says what it looks for."""
    layout: Layout = "mixed"
    was_asked: bool = False
    """The program has listed or opened something here."""
    _is_busy: bool = field(default=False, repr=False)

    def fill(self) -> None:
        """The same in each run: files and folders of classes, and all places that the text speaks of."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir(parents=True)
        self._populate(self.path)
        for place in self._spoken.places:
            self._make(self.path / place)

    def holds(self) -> list[str]:
        """One file of each folder, and how many more there are: `images/east.png and 3 more`."""
        names: dict[Path, list[str]] = {}
        for file in sorted(self.path.rglob("*")):
            if file.is_file():
                names.setdefault(file.parent.relative_to(self.path), []).append(file.name)
        shown = ((str(folder / found[0]), len(found) - 1) for folder, found in names.items())
        return [f"{first} and {more} more" if more else first for first, more in shown][:_MOST_SHOWN]

    def without_path(self, words: str) -> str:
        """Words that do not name where it lies, which differs from run to run."""
        return words.replace(str(self.path), "FOLDER")

    def serve(self) -> None:
        """From now on."""
        _SERVED.append(self)
        _watch()

    @contextlib.contextmanager
    def served(self) -> Iterator[None]:
        self.serve()
        try:
            yield
        finally:
            _SERVED.remove(self)

    def asked(self, place: object, *, to_open: bool = False) -> None:
        """The program is about to list a folder or a pattern, or to open a file to read it."""
        if self._is_busy or not isinstance(place, (str, os.PathLike)):
            return
        full = os.path.abspath(os.fsdecode(place))  # noqa: PTH100 - patterns are no paths, links stay
        if not (full + os.sep).startswith(str(self.path) + os.sep):
            return
        self._is_busy, self.was_asked = True, True
        try:
            relative = os.path.relpath(full, self.path)
            if to_open or not glob.has_magic(relative):
                self._make(Path(full), is_folder=not to_open)
            else:
                self._match([self.path], Path(relative).parts)
        finally:
            self._is_busy = False

    @property
    def _spoken(self) -> Spoken:
        return spoken_in(self.text)

    @property
    def _suffixes(self) -> Sequence[str]:
        return self._spoken.suffixes[:_MOST_SUFFIXES] or _SOME_SUFFIX

    def _make(self, place: Path, *, is_folder: bool = False) -> None:
        """A file, or a folder with files in it, unless it is there; above a file there is no folder to be made."""
        if place.exists() or any(above.is_file() for above in place.parents):
            return
        if is_file(place.name) and not is_folder:
            place.parent.mkdir(parents=True, exist_ok=True)
            names = [f"{stem}{self._suffixes[0]}" for stem in _STEMS]
            # Whole or not at all: several workers may ask for one file at the same time.
            unfinished = self.path.with_name(f"unfinished-{os.getpid()}")
            unfinished.write_bytes(tiny_file(place.suffix, names, self._spoken.columns))
            unfinished.replace(place)
        elif is_folder or not place.suffix:
            place.mkdir(parents=True)
            self._populate(place)

    def _populate(self, folder: Path) -> None:
        is_root = folder == self.path
        if self.layout != "classes":
            self._files(folder)
        if self.layout == "classes" or (self.layout == "mixed" and is_root):
            for name in _CLASSES:
                (folder / name).mkdir(exist_ok=True)
                self._files(folder / name)

    def _files(self, folder: Path, pattern: str = "*") -> None:
        """Files whose names match a pattern."""
        for stem in _STEMS:
            filled = f"{stem}." if re.fullmatch(r"\*\w{2,8}", pattern) else stem  # `*xml` looks for `north.xml`
            name = re.sub(r"\[!?(.)[^]]*\]", r"\1", pattern).replace("?", stem[0])
            name = name.replace("*", filled, 1).replace("*", "")
            for each in [name] if is_file(name) else [f"{name}{suffix}" for suffix in self._suffixes]:
                self._make(folder / each)

    def _match(self, folders: Sequence[Path], parts: Sequence[str]) -> None:
        """Make what a pattern looks for where nothing matches it."""
        part, *rest = parts
        if part == "**":
            self._match(folders, rest or ["*"])
            return
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
            present = fnmatch.filter(_listdir(folder), part)
            if rest:
                within = [folder / name for name in present if (folder / name).is_dir()]
                self._match(
                    within or [folder / name for name in ([part] if not glob.has_magic(part) else _CLASSES)], rest
                )
            elif not present:
                self._files(folder, part)


_SERVED: list[InventedFolder] = []
_WATCHED: list[bool] = []
_listdir = os.listdir
_LISTINGS = frozenset({"os.listdir", "os.scandir", "glob.glob"})


def _watch() -> None:
    """A hook cannot be taken away again, so there is one, which does nothing while nothing is served."""
    if not _WATCHED:
        _WATCHED.append(True)
        sys.addaudithook(_hear)


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if not _SERVED:
        return
    folder = _SERVED[-1]
    if event in _LISTINGS:
        folder.asked(arguments[0] if arguments[0] is not None else ".")
    elif event in ("pathlib.Path.glob", "pathlib.Path.rglob"):
        start, pattern = arguments
        folder.asked(os.path.join(start, "**" if event.endswith("rglob") else "", pattern))  # noqa: PTH118 - a pattern
    elif event == "open":
        path, mode, flags = arguments
        is_for_reading = "r" in mode if mode else not flags & (os.O_WRONLY | os.O_CREAT)
        if is_for_reading:
            folder.asked(path, to_open=True)
