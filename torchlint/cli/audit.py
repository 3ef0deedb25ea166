"""`torchlint audit`: its options, and which report it prints."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torchlint.cli import exits
from torchlint.cli.parameters import (
    Choice,
    cache_of,
    cache_option,
    format_by_suffix,
    list_option,
    no_cache_option,
    wants_colour,
)
from torchlint.cli.printing import print_lines, say, say_internal_errors, say_missing, say_note, say_notes

if TYPE_CHECKING:
    from torchlint.api import CheckOptions
    from torchlint.audit.page import Audit

_BY_SUFFIX = {
    "": "text",
    ".htm": "html",
    ".html": "html",
    ".json": "json",
    ".log": "text",
    ".md": "markdown",
    ".txt": "text",
}


@click.command()
@click.argument("entries", nargs=-1, metavar="[ENTRY]...")
@click.option(
    "--output-format",
    type=Choice(["text", "html", "markdown", "json"]),
    help="For the terminal, the browser, a comment on a pull request, or programs  [default: text, or as --output "
    "ends]",
)
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write to this file instead."
)
@click.option("--pages", is_flag=True, help="Print every program's page instead of an overview of several programs.")
@click.option(
    "--against",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also say what is new and what is gone since an earlier audit, written with --output FILE.json.",
)
@click.option(
    "--fail-on",
    type=Choice(["red", "amber"]),
    help="Exit with 1 if a program has a red line, or a red or amber one; with --against, if it is new.",
)
@click.option("--torch", metavar="VERSION", help="The torch the project runs on, such as 2.6 or '>=2.1,<2.6'.")
@list_option("--devices", metavar="DEVICES", text="The devices the project runs on: cuda, rocm, cpu, mps, xpu.")
@click.option("--assume", type=Choice(["deterministic"]), help="Report as if the determinism mode were on everywhere.")
@list_option("--extend-select", metavar="RULES", text="Run these rules as well.")
@click.option(
    "--min-confidence",
    type=Choice(["high", "medium", "low"]),
    help="The least confidence shown  [default: low; what `check` would not report is amber]",
)
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Use this configuration file instead of the nearest.",
)
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes to use  [default: one for each core]")
@cache_option
@no_cache_option
def audit(**options: Any) -> int:  # noqa: ANN401 - click passes the options above by name
    """Show what a program's reproducibility depends on: a page on seeds, switches, operators, data and more.

    ENTRY is a file that starts a program (train.py, or tool.py::command for one of its commands) or a folder; the
    current folder unless given. The exit code is 0 whatever is found, unless --fail-on asks for more.
    """
    if options["config"] and options["isolated"]:
        raise click.UsageError("--config and --isolated exclude each other")
    options["output_format"] = options["output_format"] or format_by_suffix(options["output"], _BY_SUFFIX, "text")
    from torchlint import api

    entries: tuple[str, ...] = options["entries"]
    missing = [entry for entry in entries if not _exists(entry)]
    say_missing(missing)
    if missing:
        return exits.TROUBLE
    found = api.audit_paths(entries, _check_options(options), against=options["against"])
    return _say(found, options)


def _exists(entry: str) -> bool:
    """Whether a file or folder is there; in `tool.py::train`, what stands before the command."""
    try:
        return Path(entry).exists() or ("::" in entry and Path(entry.rpartition("::")[0]).is_file())
    except (OSError, ValueError):
        return False


def _check_options(options: dict[str, Any]) -> CheckOptions:
    from torchlint.api import CheckOptions
    from torchlint.config import Overrides
    from torchlint.diagnostics import Confidence

    overrides = Overrides(
        extend_select=options["extend_select"] or (),
        torch=options["torch"],
        assume_deterministic=options["assume"] == "deterministic",
        devices=options["devices"] or (),
        min_confidence=Confidence[options["min_confidence"].upper()] if options["min_confidence"] else None,
    )
    return CheckOptions(
        overrides,
        config=options["config"],
        isolated=options["isolated"],
        jobs=options["jobs"],
        cache=cache_of(options),
    )


def _say(found: Audit, options: dict[str, Any]) -> int:
    from torchlint.cli.writing import write_whole

    say_notes(found.notes)
    say_internal_errors(found.internal_errors)
    if not found.pages:
        say_note("no program found: no main guard, command, notebook or training script that has to do with torch")
    output: Path | None = options["output"]
    if output is None:
        print_lines(_lines(found, options))
    else:
        write_whole(output, "\n".join(_lines(found, options)) + "\n")
        count = len(found.pages)
        say(f"wrote {output} ({count} program{'' if count == 1 else 's'})")
    failing = _failing(found, options["fail_on"])
    if found.internal_errors:
        return exits.TROUBLE
    return exits.FINDINGS if failing else exits.CLEAN


def _failing(found: Audit, fail_on: str | None) -> int:
    """How many programs have a line that `--fail-on` is about; standard error says it."""
    from torchlint.audit.page import Light

    if fail_on is None:
        return 0
    programs = found.pages if found.compared is None else found.compared.programs
    count = sum(program.light >= Light[fail_on.upper()] for program in programs)
    if count:
        words = f"{'' if found.compared is None else 'new '}{'red' if fail_on == 'red' else 'red or amber'}"
        say(f"{count} of {len(found.pages)} program{'' if len(found.pages) == 1 else 's'} with {words} lines")
    return count


def _lines(found: Audit, options: dict[str, Any]) -> Iterator[str]:
    chosen = options["output_format"]
    if chosen == "html":
        from torchlint.report.audit_html import html_lines

        return html_lines(found)
    if chosen == "json":
        from torchlint.report.audit_json import json_text

        return json_text(found)
    if chosen == "markdown":
        from torchlint.report.audit_markdown import markdown_lines

        return markdown_lines(found)
    from torchlint.report.audit_changes import change_lines
    from torchlint.report.audit_text import Style, overview_lines, page_lines

    style = Style() if options["output"] else Style(wants_colour(), ascii_only=not _knows_marks())
    names_files = any(not Path(entry).is_dir() for entry in options["entries"])
    is_page = len(found.pages) <= 1 or options["pages"] or names_files
    shown = page_lines(found, style) if is_page else overview_lines(found, style)
    return shown if found.compared is None else chain(shown, change_lines(found.compared, style))


def _knows_marks() -> bool:
    """Whether the terminal's encoding has the marks of the pages."""
    from torchlint.report.audit_text import NEEDED

    try:
        NEEDED.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
