"""`torchlint operators`: what the registry knows of PyTorch's nondeterministic operators, offline."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from torchlint.cli.catalogue import FORMAT, load, section
from torchlint.errors import ConfigError, nearest

if TYPE_CHECKING:
    from torchlint.catalogue import Catalogue
    from torchlint.catalogue.registry import Operator
    from torchlint.catalogue.versions import Minor

_BRIEF = {
    "raises": "raises",
    "deterministic_alternative": "alternative",
    "silent_nondeterministic": "varies",
    "always_deterministic": "never varies",
}


@click.command()
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--torch", "release", metavar="VERSION", help="What holds for this release, such as 2.6.")
@FORMAT
def operators(name: str | None, release: str | None, output_format: str) -> None:
    """List PyTorch's nondeterministic operators, or explain one.

    NAME is an operator's id, any way to write it in code (interpolate, F.interpolate, scatter_add_), an ATen name, or
    words of the error that the determinism mode raises.
    """
    catalogue = load()
    minor = _minor(release, catalogue)
    found = [operator for operator in catalogue.operators if name is None or _is_named(operator, name)]
    if not found:
        raise ConfigError(f"no operator `{name}` in the registry{_hint(name or '', catalogue)}")
    found.sort(key=lambda operator: (operator.is_context, operator.rule, operator.id))
    if output_format == "json":
        click.echo(json.dumps([_record(operator, minor) for operator in found], indent=2))
    elif name is None:
        click.echo("\n".join(_listing(found, minor or catalogue.newest, catalogue)))
    else:
        click.echo("\n\n\n".join("\n".join(_page(operator, minor, catalogue)) for operator in found))


def _minor(release: str | None, catalogue: Catalogue) -> Minor | None:
    from torchlint.catalogue.versions import format_minor, parse_minor

    if release is None:
        return None
    try:
        minor = parse_minor(release)
    except ValueError as error:
        raise ConfigError(f"--torch: `{release}` is no release such as 2.6") from error
    if minor not in catalogue.releases:
        first, last = format_minor(catalogue.releases[0]), format_minor(catalogue.releases[-1])
        raise ConfigError(f"--torch: torchlint knows the releases {first} to {last}, not {release}")
    return minor


def _is_named(operator: Operator, name: str) -> bool:
    wanted = name.strip().rstrip("()").lower()
    if not wanted:
        return False
    written = {spelling.call or spelling.method for spelling in operator.spelling}
    written |= {call.rpartition(".")[2] for call in written}
    exact = {operator.id, *written, *operator.aten, *(aten.split(".")[1] for aten in operator.aten)}
    short = wanted.removeprefix("torch.").removeprefix("tensor.").removeprefix("f.").removeprefix("nn.")
    lowered = {text.lower() for text in exact}
    in_alert = any(
        alert.lower() in wanted or (len(wanted) > 5 and wanted in alert.lower()) for alert in operator.alerts
    )
    return wanted in lowered or short in lowered or in_alert


def _hint(name: str, catalogue: Catalogue) -> str:
    known = {operator.id for operator in catalogue.operators}
    known |= {(s.call or s.method).rpartition(".")[2] for operator in catalogue.operators for s in operator.spelling}
    return nearest(name, sorted(known)) or " (`torchlint operators` lists them)"


def _record(operator: Operator, minor: Minor | None) -> dict[str, Any]:
    import msgspec

    record: dict[str, Any] = msgspec.to_builtins(operator)
    if minor is not None:
        record["under_mode"] = {
            row.device: row.under_mode for row in operator.row if minor in row.range and not row.before
        }
    return record


def _listing(found: Sequence[Operator], minor: Minor, catalogue: Catalogue) -> Iterator[str]:
    from torchlint.catalogue.versions import format_minor
    from torchlint.catalogue.wording import DEVICE_NAMES

    yield f"With the determinism mode on, torch {format_minor(minor)}:"
    width = max(len(operator.id) for operator in found)
    for operator in found:
        rows = [row for row in operator.row if minor in row.range and not row.before]
        behaviour = ", ".join(f"{DEVICE_NAMES[row.device]} {_BRIEF[row.under_mode]}" for row in rows)
        code = operator.rule if operator.rule in catalogue.rules else "-"
        yield f"{code:<5}  {operator.id:<{width}}  {operator.direction:<8}  {behaviour or 'nothing known'}"


def _page(operator: Operator, minor: Minor | None, catalogue: Catalogue) -> Iterator[str]:
    from torchlint.catalogue.wording import spelled, steadied_by, what_to_do

    rule = catalogue.rules.get(operator.rule)
    yield operator.id
    yield f"{operator.title} ({operator.library})"
    yield ""
    reported = f"reported by {rule.code} {rule.name}" if rule else "explained here, never reported by itself"
    yield f"varies in its {operator.direction} pass, {operator.confidence} confidence, {reported}".replace(
        "both pass", "forward and backward passes"
    )
    yield from section("When", operator.condition.text)
    yield from section("Written", "\n".join(dict.fromkeys(map(spelled, operator.spelling))), verbatim=True)
    yield from section("With the determinism mode on", "\n".join(_rows(operator, minor)), verbatim=True)
    yield from section("What to do", what_to_do(operator))
    yield from section("Steady under", "\n".join(steadied_by(operator)), verbatim=True)
    yield from section("Where PyTorch's documentation differs", operator.doc_mismatch)
    yield from section("Notes", operator.notes)
    yield from section("Error messages that name it", "\n".join(operator.alerts), verbatim=True)
    yield from section("ATen", "\n".join(operator.aten), verbatim=True)
    yield from section("Sources", *operator.sources)


def _rows(operator: Operator, minor: Minor | None) -> Iterator[str]:
    from torchlint.catalogue.wording import DEVICE_NAMES, UNDER_MODE, releases_of

    cells = [
        (
            DEVICE_NAMES[row.device],
            f"torch {releases_of(row, operator)}",
            UNDER_MODE[row.under_mode],
            f"({row.confidence})",
        )
        for row in operator.row
        if minor is None or minor in row.range
    ]
    widths = [max((len(line[column]) for line in cells), default=0) for column in range(3)]
    for line in cells:
        yield "  ".join([*(cell.ljust(width) for cell, width in zip(line, widths, strict=False)), line[3]])
