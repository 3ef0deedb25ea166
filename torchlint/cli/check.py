"""`torchlint check`: its options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torchlint.cli.parameters import (
    Choice,
    FormatAndFile,
    OptionalValues,
    cache_of,
    cache_option,
    format_by_suffix,
    list_option,
    no_cache_option,
)
from torchlint.report.formats import format_names

if TYPE_CHECKING:
    from torchlint.cli.findings import Shown
    from torchlint.cli.fixing import Fixing
    from torchlint.config import Overrides

_SEVERITIES = Choice(["error", "warning", "info"])
_BY_SUFFIX = {
    "": "text",
    ".json": "json",
    ".jsonl": "json-lines",
    ".log": "text",
    ".sarif": "sarif",
    ".txt": "text",
    ".xml": "junit",
}
_COUNTED = ("text", "json")
_CONFIDENCES = Choice(["high", "medium", "low"])


class CheckCommand(OptionalValues):
    """Its option that may be given alone."""

    may_stand_alone = ("--add-ignore",)


@click.command(cls=CheckCommand)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@list_option("--select", metavar="RULES", text="Run these rules only: codes, prefixes, names or ALL, with commas.")
@list_option("--ignore", metavar="RULES", text="Leave these rules out.")
@list_option("--extend-select", metavar="RULES", text="Run these rules as well.")
@list_option("--extend-ignore", metavar="RULES", text="The same as --ignore.")
@list_option("--exclude", metavar="PATTERNS", text="Skip these files and folders, instead of the configured ones.")
@list_option("--extend-exclude", metavar="PATTERNS", text="Skip these files and folders as well.")
@click.option("--force-exclude", is_flag=True, help="Skip excluded files even if they are named on the command line.")
@click.option(
    "--output-format",
    type=Choice(format_names()),
    metavar="FORMAT",
    help=f"How to print: {', '.join(format_names())}  [default: text, or as --output ends]",
)
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write to this file instead."
)
@click.option(
    "--also",
    type=FormatAndFile(),
    multiple=True,
    metavar="FORMAT:FILE",
    help="Write this file as well, such as sarif:out.sarif; can be repeated.",
)
@click.option(
    "--notebook-lines",
    type=Choice(["cell", "file", "code"]),
    default="cell",
    show_default=True,
    help="Lines of a notebook as people read them: in the cell, in the .ipynb file, or over all code cells.",
)
@click.option("--all-places", is_flag=True, help="Print a line for each place, also for similar findings of a file.")
@click.option("--torch", metavar="VERSION", help="The torch the project runs on, such as 2.6 or '>=2.1,<2.6'.")
@list_option("--devices", metavar="DEVICES", text="The devices the project runs on: cuda, rocm, cpu, mps, xpu.")
@click.option(
    "--assume",
    type=Choice(["deterministic"]),
    help="Report as if the determinism mode were on: the lines that would raise, and what it would not fix.",
)
@click.option("--fail-on", type=_SEVERITIES, help="The least severity that makes the exit code 1  [default: warning]")
@click.option("--min-severity", type=_SEVERITIES, help="The least severity reported  [default: info]")
@click.option("--min-confidence", type=_CONFIDENCES, help="The least confidence reported  [default: medium]")
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Report only findings that this baseline file does not contain  [default: torchlint-baseline.json at the "
    "root, if it exists]",
)
@click.option("--no-baseline", is_flag=True, help="Also report findings that are in the baseline.")
@click.option(
    "--since", metavar="REV", help="Report only findings on lines that changed since a git revision, committed or not."
)
@click.option(
    "--add-ignore",
    metavar="[=REASON]",
    help="Write `# torchlint: ignore[CODE] REASON` where the findings are, and report those that cannot get one.",
)
@click.option("--fix/--no-fix", default=None, help="Fix what can be fixed safely, and report what remains.")
@click.option(
    "--unsafe-fixes/--no-unsafe-fixes",
    default=None,
    help="Also take fixes by which results, memory, speed or checkpoints change, or the program may raise.",
)
@click.option("--fix-only", is_flag=True, help="Fix, and report nothing of what remains.")
@click.option(
    "--diff",
    is_flag=True,
    help="Show what --fix (or --add-ignore) would write, write nothing, and exit with 1 if it is any.",
)
@click.option("--show-fixes", is_flag=True, help="List what was fixed.")
@click.option("--isolated-facts", is_flag=True, help="Judge each file as if it lay alone in an empty folder.")
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Use this configuration file instead of the nearest.",
)
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
@click.option(
    "--stdin-filename", type=click.Path(path_type=Path), metavar="FILE", help="What `-` (standard input) stands for."
)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes to use  [default: one for each core]")
@cache_option
@no_cache_option
@click.option("--hide-refuted", is_flag=True, help="Leave out what an earlier `torchlint verify` has refuted.")
@click.option(
    "--open",
    is_flag=True,
    help="Also report, as notes, what the pages of `torchlint audit` leave open for the programs among the files.",
)
@click.option("--watch", is_flag=True, help="Check again after each save, until Ctrl-C.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@click.option("--fail-on-skipped", is_flag=True, help="Exit with 1 if a file or a cell was not checked.")
@click.option("--statistics", is_flag=True, help="Count the findings by rule instead of listing them.")
@click.option("--show-files", is_flag=True, help="List the files that would be checked, and stop.")
@click.option("--show-settings", is_flag=True, help="Show the settings of each root, and stop.")
def check(**options: Any) -> int:  # noqa: ANN401 - click passes the options above by name
    """Check Python files and notebooks (the current folder, unless PATHS are given; `-` is standard input).

    Settings come from the nearest torchlint.toml or [tool.torchlint] in pyproject.toml; options override them.
    """
    paths: tuple[Path, ...] = options["paths"] or (Path(),)
    _refuse_contradictions(options, paths)
    from torchlint.cli.session import Session

    fixing = _fixing(options)
    session = Session(
        paths=paths,
        stdin_filename=options["stdin_filename"],
        overrides=_overrides(options),
        config=options["config"],
        isolated=options["isolated"],
        jobs=options["jobs"],
        shown=_shown(options),
        exit_zero=options["exit_zero"],
        fail_on_skipped=options["fail_on_skipped"],
        hide_refuted=options["hide_refuted"],
        kept_verdicts=not options["no_cache"],
        cache=cache_of(options) or fixing.cache(),
        baseline=not options["no_baseline"],
        since=options["since"],
        add_ignore=options["add_ignore"],
        open=options["open"],
        fixing=fixing,
    )
    if options["show_settings"]:
        return session.show_settings()
    if options["show_files"]:
        return session.show_files()
    if options["watch"]:
        from torchlint.cli.watching import watch

        return watch(session)
    return session.check()


def _refuse_contradictions(options: dict[str, Any], paths: tuple[Path, ...]) -> None:
    """Raise UsageError for options that cannot be together."""
    if options["config"] and options["isolated"]:
        raise click.UsageError("--config and --isolated exclude each other")
    if options["baseline"] and options["no_baseline"]:
        raise click.UsageError("--baseline and --no-baseline exclude each other")
    if options["stdin_filename"] and Path("-") not in paths:
        raise click.UsageError("--stdin-filename needs `-` among the paths")
    if options["add_ignore"] is not None and Path("-") in paths:
        raise click.UsageError("--add-ignore writes into files, not to standard output")
    if options["add_ignore"] and not options["add_ignore"].isprintable():
        raise click.UsageError("--add-ignore: a reason is one line of text")
    for option in ("open", "watch"):
        if options[option] and Path("-") in paths:
            raise click.UsageError(f"--{option} reads files, not standard input")
    _refuse_two_writers(options)


def _refuse_two_writers(options: dict[str, Any]) -> None:
    """Fixes, ignore comments and the next look of `--watch` would write and read the same files."""
    for option in ("output", "also"):
        if (options["diff"] or options["fix_only"]) and options[option]:
            raise click.UsageError(f"--{option} needs a report, and --diff and --fix-only print none")
    exclusive = ("watch", "fix", "diff") if options["add_ignore"] is None else ("watch", "add_ignore", "fix")
    given = [option for option in exclusive if options[option] not in (None, False)]
    if options["fix_only"] and "fix" not in given:
        given.append("fix_only")
    if len(given) > 1 and not {"watch", "add_ignore"}.isdisjoint(given):
        one, other = (f"--{option.replace('_', '-')}" for option in given[:2])
        raise click.UsageError(f"{one} and {other} exclude each other")


def _fixing(options: dict[str, Any]) -> Fixing:
    from torchlint.cli.fixing import Fixing

    return Fixing(
        fix=options["fix"],
        unsafe=options["unsafe_fixes"],
        only=options["fix_only"],
        diff=options["diff"],
        show=options["show_fixes"],
    )


def _shown(options: dict[str, Any]) -> Shown:
    from torchlint.cli.findings import Shown

    output: Path | None = options["output"]
    name = options["output_format"] or format_by_suffix(output, _BY_SUFFIX, "text")
    if options["statistics"] and name not in _COUNTED:
        raise click.UsageError(f"--statistics prints {' or '.join(_COUNTED)}, not {name}")
    files = [path.absolute() for path in (output, *(path for _, path in options["also"])) if path is not None]
    if len(set(files)) < len(files):
        raise click.UsageError("--output and --also name one file twice")
    return Shown(
        name,
        output=output,
        also=options["also"],
        statistics=options["statistics"],
        notebook_lines=options["notebook_lines"],
        all_places=options["all_places"],
    )


def _overrides(options: dict[str, Any]) -> Overrides:
    from torchlint.config import Overrides
    from torchlint.diagnostics import Confidence, Severity

    def severity(name: str) -> Severity | None:
        return Severity[options[name].upper()] if options[name] else None

    return Overrides(
        select=options["select"],
        ignore=options["ignore"] or (),
        extend_select=options["extend_select"] or (),
        extend_ignore=options["extend_ignore"] or (),
        exclude=options["exclude"],
        extend_exclude=options["extend_exclude"] or (),
        force_exclude=options["force_exclude"],
        baseline=options["baseline"],
        torch=options["torch"],
        assume_deterministic=options["assume"] == "deterministic",
        devices=options["devices"] or (),
        min_severity=severity("min_severity"),
        min_confidence=Confidence[options["min_confidence"].upper()] if options["min_confidence"] else None,
        fail_on=severity("fail_on"),
        isolated_facts=options["isolated_facts"],
    )
