"""The public surface: all that the command line, editors and scripts use.

The functions are pure in the sense that they keep no state between calls, and what they return can be pickled.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from torchlint.diagnostics import Diagnostic, Report
from torchlint.engine.cache.folders import VERDICTS
from torchlint.engine.cache.store import CACHE
from torchlint.engine.run import Root, run, select_files
from torchlint.engine.run import RunOptions as CheckOptions
from torchlint.engine.run import list_roots as _list_roots

if TYPE_CHECKING:
    from torchlint.audit.needs import Needs
    from torchlint.audit.page import Audit
    from torchlint.engine.renewal import Renewals
    from torchlint.verify.data import Verification
    from torchlint.verify.options import VerifyOptions

__all__ = [
    "CheckOptions",
    "audit_paths",
    "check_paths",
    "check_source",
    "list_files",
    "list_roots",
    "needs_of_programs",
    "renew_baselines",
    "verify_paths",
    "with_open_points",
]


def check_paths(
    paths: Sequence[Path], options: CheckOptions | None = None, contents: Mapping[Path, bytes] | None = None
) -> Report:
    """Check files and folders, each with the configuration and the facts of its own project.

    `contents` holds unsaved text by path. Raises TorchlintError for a wrong configuration or catalogue.
    """
    chosen = options or CheckOptions()
    report = run(paths, chosen, contents)
    return _with_verdicts(report) if chosen.kept_verdicts else report


def _with_verdicts(report: Report) -> Report:
    """What earlier runs of `verify` said about the findings, where there were any."""
    folders = {Path(diagnostic.location.path).absolute().parent for diagnostic in report.diagnostics}
    if not any((parent / CACHE / VERDICTS).is_dir() for folder in folders for parent in (folder, *folder.parents)):
        return report
    from torchlint.verify.kept import with_verdicts  # noqa: PLC0415 - few checks follow a verification

    return with_verdicts(report)


def list_files(paths: Sequence[Path], options: CheckOptions | None = None) -> tuple[Path, ...]:
    """The files that `check_paths` would check, sorted."""
    return select_files(paths, options or CheckOptions(), {}).complete().files


def list_roots(paths: Sequence[Path], options: CheckOptions | None = None) -> tuple[Root, ...]:
    """The roots that `check_paths` would take facts from, with their settings and the torch they are judged for."""
    return _list_roots(paths, options or CheckOptions())


def check_source(text: str, path: str = "<string>.py", options: CheckOptions | None = None) -> tuple[Diagnostic, ...]:
    """Check one source as a project of one file. A path ending in `.ipynb` is read as a notebook."""
    chosen = options or CheckOptions()
    alone = dataclasses.replace(
        chosen,
        overrides=dataclasses.replace(chosen.overrides, isolated_facts=True),
        isolated=chosen.config is None,
        jobs=1,
    )
    return run([], alone, {Path(path): text.encode(errors="surrogatepass")}).diagnostics


def renew_baselines(paths: Sequence[Path], options: CheckOptions | None = None, *, prune: bool = False) -> Renewals:
    """What the baseline of each root is to hold: today's findings, or with `prune` those that it knew already.

    Nothing is written. Raises TorchlintError for a baseline that cannot be read.
    """
    from torchlint.engine.renewal import renewals  # noqa: PLC0415 - a check needs none of it

    return renewals(paths, options or CheckOptions(), prune=prune)


def audit_paths(entries: Sequence[str], options: CheckOptions | None = None, *, against: Path | None = None) -> Audit:
    """What each program stands on: of files (`train.py`, `tool.py::command`) or folders; none is the current folder.

    `against` is the JSON of an earlier audit to compare with. Raises TorchlintError for a file that starts no program
    or is no audit, a wrong configuration or catalogue.
    """
    from torchlint.audit.build import audit  # noqa: PLC0415 - a check needs none of it
    from torchlint.audit.comparison import compared  # noqa: PLC0415
    from torchlint.audit.earlier import Earlier  # noqa: PLC0415

    earlier = None if against is None else Earlier.read(against)
    found = audit(entries, options or CheckOptions())
    return found if earlier is None else compared(found, earlier, entries)


def needs_of_programs(entries: Sequence[str], options: CheckOptions | None = None) -> tuple[Needs, ...]:
    """What the start block of each of these programs has to do. Entries and errors are those of `audit_paths`."""
    from torchlint.audit.build import needs  # noqa: PLC0415 - a check needs none of it

    return needs(entries, options or CheckOptions())


def with_open_points(report: Report, paths: Sequence[Path], options: CheckOptions | None = None) -> Report:
    """The report of `check_paths` with what the pages of its programs leave open: notes of code TL000, and counts.

    Files are read again, and as they are on disk.
    """
    from torchlint.audit import open_points  # noqa: PLC0415 - few checks ask for it

    return open_points.with_open_points(report, paths, options or CheckOptions())


def verify_paths(places: Sequence[str], options: VerifyOptions | None = None) -> Verification:
    """Run what a check of these places flags, and say which findings are real. This executes the user's code.

    A place is a file, a folder, a line (`models.py:18`) or a class or function (`models.py::Net`). Raises
    TorchlintError where torch is missing or a name does not exist.
    """
    from torchlint.verify.options import VerifyOptions  # noqa: PLC0415
    from torchlint.verify.places import parse_place  # noqa: PLC0415 - a check needs none of it
    from torchlint.verify.run import plan, verify  # noqa: PLC0415

    chosen = options or VerifyOptions()
    return verify(plan([parse_place(place) for place in places], chosen), chosen)
