"""`torchlint verify`: its options, what it says before anything runs, and which report it prints."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from torchlint.cli import exits
from torchlint.cli.parameters import Choice, Size, WithCommand, is_there, list_option, wants_colour
from torchlint.cli.printing import (
    print_lines,
    say,
    say_error,
    say_internal_errors,
    say_missing,
    say_note,
    say_notes,
)
from torchlint.cli.stopping import Stop, stopped_by_sigterm
from torchlint.errors import Terminated, TorchlintError, device_hint
from torchlint.recording.names import ProbeName

if TYPE_CHECKING:
    from torchlint.verify.data import Verification
    from torchlint.verify.options import Standing, VerifyOptions
    from torchlint.verify.places import Place
    from torchlint.verify.run import Planned

_ABOUT_TARGETS = ("device", "runs", "threads", "memory", "jobs", "require_sandbox")
"""Options that say how torchlint runs targets: they would mean nothing for a command of the user's own."""
_BY_SUFFIX = {".html": "html", ".htm": "html", ".json": "json"}


@click.command(cls=WithCommand)
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option(
    "--from",
    "saved",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Verify only these findings: what `torchlint check --output-format json` wrote.",
)
@list_option("--select", metavar="RULES", text="Findings of these rules only: codes, prefixes, names or ALL.")
@list_option("--extend-select", metavar="RULES", text="Findings of these rules as well.")
@list_option("--ignore", metavar="RULES", text="Leave these rules out.")
@click.option(
    "--probe",
    "probes",
    multiple=True,
    type=Choice(list(get_args(ProbeName))),
    help="Only these probes: one or more  [default: those that the rule names]",
)
@click.option(
    "--device",
    "devices",
    multiple=True,
    type=Choice(["cpu", "cuda", "mps", "xpu", "all"], device_hint),
    help="Where to run; a device that is not present is an error: one or more  [default: all that are present]",
)
@click.option(
    "--runs", type=click.IntRange(min=2), default=10, show_default=True, help="Runs of a target that are compared."
)
@click.option(
    "--threads", type=click.IntRange(min=1), default=2, show_default=True, help="Threads of the CPU in a run."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    default=60.0,
    show_default=True,
    help="Seconds that one target may take. Waiting for a busy processor does not count.",
)
@click.option("--memory", type=Size(), default="4G", show_default=True, help="Memory that one target may take.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Targets that run at the same time  [default: one for two cores]",
)
@click.option("--dry-run", is_flag=True, help="Show what would be executed, and stop.")
@click.option("--keep-going", is_flag=True, help="Verify the rest if a path is missing or a check failed.")
@click.option("--require-sandbox", is_flag=True, help="Exit with 2 if this system cannot confine the code.")
@click.option(
    "--fail-on",
    type=Choice(["confirmed", "traced"]),
    default="confirmed",
    show_default=True,
    help="What makes the exit code 1: DIVERGED, CONFIRMED and (mode on) RAISED; or TRACED and KERNEL-ONLY too.",
)
@click.option(
    "--output-format",
    type=Choice(["text", "full", "json", "html"]),
    help="One line for each finding; with evidence; an object; a page  [default: text, or as --output ends]",
)
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write to this file instead."
)
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Use this configuration file instead of the nearest.",
)
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
def verify(**options: Any) -> int:  # noqa: ANN401 - click passes the options above by name
    """Run what `check` flags, and say which findings are real. This executes your code.

    PATHS are files and folders, single lines (models.py:18), or a class or function, whatever was found in it
    (models.py::Net); the current folder unless given. Each target runs in its own process. Where the system can enforce
    it, that process cannot write outside a temporary folder or reach the network.

    COMMAND is your own command, such as `python train.py` or `pytest tests/test_model.py`. It runs once, unchanged and
    unconfined, with a recorder inside, and what ran is matched to the findings in PATHS. If it fails, its exit status
    is handed on.
    """
    if options["config"] and options["isolated"]:
        raise click.UsageError("--config and --isolated exclude each other")
    if options["command"]:
        _refuse_options_about_targets()
    from torchlint.verify.places import parse_place

    places = [parse_place(path) for path in options["paths"] or (".",)]
    missing = [place for place in places if not is_there(place.path)]
    say_missing(place.path for place in missing)
    if missing and not options["keep_going"]:
        return exits.TROUBLE
    with stopped_by_sigterm() as stop:
        try:
            code = _verify([place for place in places if place not in missing], options, stop)
        except Terminated:  # nothing was found yet
            say("terminated")
            return exits.TERMINATED
    return exits.TROUBLE if missing else code


def _verify(places: list[Place], options: dict[str, Any], stop: Stop) -> int:
    from torchlint.verify.kept import remember
    from torchlint.verify.run import plan

    chosen = _verify_options(options)
    with _progress_of_check() as progress:
        check = dataclasses.replace(chosen.check, progress=progress)
        planned = plan(places, dataclasses.replace(chosen, check=check))
    if planned.missing and not options["command"]:
        say_note(f"not installed here: {_lacking(planned)}: run it inside the project's environment")
    say_notes(planned.report.notes)
    say_internal_errors(planned.report.internal_errors)
    for error in planned.report.errors:
        say_error(error)
    is_incomplete = bool(planned.report.internal_errors or planned.report.errors)
    if is_incomplete and not options["keep_going"]:
        return exits.TROUBLE
    if planned.gone:
        say_note(f"{_count(planned.gone, 'saved finding')} not there any more: the code changed")
    if options["dry_run"]:
        _show(planned, options["command"])
        return exits.CLEAN
    if options["command"]:
        found = _run_command(planned, options["command"])
    else:
        found = _verified(planned, chosen, require_sandbox=options["require_sandbox"])
    remember(found)
    _print(found, options)
    if found.was_interrupted:
        return stop.exit_code
    if found.command_status:
        return found.command_status
    return exits.TROUBLE if is_incomplete else _exit_code(found, options["fail_on"])


@contextlib.contextmanager
def _progress_of_check() -> Iterator[Callable[[int, int], None]]:
    """How far the check is that comes before the run: a large project takes seconds."""
    from torchlint.cli.progress import PATIENCE, Progress, ProgressLines

    counter = Progress()
    try:
        yield counter if sys.stderr.isatty() else ProgressLines("files checked", PATIENCE)
    finally:
        counter.close()


def _verified(planned: Planned, options: VerifyOptions, *, require_sandbox: bool) -> Verification:
    from torchlint.cli.progress import Progress, ProgressLines
    from torchlint.verify.run import verify

    counter, lines = Progress("ran", "targets"), ProgressLines("targets done")

    def show(standing: Standing) -> None:
        if sys.stderr.isatty():
            counter(standing.done, standing.total)
        else:
            lines(standing.done, standing.total, standing.running)

    begin = functools.partial(_announce, planned, require_sandbox=require_sandbox)
    try:
        return verify(planned, dataclasses.replace(options, progress=show, begin=begin))
    finally:
        counter.close()


def _verify_options(options: dict[str, Any]) -> VerifyOptions:
    from torchlint.config import Overrides
    from torchlint.engine.run import RunOptions
    from torchlint.engine.workers import default_jobs
    from torchlint.verify.options import ALL_DEVICES, VerifyOptions
    from torchlint.verify.saved_findings import read_saved

    overrides = Overrides(
        select=options["select"], extend_select=options["extend_select"] or (), ignore=options["ignore"] or ()
    )
    return VerifyOptions(
        check=RunOptions(overrides, config=options["config"], isolated=options["isolated"]),
        devices=options["devices"] or (ALL_DEVICES,),
        runs=options["runs"],
        threads=options["threads"],
        seconds=options["timeout"],
        memory_bytes=options["memory"],
        jobs=options["jobs"] or max(default_jobs() // 2, 1),
        probes=options["probes"],
        needs_environment=_format(options) in ("json", "html"),
        saved=read_saved(options["saved"]) if options["saved"] else None,
    )


def _announce(planned: Planned, *, require_sandbox: bool) -> None:
    """Say what is about to happen. Raises TorchlintError where a sandbox is required and there is none."""
    from torchlint.verify.run import protection
    from torchlint.verify.sandbox import Confinement

    confinement = Confinement.of_this_system()
    if require_sandbox and not confinement.is_sandboxed:
        raise TorchlintError("--require-sandbox: this system cannot keep the code from your files (no Landlock)")
    if planned.plans:
        files = {plan.shown for plan in planned.plans}
        what = f"{_count(len(planned.plans), 'target')} of {_count(len(files), 'file')}"
        say(f"executing your code: {what}; {protection(confinement)}")


def _refuse_options_about_targets() -> None:
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        if parameter.opts[0].lstrip("-").replace("-", "_") in _ABOUT_TARGETS and _is_given(context, name):
            raise click.UsageError(f"{parameter.opts[0]} does not go with a command: that is run once, as it is")


def _is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def _run_command(planned: Planned, command: tuple[str, ...]) -> Verification:
    from torchlint.verify.command_run import verify_command

    context = click.get_current_context()
    seconds: float | None = context.params["timeout"] if _is_given(context, "timeout") else None
    say(f"running your command as it is, not sandboxed: {shlex.join(command)}")
    found = verify_command(planned, command, seconds=seconds)
    say_notes(note for note in found.notes if note not in planned.report.notes)
    return found


def _lacking(planned: Planned) -> str:
    """`hydra (3 of 5 targets need it), timm (1)`."""
    (first, count), *others = planned.missing.items()
    total = _count(len(planned.plans), "target")
    told = [f"{first} ({count} of {total} need{'s' if count == 1 else ''} it)"]
    return ", ".join([*told, *(f"{name} ({needing})" for name, needing in others)])


def _show(planned: Planned, command: tuple[str, ...]) -> None:
    """What would be executed, target by target; or the command, and what would be looked for in its run."""
    from torchlint.report.verify_plan import command_lines, plan_lines

    print_lines(command_lines(planned, command) if command else plan_lines(planned))


def _print(found: Verification, options: dict[str, Any]) -> None:
    from torchlint.cli.writing import write_whole

    output: Path | None = options["output"]
    lines = _lines(found, options)
    if output is None:
        print_lines(lines)
        return
    write_whole(output, "\n".join(lines) + "\n")
    say(f"wrote {output} ({_count(len(found.results), 'finding')})")


def _lines(found: Verification, options: dict[str, Any]) -> Iterator[str]:
    chosen = _format(options)
    if chosen == "json":
        from torchlint.report.verify_json import json_text

        return json_text(found)
    if chosen == "html":
        from torchlint.report.verify_html import html_lines

        return html_lines(found)
    from torchlint.report import verify_text

    colour = options["output"] is None and wants_colour()
    return (verify_text.full_lines if chosen == "full" else verify_text.text_lines)(found, colour=colour)


def _format(options: dict[str, Any]) -> str:
    output: Path | None = options["output"]
    suffix = output.suffix.lower() if output else ""
    return str(options["output_format"] or _BY_SUFFIX.get(suffix, "text"))


def _exit_code(found: Verification, fail_on: str) -> int:
    from torchlint.verify.data import TRACES

    traces = TRACES if fail_on == "traced" else frozenset()
    failed = any(result.fails or result.verdict in traces for result in found.results)
    return exits.FINDINGS if failed else exits.CLEAN


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
