"""The flake8 plugin: `flake8 --select TL` reports what `torchlint check` does, with flake8's comments and options.

flake8 asks about one file after the other, maybe in several processes. What is found in a file hangs on its project,
so that all files are checked together, once flake8 has read its options: before its processes begin, which then share
the answer (where they are spawned anew, the kept results of the first serve the others).
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from torchlint import __version__
from torchlint.api import CheckOptions, check_paths
from torchlint.config.settings import Overrides
from torchlint.diagnostics import Diagnostic, Severity
from torchlint.engine.cache.results import ResultCache
from torchlint.errors import TorchlintError

if TYPE_CHECKING:
    from flake8.options.manager import OptionManager

_STDIN = ["-"]
_UNUSED_COMMENT = "TL002"
"""flake8 silences findings itself, and does not tell what it silenced."""
_NAMED = re.compile(r"TL\d{3}")


class Plugin:
    """What flake8 makes for each file that it can parse."""

    name = "torchlint"
    version = __version__
    _options: ClassVar[CheckOptions]
    _least: ClassVar[Severity]
    _found: ClassVar[Mapping[str, Sequence[Diagnostic]] | None]
    """By the real path of a file; None where the text comes from standard input."""

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        del tree  # flake8 asks those that want it once a file, and others once a line
        self._filename = filename
        self._lines = lines

    @classmethod
    def add_options(cls, parser: OptionManager) -> None:
        """Called by flake8."""
        parser.add_option(
            "--torchlint-min-severity",
            default=Severity.WARNING.label,
            choices=[severity.label for severity in Severity],
            parse_from_config=True,
            help="The least severity of torchlint's findings that is reported (default: warning). Each fails the run.",
        )

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Called by flake8 before it looks at a file."""
        cls._least = Severity[options.torchlint_min_severity.upper()]
        cls._options = CheckOptions(
            overrides=Overrides(extend_select=tuple(_named_rules(options))),
            jobs=None if options.jobs.is_auto else max(options.jobs.n_jobs, 1),
            baseline=True,
            cache=ResultCache(is_on_disk=True),
        )
        if options.filenames == _STDIN:
            cls._found = None
        else:
            paths = [Path(name) for name in options.filenames or ["."]]
            cls._found = _by_path(cls._check(paths, {})) if _may_be_reported(options) else {}

    @classmethod
    def _check(cls, paths: Sequence[Path], contents: Mapping[Path, bytes]) -> tuple[Diagnostic, ...]:
        """Raises flake8's own error for settings that cannot be read."""
        from flake8.exceptions import ExecutionError  # noqa: PLC0415 - there where flake8 loads this module

        try:
            report = check_paths(paths, cls._options, contents)
        except TorchlintError as error:
            raise ExecutionError(f"torchlint: {error}") from error
        broken = (f"check `{one.check}` broke on {one.path}: {one.message}" for one in report.internal_errors)
        sys.stderr.writelines(f"torchlint: error: {trouble}\n" for trouble in (*report.errors, *broken))
        return report.diagnostics

    def run(self) -> Iterator[tuple[int, int, str, type[Plugin]]]:
        """Line (from 1), column (from 0), code and message of each finding."""
        if self._found is None:
            found: Sequence[Diagnostic] = self._check([], {Path(self._filename): _encoded(self._lines)})
        else:
            found = self._found.get(os.path.realpath(self._filename), ())
        for each in found:
            if each.severity >= self._least and each.code != _UNUSED_COMMENT:
                yield each.location.line, each.location.column - 1, f"{each.code} {each.message}", type(self)


def _by_path(diagnostics: Iterable[Diagnostic]) -> dict[str, list[Diagnostic]]:
    found: dict[str, list[Diagnostic]] = defaultdict(list)
    for diagnostic in diagnostics:
        found[os.path.realpath(diagnostic.location.path)].append(diagnostic)
    return found


def _named_rules(options: argparse.Namespace) -> list[str]:
    """The rules that flake8 is told to select one by one: they run although they may be off by default."""
    selected = [*(options.select or ()), *(options.extend_select or ())]
    return [code for code in selected if _NAMED.fullmatch(code)]


def _may_be_reported(options: argparse.Namespace) -> bool:
    """Whether flake8 reports any code of torchlint's: `--select E,W` asks for none."""
    selected = [*(options.select or ("TL",)), *(options.extend_select or ())]
    return any(code.startswith("TL") or "TL".startswith(code) for code in selected)


def _encoded(lines: Sequence[str]) -> bytes:
    """The bytes of a text, in the encoding that it says it has, if that can be."""
    text = "".join(lines)
    waiting = (line.encode(errors="surrogatepass") for line in lines[:2])
    try:
        encoding, _ = tokenize.detect_encoding(lambda: next(waiting, b""))
        return text.encode(encoding)
    except (SyntaxError, UnicodeError):  # no encoding of that name, or one that lacks a character
        return text.encode(errors="surrogatepass")
