"""`torchlint record`: one run of a command with the recorder inside, to be compared later or elsewhere."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
from pathlib import Path
from typing import Any

import click

from torchlint.cli.diverge import LEVELS
from torchlint.cli.parameters import Choice, WithCommand
from torchlint.cli.printing import say, say_note
from torchlint.cli.stopping import stopped_by_sigterm
from torchlint.errors import TorchlintError
from torchlint.recording.journal.names import SUFFIX


@click.command(cls=WithCommand)
@click.option(
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE|DIR",
    help=f"A file (a{SUFFIX}) for a command of one process, or a folder that gets one file for each rank and worker.",
)
@click.option("--level", type=Choice(LEVELS), default="operator", show_default=True, help="What is recorded.")
@click.option("--steps", type=click.IntRange(min=1), metavar="N", help="End the run after so many steps.")
@click.option(
    "--seconds", type=click.FloatRange(min=0.1), metavar="S", help="End the run at the first step after so long."
)
def record(**options: Any) -> int:  # noqa: ANN401 - click passes the options above by name
    """Run a command once and record it, for `torchlint diverge a.tlrec b.tlrec`.

    COMMAND runs as it is, on this machine; its exit status is handed on. What was recorded can be read after a crash
    too, up to the last step.
    """
    if not options["command"]:
        raise click.UsageError("after -- stands the command to run, such as python train.py")
    output: Path = options["output"]
    if output.suffix == SUFFIX and output.is_dir():
        raise TorchlintError(f"--output: {output} is a folder")
    from torchlint.diverge.running import Wanted, recorded_run

    wanted = Wanted(options["level"], last_step=options["steps"])
    folder = _folder_beside(output)
    say(f"running your command as it is, not sandboxed: {shlex.join(options['command'])}")
    with stopped_by_sigterm() as stop:
        ended = recorded_run(options["command"], folder, wanted, seconds=options["seconds"])
        _put_away(folder, output)
    if ended.was_interrupted:
        return stop.exit_code
    return ended.status if ended.status >= 0 else 128 - ended.status


def _folder_beside(output: Path) -> Path:
    """Where the recorder writes while the command runs; a run that is killed leaves its recordings there."""
    parent = (output.parent if output.suffix == SUFFIX else output).resolve()
    folder = parent / f"{output.stem}-{socket.gethostname()}-{os.getpid()}"
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise TorchlintError(f"--output: {folder} cannot be made: {error.strerror or error}") from error
    return folder


def _put_away(folder: Path, output: Path) -> None:
    """Name the files by their processes, and remove what the recorder needed."""
    from torchlint.diverge.recordings import read_recorded
    from torchlint.recording.in_command.results import TROUBLE

    for trouble in folder.glob(f"*{TROUBLE}"):
        say_note(f"not recorded: {trouble.read_text(encoding='utf-8', errors='replace')}")
    if not any(folder.glob(f"*{SUFFIX}")):
        shutil.rmtree(folder)
        raise TorchlintError("nothing was recorded: the command ran no Python that imports torch")
    recorded = read_recorded(folder)
    target = output
    if output.suffix == SUFFIX and len(recorded.processes) > 1:
        target = output.with_suffix("")
        say_note(f"{len(recorded.processes)} processes were recorded: they are in the folder {target}{os.sep}")
    for name, recording in recorded.processes.items():
        place = target if target.suffix == SUFFIX else target / f"{name.replace(' ', '-')}{SUFFIX}"
        place.parent.mkdir(parents=True, exist_ok=True)
        counted = f"{recording.summary.steps} steps, {recording.summary.operators:,} operators"
        recording.path.replace(place)
        say(f"wrote {place} ({counted}, {place.stat().st_size:,} bytes)")
    shutil.rmtree(folder)
