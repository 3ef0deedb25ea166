"""One run of `torchlint check`: calls the public API, prints what it says, and chooses the exit code."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from torchlint.cli import exits
from torchlint.cli.findings import Shown
from torchlint.cli.fixing import Fixing, diff_lines, say_fixed, write_fixed
from torchlint.cli.ignoring import add_ignores
from torchlint.cli.parameters import is_there, wants_colour
from torchlint.cli.printing import (
    print_bytes,
    print_lines,
    say,
    say_error,
    say_internal_errors,
    say_missing,
    say_note,
    say_notes,
    setting_lines,
)
from torchlint.cli.progress import Progress
from torchlint.config import Overrides, Settings, load_settings
from torchlint.diagnostics import Report
from torchlint.report.context import Context
from torchlint.report.sources import Sources

if TYPE_CHECKING:
    from torchlint.api import CheckOptions
    from torchlint.catalogue import Rule
    from torchlint.engine.cache.results import ResultCache

STDIN = Path("-")
NAMELESS = Path("<stdin>")


@dataclass(frozen=True, slots=True)
class Session:
    """What the user asked for."""

    paths: tuple[Path, ...]
    stdin_filename: Path | None
    overrides: Overrides
    config: Path | None
    isolated: bool
    jobs: int | None
    shown: Shown
    exit_zero: bool
    fail_on_skipped: bool = False
    hide_refuted: bool = False
    kept_verdicts: bool = True
    baseline: bool = True
    since: str | None = None
    add_ignore: str | None = None
    open: bool = False
    cache: ResultCache | None = None
    """What earlier checks know."""
    fixing: Fixing = field(default_factory=Fixing)

    @property
    def written(self) -> tuple[Path, ...]:
        """The files that each check writes."""
        output = () if self.shown.output is None else (self.shown.output,)
        return (*output, *(path for _, path in self.shown.also))

    def folders(self) -> list[Path]:
        """The folders of the projects that the paths belong to, and of what configures them from elsewhere."""
        from torchlint import api

        paths = tuple(path for path in self.paths if is_there(path))
        settings = [root.settings for root in api.list_roots(paths, self._options(None))]
        outside = [*([self.config] if self.config else []), *(one for each in settings for one in _own_rules(each))]
        folders = [*(one.root for one in settings), *(one if one.is_dir() else one.parent for one in outside)]
        return [folder for folder in dict.fromkeys(map(Path.absolute, folders)) if folder.is_dir()]

    def check(self) -> int:
        """Check, print, and return the exit code."""
        paths, contents, missing = self._inputs()
        report = self._run(paths, contents) if paths else Report(())
        say_notes(report.notes)
        say_internal_errors(report.internal_errors)
        if paths and not (report.files or report.diagnostics or report.skipped):
            say_note("nothing to check: no Python file or notebook found")
        is_commented = True
        if missing and (self.add_ignore is not None or self._fixes(report)):
            say_error("nothing was written, because a path is missing")
            return exits.TROUBLE
        if self.add_ignore is not None:
            found = len(report.diagnostics)
            report, is_commented = add_ignores(report, self.add_ignore, writes=not self.fixing.diff)
            if self.fixing.diff:
                would = 0 if self.exit_zero else found - len(report.diagnostics)
                return self._code(report, would, is_trouble=missing or not is_commented)
        elif self._fixes(report):
            return self._fix(report, paths, contents, is_missing=missing)
        elif self.shown.needs_edits:
            report = self._with_edits(report, contents)
        failing = 0 if self.exit_zero else self._failing(report)
        if self.open and paths:
            report = self._with_open_points(report, paths)
        is_written = self.shown.say(report, self._context(report, contents, failing))
        return self._code(report, failing, is_trouble=missing or not (is_commented and is_written))

    def _code(self, report: Report, failing: int, *, is_trouble: bool) -> int:
        """Say what went wrong; the exit code."""
        for error in report.errors:
            say_error(error)
        if is_trouble or report.internal_errors or report.errors:
            return exits.TROUBLE
        return exits.FINDINGS if failing or (self.fail_on_skipped and report.skipped) else exits.CLEAN

    def _fixes(self, report: Report) -> bool:
        """Whether anything is to be fixed: asked for, or by the configuration of a file with findings."""
        if self.fixing.is_asked:
            return True
        folders = {Path(diagnostic.location.path).parent for diagnostic in report.diagnostics}
        return self.fixing.fix is None and any(self._settings(folder).fix for folder in folders)

    def _fix(self, report: Report, paths: tuple[Path, ...], contents: dict[Path, bytes], *, is_missing: bool) -> int:
        """Fix, write or show it, print what remains, and return the exit code."""
        from torchlint import api

        def check(texts: Mapping[Path, bytes]) -> Report:
            return self._run(paths, texts) if paths else report

        fixed = api.fix_report(report, check, self.fixing.choice(), self._options(None), contents)
        say_internal_errors(one for one in fixed.report.internal_errors if one not in report.internal_errors)
        if self.fixing.diff:
            print_lines(diff_lines(fixed.files))
            say_fixed(fixed.files, one_by_one=self.fixing.show, would=True)
            unsafe = sum(one.edits is not None for one in fixed.report.diagnostics)
            if unsafe and not fixed.files:
                say(f"nothing can be fixed safely; {unsafe} with --unsafe-fixes")
            return self._code(fixed.report, 0 if self.exit_zero else len(fixed.files), is_trouble=is_missing)
        texts = {**contents, **{file.path: file.after for file in fixed.files if file.path in contents}}
        failed = write_fixed([file for file in fixed.files if file.path not in contents])
        say_fixed([file for file in fixed.files if file.path not in failed], one_by_one=self.fixing.show)
        left = dataclasses.replace(self._with_edits(check(texts), texts), is_fixed=True) if failed else fixed.report
        for text in texts.values():
            print_bytes(text)
        if self.fixing.only:
            return self._code(left, 0, is_trouble=is_missing or bool(failed))
        left = self._with_open_points(left, paths) if self.open and paths else left
        failing = 0 if self.exit_zero else self._failing(left)
        is_written = self.shown.say(left, self._context(left, texts, failing), on_error=bool(texts))
        return self._code(left, failing, is_trouble=is_missing or bool(failed) or not is_written)

    def _with_edits(self, report: Report, contents: Mapping[Path, bytes]) -> Report:
        from torchlint import api

        told = api.with_edits(report, self._options(None), contents)
        say_internal_errors(told.internal_errors[len(report.internal_errors) :])
        return told

    def show_files(self) -> int:
        """List the files that would be checked."""
        from torchlint import api

        paths, missing = self._places()
        print_lines(str(path) for path in api.list_files(paths, self._options(None)))
        return exits.TROUBLE if missing else exits.CLEAN

    def show_settings(self) -> int:
        """Print the settings of each root that facts come from, with the torch it is judged for."""
        from torchlint import api

        paths, missing = self._places()
        roots = api.list_roots(paths, self._options(None))
        say_notes(dict.fromkeys(note for root in roots for note in root.notes))
        blocks = ["\n".join(setting_lines(root)) for root in roots]
        print_lines(["\n\n".join(blocks)] if blocks else [])
        return exits.TROUBLE if missing else exits.CLEAN

    def _settings(self, folder: Path) -> Settings:
        return load_settings(folder, self.overrides, config=self.config, isolated=self.isolated)

    def _options(self, progress: Progress | None) -> CheckOptions:
        from torchlint.api import CheckOptions

        return CheckOptions(
            overrides=self.overrides,
            config=self.config,
            isolated=self.isolated,
            jobs=self.jobs,
            kept_verdicts=self.kept_verdicts,
            baseline=self.baseline,
            since=self.since,
            progress=progress,
            cache=self.cache,
        )

    def _run(self, paths: tuple[Path, ...], contents: Mapping[Path, bytes]) -> Report:
        from torchlint import api

        progress = Progress() if sys.stderr.isatty() else None
        try:
            report = api.check_paths(paths, self._options(progress), contents)
        finally:
            if progress:
                progress.close()
        if not self.hide_refuted:
            return report
        kept = tuple(each for each in report.diagnostics if not each.verdict.startswith("REFUTED"))
        hidden = report.hidden + len(report.diagnostics) - len(kept)
        return dataclasses.replace(report, diagnostics=kept, hidden=hidden)

    def _with_open_points(self, report: Report, paths: tuple[Path, ...]) -> Report:
        from torchlint import api

        return api.with_open_points(report, paths, self._options(None))

    def _inputs(self) -> tuple[tuple[Path, ...], dict[Path, bytes], bool]:
        """The paths to check, the text of standard input by its path, and whether a path is missing."""
        paths, missing = self._places()
        if STDIN not in self.paths:
            return paths, {}, missing
        name = self.stdin_filename or NAMELESS
        return (*(path for path in paths if path != name), name), {name: sys.stdin.buffer.read()}, missing

    def _places(self) -> tuple[tuple[Path, ...], bool]:
        """The paths that exist, and whether one is missing. Standard input counts as the file it stands for."""
        named = (self.stdin_filename if path == STDIN else path for path in self.paths)
        paths = tuple(dict.fromkeys(path for path in named if path is not None))
        missing = [path for path in paths if not is_there(path) and path != self.stdin_filename]
        say_missing(missing)
        return tuple(path for path in paths if is_there(path)), bool(missing)

    def _context(self, report: Report, contents: Mapping[Path, bytes], failing: int) -> Context:
        return Context(
            colour=wants_colour(),
            notebook_lines=self.shown.notebook_lines,
            all_places=self.shown.all_places,
            failing=failing,
            sources=Sources(contents),
            load_rules=lambda: self._rules(report),
        )

    def _rules(self, report: Report) -> Mapping[str, Rule]:
        """The rules that found something, by code; a project's own rules come from its configuration."""
        from torchlint.catalogue import load_catalogue

        folders = {diagnostic.code: Path(diagnostic.location.path).parent for diagnostic in report.diagnostics}
        found = {code: load_catalogue(self._settings(folder).extensions).find(code) for code, folder in folders.items()}
        return {code: rule for code, rule in found.items() if rule is not None}

    def _failing(self, report: Report) -> int:
        """How many findings are as severe as their root's `fail-on`."""
        folders = [Path(diagnostic.location.path).parent for diagnostic in report.diagnostics]
        thresholds = {folder: self._settings(folder).fail_on for folder in set(folders)}
        return sum(
            diagnostic.severity >= thresholds[folder]
            for diagnostic, folder in zip(report.diagnostics, folders, strict=True)
        )


def _own_rules(settings: Settings) -> tuple[Path, ...]:
    """The files and folders that hold rules and operators of the user's own."""
    return (*settings.extend_rules, *settings.extend_operators)
