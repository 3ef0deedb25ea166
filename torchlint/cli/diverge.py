"""`torchlint diverge`: its options, and which of its three ways is taken: a command, a notebook, two recordings."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from torchlint.cli import exits
from torchlint.cli.parameters import Choice, WithCommand, format_by_suffix, is_there, list_option, wants_colour
from torchlint.cli.printing import print_lines, say, say_missing, say_note
from torchlint.cli.stopping import Stop, stopped_by_sigterm
from torchlint.errors import Terminated, TorchlintError, nearest
from torchlint.recording.factors.names import VARIABLE
from torchlint.recording.journal.names import SUFFIX, Level

if TYPE_CHECKING:
    from torchlint.diverge.data import Divergence

_BY_SUFFIX = {"": "text", ".html": "html", ".htm": "html", ".json": "json", ".log": "text", ".txt": "text"}
_ABOUT_RUNS = ("steps", "seconds", "vary", "level", "experiments", "try_cures", "keep")
_RECORDINGS = 2
LEVELS = tuple(get_args(Level))


@click.command(cls=WithCommand)
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option("--steps", type=click.IntRange(min=1), metavar="N", help="End each run after so many steps.")
@click.option(
    "--seconds", type=click.FloatRange(min=0.1), metavar="S", help="End each run at the first step after so long."
)
@list_option(
    "--vary",
    metavar="FACTORS",
    text=f"Make the second run under another value of these: {', '.join(VARIABLE)}, or all.",
)
@click.option(
    "--level",
    type=Choice(LEVELS),
    default="step",
    show_default=True,
    help="What the first two runs record. Operators of the step that differs are recorded in runs of their own.",
)
@click.option("--experiments/--no-experiments", default=True, help="Look for the factor by more runs, or do not.")
@click.option(
    "--try-cures", is_flag=True, help="Apply the smallest change for each factor from outside, and run again."
)
@click.option(
    "--max-causes", type=click.IntRange(min=1), default=3, show_default=True, help="Causes that are looked for."
)
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    metavar="T",
    help="Of recordings: call values alike that are relatively no further apart  [default: bits, or by type]",
)
@click.option(
    "--output-format",
    type=Choice(["text", "full", "json", "html"]),
    help="A screen; with stacks and experiments; an object; a page  [default: text, or as --output ends]",
)
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write to this file instead."
)
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep the recordings in this folder.",
)
def diverge(**options: Any) -> int:  # noqa: ANN401 - click passes the options above by name
    """Run a program twice, and name the first operation that differs and the factor behind it.

    COMMAND is your own command, such as `python train.py --epochs 1`. It runs several times, unchanged and unconfined,
    with a recorder inside. PATHS are then the files that `check` explains the difference with; the files of the
    difference unless given.

    Without a command PATHS is a notebook, which is run cell by cell, or two recordings, or two folders of them, that
    `torchlint record` wrote.
    """
    options["output_format"] = options["output_format"] or format_by_suffix(options["output"], _BY_SUFFIX, "text")
    options["vary"] = _factors(options["vary"] or ())
    paths = [Path(path) for path in options["paths"]]
    missing = [path for path in paths if not is_there(path)]
    say_missing(missing)
    if missing:
        if missing[0] == paths[0] and not options["command"]:
            say_note(f"a command stands behind --: `torchlint diverge -- {shlex.join(map(str, paths))}`")
        return exits.TROUBLE
    with stopped_by_sigterm() as stop:
        try:
            return _diverge(paths, options, stop)
        except (KeyboardInterrupt, Terminated):
            say("interrupted before there were two runs to compare")
            return stop.exit_code


def _factors(names: tuple[str, ...]) -> tuple[str, ...]:
    if "all" in names:
        return VARIABLE
    for name in names:
        if name not in VARIABLE:
            known = ", ".join(VARIABLE)
            raise click.UsageError(
                f"--vary: unknown factor `{name}`{nearest(name, VARIABLE)} (choose from {known}, all)"
            )
    return tuple(name for name in VARIABLE if name in names)


def _diverge(paths: list[Path], options: dict[str, Any], stop: Stop) -> int:
    if options["command"]:
        found = _of_command(options["command"], paths, options)
    elif len(paths) == 1 and paths[0].suffix.lower() == ".ipynb":
        found = _of_command((), paths, options)
    elif len(paths) == _RECORDINGS and all(path.is_dir() or path.suffix == SUFFIX for path in paths):
        found = _of_recordings(paths, options)
    else:
        raise click.UsageError(
            f"give a command after --, one notebook, or two recordings (*{SUFFIX}, or their folders)"
        )
    _print(found, options)
    if found.was_interrupted:
        return stop.exit_code
    return {"EQUAL": exits.CLEAN, "DIFFERENT": exits.FINDINGS}.get(found.verdict, exits.TROUBLE)


def _of_command(command: tuple[str, ...], paths: list[Path], options: dict[str, Any]) -> Divergence:
    from torchlint.diverge.notebooks import cells_of, command_for
    from torchlint.diverge.run import Comparison, Options
    from torchlint.diverge.running import Runner
    from torchlint.diverge.sources import Sources
    from torchlint.verify.sandbox import OwnFolder

    if options["tolerance"] is not None:
        raise click.UsageError("--tolerance goes with two recordings: runs of one machine are compared bit by bit")
    _refuse_what_is_there(options["keep"])
    cells = {} if command else cells_of(paths[0])
    run = command or command_for(paths[0])
    say(f"running your {'command' if command else 'notebook'} as it is, not sandboxed: {shlex.join(run)}")
    with OwnFolder() as own:
        runner = Runner(run, own.path, own.lock, vary=options["vary"], seconds=options["seconds"], told=say)
        asked = Options(
            paths=tuple(paths) if command else (),
            level=options["level"],
            steps=options["steps"],
            vary=options["vary"],
            experiments=options["experiments"],
            try_cures=options["try_cures"],
            max_causes=options["max_causes"],
        )
        try:
            return Comparison(runner, asked, Sources(Path.cwd(), cells)).result()
        finally:
            _keep(own.path, options["keep"])


def _of_recordings(paths: list[Path], options: dict[str, Any]) -> Divergence:
    from torchlint.diverge.offline import compared
    from torchlint.diverge.sources import Sources

    context = click.get_current_context()
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in _ABOUT_RUNS and source is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{parameter.opts[0]} does not go with recordings: their runs were made already")
    return compared(*paths, tolerance=options["tolerance"], sources=Sources(Path.cwd()))


def _refuse_what_is_there(folder: Path | None) -> None:
    if folder is not None and folder.exists() and any(folder.iterdir()):
        raise TorchlintError(f"--keep: {folder} is not empty")


def _keep(own: Path, kept: Path | None) -> None:
    """Copy the recordings to where the user wants them, a folder for each run."""
    if kept is None:
        return
    for path in sorted(own.glob(f"run-*/*{SUFFIX}")):
        target = kept / path.parent.name
        try:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / path.name)
        except OSError as error:
            raise TorchlintError(f"--keep: {target} cannot be written: {error.strerror or error}") from error
    say(f"kept the recordings of each run in {kept}{os.sep}")


def _print(found: Divergence, options: dict[str, Any]) -> None:
    from torchlint.cli.writing import write_whole

    output: Path | None = options["output"]
    lines = _lines(found, options)
    if output is None:
        print_lines(lines)
        return
    write_whole(output, "\n".join(lines) + "\n")
    say(f"wrote {output} ({found.verdict})")


def _lines(found: Divergence, options: dict[str, Any]) -> Iterator[str]:
    chosen = options["output_format"]
    if chosen == "json":
        from torchlint.report.diverge_json import json_text

        return json_text(found)
    if chosen == "html":
        from torchlint.report.diverge_html import html_lines

        return html_lines(found)
    from torchlint.report import diverge_text

    colour = options["output"] is None and wants_colour()
    return (diverge_text.full_lines if chosen == "full" else diverge_text.text_lines)(found, colour=colour)
