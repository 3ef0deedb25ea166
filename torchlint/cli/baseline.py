"""`torchlint baseline`: writes down the findings there are, so that only new ones count."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torchlint.cli import exits
from torchlint.cli.parameters import is_there, list_option
from torchlint.cli.printing import from_here, say_error, say_internal_errors, say_missing, say_note, say_notes

if TYPE_CHECKING:
    from torchlint.api import CheckOptions
    from torchlint.engine.renewal import Renewal


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--prune", is_flag=True, help="Only remove what is no longer found; new findings stay new.")
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The file to write  [default: the configured one, else torchlint-baseline.json at the root]",
)
@list_option("--select", metavar="RULES", text="Look for these rules only; entries of other rules stay.")
@list_option("--ignore", metavar="RULES", text="Leave these rules out.")
@list_option("--extend-select", metavar="RULES", text="Look for these rules as well.")
@list_option("--exclude", metavar="PATTERNS", text="Skip these files and folders, instead of the configured ones.")
@click.option("--torch", metavar="VERSION", help="The torch the project runs on, such as 2.6 or '>=2.1,<2.6'.")
@list_option("--devices", metavar="DEVICES", text="The devices the project runs on: cuda, rocm, cpu, mps, xpu.")
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Use this configuration file instead of the nearest.",
)
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes to use  [default: one for each core]")
def baseline(**options: Any) -> int:  # noqa: ANN401 - click passes the options above by name
    """Write the current findings into a file; from then on `torchlint check` reports only new ones.

    The file is at the root of the project; commit it. Its entries still match after lines move or files are renamed.
    Changing a line that has a finding makes the finding new. PATHS are the current folder unless given; entries of
    other files stay.
    """
    if options["config"] and options["isolated"]:
        raise click.UsageError("--config and --isolated exclude each other")
    missing = [path for path in options["paths"] if not is_there(path)]
    say_missing(missing)
    if missing:
        return exits.TROUBLE
    from torchlint import api
    from torchlint.adoption.repository import is_ignored
    from torchlint.cli.writing import write_whole

    found = api.renew_baselines(options["paths"] or (Path(),), _check_options(options), prune=options["prune"])
    say_notes(found.notes)
    say_internal_errors(found.internal_errors)
    if found.internal_errors:
        say_error("nothing was written, because findings may be missing")
        return exits.TROUBLE
    for renewal in found.renewed:
        is_new = not renewal.baseline.path.exists()
        if renewal.baseline.entries or not is_new:
            write_whole(renewal.baseline.path, renewal.baseline.text, "baseline")
        click.echo(_said(renewal))
        if renewal.baseline.path.exists() and is_ignored(renewal.baseline.path):
            shown = from_here(renewal.baseline.path)
            say_note(f"{shown}: git ignores this file, so nobody else gets it (`git check-ignore -v {shown}` says why)")
    if not found.renewed:
        say_note(_NONE[options["prune"]])
    return exits.CLEAN


_NONE = {False: "nothing to check: no Python file or notebook found", True: "there is no baseline to prune"}


def _said(renewal: Renewal) -> str:
    shown = from_here(renewal.baseline.path)
    count = len(renewal.baseline.entries)
    if not count:
        dropped = f" ({renewal.dropped} dropped): delete it" if renewal.dropped else ""
        return f"{shown}: no findings{dropped}"
    return f"{shown}: {count} finding{'' if count == 1 else 's'} ({renewal.added} new, {renewal.dropped} dropped)"


def _check_options(options: dict[str, Any]) -> CheckOptions:
    from torchlint.api import CheckOptions
    from torchlint.config import Overrides

    overrides = Overrides(
        select=options["select"],
        ignore=options["ignore"] or (),
        extend_select=options["extend_select"] or (),
        exclude=options["exclude"],
        baseline=options["baseline"],
        torch=options["torch"],
        devices=options["devices"] or (),
    )
    return CheckOptions(overrides, config=options["config"], isolated=options["isolated"], jobs=options["jobs"])
