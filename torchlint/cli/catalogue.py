"""`torchlint rule` and `torchlint rules`: the catalogue, offline."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torchlint.cli.parameters import Choice
from torchlint.errors import ConfigError, nearest

if TYPE_CHECKING:
    from torchlint.catalogue import Catalogue, Rule

_WRAPPER = textwrap.TextWrapper(
    width=100, initial_indent="  ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
)
_ITEM = textwrap.TextWrapper(
    width=100, initial_indent="  - ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
)
FORMAT = click.option(
    "--output-format", type=Choice(["text", "json"]), default="text", show_default=True, help="How to print."
)


@click.command()
@click.argument("code_or_name", metavar="CODE|NAME")
@FORMAT
def rule(code_or_name: str, output_format: str) -> None:
    """Explain a rule: what it finds, why that matters and what to do."""
    catalogue = load()
    found = catalogue.find(code_or_name)
    if found is None:
        known = [*catalogue.rules, *catalogue.by_name]
        hint = nearest(code_or_name.upper(), known) or nearest(code_or_name.lower(), known)
        raise ConfigError(f"unknown rule `{code_or_name}`{hint or ' (`torchlint rules` lists them)'}")
    click.echo(json.dumps(_record(found), indent=2) if output_format == "json" else "\n".join(_page(found)))


@click.command()
@FORMAT
def rules(output_format: str) -> None:
    """List all rules; `*` marks those that run by default."""
    listed = list(load().rules.values())
    if output_format == "json":
        click.echo(json.dumps([_record(entry) for entry in listed], indent=2))
        return
    width = max((len(entry.name) for entry in listed), default=0)
    for entry in listed:
        mark = "*" if entry.default and entry.selectable else " "
        status = "" if entry.status == "stable" else f" ({entry.status})"
        click.echo(f"{entry.code} {mark} {entry.name:<{width}}  {_flat(entry.summary)}{status}")


def load() -> Catalogue:
    """The catalogue with the rules and operators that the configuration of this folder adds."""
    from torchlint.catalogue import load_catalogue
    from torchlint.config import Overrides, load_settings

    return load_catalogue(load_settings(Path.cwd(), Overrides()).extensions)


def _record(entry: Rule) -> dict[str, Any]:
    import msgspec

    record: dict[str, Any] = msgspec.to_builtins(entry)
    return {**record, "url": entry.url or None}


def _page(entry: Rule) -> Iterator[str]:
    yield f"{entry.code} {entry.name}"
    yield _flat(entry.summary)
    yield ""
    if not entry.selectable:
        yield f"{entry.status}: this rule cannot be selected"
        return
    default = "runs by default" if entry.default else f"runs when selected (--extend-select {entry.code})"
    yield f"{entry.severity}, {entry.confidence} confidence, {entry.status} since {entry.since}, {default}"
    yield from section("Why", entry.why)
    yield from section("What to do", entry.what_to_do)
    yield from section("Example", entry.bad, verbatim=True)
    yield from section("Use instead", entry.good, verbatim=True)
    yield from section("Limits", entry.limits)
    yield from section("References", *entry.references)
    if entry.url:
        yield from ("", entry.url)


def section(title: str, *texts: str, verbatim: bool = False) -> Iterator[str]:
    """A headed part of a page: paragraphs, or (`verbatim`) lines as they are. Nothing for empty texts."""
    given = [text for text in texts if text.strip()]
    if not given:
        return
    yield from ("", title)
    for text in given:
        if verbatim:
            yield from (f"    {line}".rstrip() for line in text.strip("\n").splitlines())
        else:
            yield "\n\n".join(map(_filled, text.strip().split("\n\n")))


def _filled(paragraph: str) -> str:
    """A paragraph, or the items of a list."""
    if paragraph.startswith("- "):
        return "\n".join(_ITEM.fill(_flat(item)) for item in paragraph.removeprefix("- ").split("\n- "))
    return _WRAPPER.fill(_flat(paragraph))


def _flat(text: str) -> str:
    return " ".join(text.split())
