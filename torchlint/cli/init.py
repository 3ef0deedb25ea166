"""`torchlint init`: a first configuration, or the start block of a program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torchlint.cli import exits
from torchlint.cli.parameters import is_there
from torchlint.cli.printing import from_here, print_lines, say_error, say_missing, say_note, say_notes
from torchlint.cli.writing import write_whole
from torchlint.errors import ConfigError

if TYPE_CHECKING:
    from torchlint.catalogue.versions import TorchTarget
    from torchlint.config.settings import Settings
    from torchlint.diagnostics import Report

_MOST_PROGRAMS = 3
"""Named before the rest is counted."""


@click.command()
@click.argument("path", required=False, metavar="[FOLDER|FILE]")
@click.option(
    "--preamble", is_flag=True, help="Print the start block that FILE (a program) needs, and write no configuration."
)
@click.option("--essential", is_flag=True, help="Select the few essential rules, instead of the default ones.")
def init(path: str | None, *, preamble: bool, essential: bool) -> int:
    """Write a minimal configuration for the project of FOLDER (the current one, unless given), and say what to do next.

    With --preamble: print the seeds, switches and helpers that a program lacks, as code for its first lines.
    """
    if preamble:
        if essential:
            raise click.UsageError("--preamble and --essential exclude each other")
        return _print_blocks(path)
    folder = Path(path or ".")
    if not is_there(folder):
        say_missing([folder])
        return exits.TROUBLE
    if not folder.is_dir():
        raise click.UsageError(f"{folder} is no folder; for the start block of a program: `--preamble {folder}`")
    return _configure(folder, is_essential=essential)


def _print_blocks(entry: str | None) -> int:
    """The block of each program, with a line between them."""
    from torchlint.api import CheckOptions, needs_of_programs
    from torchlint.engine.cache.results import ResultCache
    from torchlint.report import start_block

    if entry is not None and not is_there(Path(entry.partition("::")[0])):
        say_missing([Path(entry)])
        return exits.TROUBLE
    found = needs_of_programs([entry] if entry else [], CheckOptions(cache=ResultCache(is_on_disk=True)))
    if not found:
        say_error("no program found that uses torch: name a file that starts one")
        return exits.TROUBLE
    for index, needs in enumerate([one for one in found if one.trains] or found):
        print_lines([*([""] if index else []), *start_block.lines(needs)])
    say_note("only what the code shows counts; `torchlint audit` says what else a program depends on")
    return exits.CLEAN


def _configure(folder: Path, *, is_essential: bool) -> int:
    from torchlint import api
    from torchlint.config import find_config
    from torchlint.engine.cache.results import ResultCache

    root = api.list_roots([folder], api.CheckOptions())[0]
    there = find_config(root.settings.root)
    if there is not None:
        say_error(f"{from_here(there)}: holds a configuration already; `torchlint check --show-settings` shows it")
        return exits.TROUBLE
    target = max(root.targets, key=lambda one: root.targets[one])
    file = _written(root.settings, list(_settings(target, is_essential=is_essential)))
    report = api.check_paths([root.settings.root], api.CheckOptions(baseline=True, cache=ResultCache(is_on_disk=True)))
    say_notes(report.notes)
    print_lines([f"wrote {from_here(file)}", *_told(report, target, file)])
    return exits.CLEAN


def _settings(target: TorchTarget, *, is_essential: bool) -> Iterator[str]:
    """The lines of the table: what the project does not say itself."""
    from torchlint.catalogue import load_catalogue
    from torchlint.catalogue.versions import format_minor

    if target.declared:
        yield f"# torch: {target} ({target.source})"
    elif target.pinned:
        yield f"# No file of the project names a release of torch: {target.source}. Better pin it in your requirements."
        yield f'torch = "{format_minor(target.newest)}"'
    else:
        yield "# torch: no file of the project names a release, and none is installed; pin one in your requirements"
    if is_essential:
        codes = [rule.code for rule in load_catalogue().rules.values() if rule.essential]
        yield f"select = [{', '.join(f'{code!r}' for code in codes)}]".replace("'", '"')


def _written(settings: Settings, lines: list[str]) -> Path:
    """The file that holds the table now: the project's pyproject.toml, else a new torchlint.toml."""
    from torchlint.config.discovery import OWN_FILE, PROJECT_FILE

    project = settings.root / PROJECT_FILE
    if not project.is_file():
        own = settings.root / OWN_FILE
        write_whole(own, "".join(f"{line}\n" for line in lines), "init")
        return own
    write_whole(project, _with_table(project, ["[tool.torchlint]", *lines]), "init")
    return project


def _with_table(project: Path, lines: list[str]) -> str:
    """The text of a pyproject.toml with a table more, in its own line ends. Raises ConfigError where none fits."""
    import tomli

    try:
        text = project.read_bytes().decode()
        end = "\r\n" if "\r\n" in text else "\n"
        text += "" if text.endswith("\n") or not text else end
        text += end.join([*([""] if text else []), *lines, ""])
        tomli.loads(text)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{project}: cannot take a table more: {error}") from error
    return text


def _told(report: Report, target: TorchTarget, file: Path) -> Iterator[str]:
    """What was found, and what to do next."""
    from torchlint.diagnostics import Severity

    yield f"torch     {target} ({target.source})"
    names = list(report.programs)
    more = f" and {len(names) - _MOST_PROGRAMS} more" if len(names) > _MOST_PROGRAMS else ""
    yield f"programs  {', '.join(names[:_MOST_PROGRAMS]) + more if names else 'none seen that trains'}"
    files = f"{len(report.files)} file{'' if len(report.files) == 1 else 's'}"
    failing = sum(one.severity >= Severity.WARNING for one in report.diagnostics)
    yield f"findings  {len(report.diagnostics)} in {files}; {failing} of them fail a run"
    where = "" if file.parent == Path.cwd() else f" {from_here(file.parent)}"
    yield f"next      `torchlint check{where}`"
    if failing:
        yield f"          `torchlint baseline{where}` writes them down, so that only new ones fail a run"
    if names:
        yield f"          `torchlint init --preamble {names[0]}` prints the seeds and switches that it lacks"
