"""`torchlint check --fix` and `--diff`: writes what was fixed, or shows what would be written."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from torchlint.cli.printing import say, say_error
from torchlint.cli.writing import replace_source
from torchlint.errors import UnreadableSource
from torchlint.source.decoding import decode_python

if TYPE_CHECKING:
    from torchlint.engine.cache.results import ResultCache
    from torchlint.engine.fixing import FixChoice, FixedFile


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


@dataclass(frozen=True, slots=True)
class Fixing:
    """What the user asked of fixes. None leaves it to the configuration."""

    fix: bool | None = None
    unsafe: bool | None = None
    only: bool = False
    """Fix, and report nothing of what remains."""
    diff: bool = False
    """Write nothing: show what would be written."""
    show: bool = False
    """List what was fixed."""

    @property
    def is_asked(self) -> bool:
        return bool(self.fix or self.only or self.diff)

    def cache(self) -> ResultCache | None:
        """What one round of fixes knows of another, where nothing is known of other runs."""
        if not self.is_asked:
            return None
        from torchlint.engine.cache.results import ResultCache

        return ResultCache()

    def choice(self) -> FixChoice:
        """Which fixes to make."""
        from torchlint.engine.fixing import FixChoice

        return FixChoice(True if self.is_asked else self.fix, self.unsafe)


def write_fixed(files: Sequence[FixedFile]) -> list[Path]:
    """Write the files; those that could not be written are left as they are, and told."""
    failed = []
    for file in files:
        try:
            if file.path.read_bytes() != file.after:  # two links lead to one file
                replace_source(file.path, file.before, file.after)
        except (OSError, ValueError) as error:
            said = getattr(error, "strerror", None) or error
            say_error(f"{file.path}: nothing was fixed: {said}")
            failed.append(file.path)
    return failed


def say_fixed(files: Sequence[FixedFile], *, one_by_one: bool, would: bool = False) -> None:
    """Tell how many findings were fixed, and with `one_by_one` which rules of which file they are of."""
    count = sum(file.count for file in files)
    if not count:
        return
    findings = f"{count} finding{'' if count == 1 else 's'}"
    say(f"{'would fix' if would else 'fixed'} {findings} in {len(files)} file{'' if len(files) == 1 else 's'}")
    for file in files if one_by_one else ():
        say(f"  {file.path}:")
        for code, name, times in file.fixed:
            say(f"    {times} × {code} ({name})")


def diff_lines(files: Sequence[FixedFile]) -> Iterator[str]:
    """Yield what would be written."""
    for file in files:
        yield from diff_of(file.path, file.before, file.after)


def diff_of(path: Path, before: bytes, after: bytes) -> Iterator[str]:
    """A unified diff of one file, which `patch` reads; line ends stay as they are."""
    old, new = (_LINE.findall(_text(data)) for data in (before, after))
    for line in difflib.unified_diff(old, new, str(path), str(path)):
        yield line.removesuffix("\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _text(data: bytes) -> str:
    try:
        return decode_python(data)[0]
    except UnreadableSource:
        return data.decode("utf-8-sig", "replace")
