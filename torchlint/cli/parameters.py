"""Option types that several commands share."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

import click

from torchlint.errors import nearest

if TYPE_CHECKING:
    from torchlint.engine.cache.results import ResultCache

    _Word = click.Choice[str]
    _Bytes = click.ParamType[int]
    _Pair = click.ParamType[tuple[str, Path]]
else:  # before click 8.4 these types take no parameters at run time
    _Word = click.Choice
    _Bytes = _Pair = click.ParamType

_SEPARATOR = "--"
_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


class Decorator(Protocol):
    """What `click.option` returns."""

    def __call__(self, function: Any, /) -> Any: ...  # noqa: ANN401 - click's own signature


def list_option(name: str, *, metavar: str, text: str) -> Decorator:
    """Make an option that is given several times, or once with commas; None when it is not given at all."""
    return click.option(name, multiple=True, metavar=metavar, help=text, callback=_split)


def _split(_context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> tuple[str, ...] | None:
    if not values:
        return None
    words = tuple(word.strip() for value in values for word in value.split(",") if word.strip())
    if not words:
        raise click.BadParameter("names nothing", param=parameter)
    return words


def cache_option(command: Any) -> Any:  # noqa: ANN401 - as click's own decorators
    """`--cache-dir`, and the variable that stands for it."""
    option = click.option(
        "--cache-dir",
        type=click.Path(file_okay=False, path_type=Path),
        envvar="TORCHLINT_CACHE_DIR",
        metavar="DIR",
        help="Where results of checks are kept  [default: .torchlint_cache at each root, or TORCHLINT_CACHE_DIR]",
    )
    return option(command)


def no_cache_option(command: Any) -> Any:  # noqa: ANN401 - likewise
    """`--no-cache`."""
    text = "Use and keep no results of other runs, and no verdicts of `torchlint verify`."
    return click.option("--no-cache", is_flag=True, help=text)(command)


def cache_of(options: Mapping[str, Any]) -> ResultCache | None:
    """What these two options ask for."""
    from torchlint.engine.cache.results import ResultCache

    return None if options["no_cache"] else ResultCache(is_on_disk=True, directory=options["cache_dir"])


def wants_colour(stream: IO[str] | None = None) -> bool:
    """Colour goes to terminals; NO_COLOR forbids it and FORCE_COLOR asks for it anywhere."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return (stream or sys.stdout).isatty() and os.environ.get("TERM") != "dumb"


def format_by_suffix(output: Path | None, formats: Mapping[str, str], default: str) -> str:
    """The format that a file's name asks for. A name that stands for none is refused: the file would hold another."""
    if output is None:
        return default
    suffix = output.suffix.lower()
    if suffix not in formats:
        known = ", ".join(filter(None, sorted(formats)))
        raise click.UsageError(
            f"--output: no report is known for {suffix} files ({known}): name the format with --output-format"
        )
    return formats[suffix]


def is_there(path: Path) -> bool:
    """Whether a path that the user named leads to something."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


class Choice(_Word):
    """One of a few words; `hint` says what another one may have meant."""

    def __init__(self, choices: Sequence[str], hint: Callable[[str, Sequence[str]], str] = nearest) -> None:
        super().__init__(choices)
        self._hint = hint

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ANN401
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            hint = self._hint(str(value), self.choices)
            said = f"unknown value `{value}`{hint} (choose from {', '.join(self.choices)})"
            raise click.BadParameter(said, ctx, param) from None


class FormatAndFile(_Pair):
    """`sarif:out.sarif`."""

    name = "format:file"

    def convert(
        self,
        value: Any,  # noqa: ANN401
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[str, Path]:
        if isinstance(value, tuple):
            return value
        name, _, file = str(value).partition(":")
        if not file:
            self.fail(f"`{value}` is not FORMAT:FILE, such as sarif:out.sarif", param, ctx)
        from torchlint.report.formats import format_names

        return Choice(format_names()).convert(name, param, ctx), Path(file)


class OptionalValues(click.Command):
    """A command whose options named here may be given alone: a value only follows `=`, so that a path is never one."""

    may_stand_alone: tuple[str, ...] = ()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = args[: args.index("--")] if "--" in args else args
        rest = args[len(own) :]
        return super().parse_args(ctx, [f"{arg}=" if arg in self.may_stand_alone else arg for arg in own] + rest)


class WithCommand(click.Command):
    """Takes all that stands after the first `--` for a command of the user's own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        command: list[str] = []
        if _SEPARATOR in args:
            place = args.index(_SEPARATOR)
            args, command = args[:place], args[place + 1 :]
            if not command:
                raise click.UsageError("after -- stands the command to run, such as python train.py", ctx)
        rest = super().parse_args(ctx, args)
        ctx.params["command"] = tuple(command)
        return rest

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND...]"]


class Size(_Bytes):
    """Bytes, as `4G` or `512M`."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ANN401
        if isinstance(value, int):
            return value
        found = _SIZE.fullmatch(str(value).strip())
        size = int(float(found["number"]) * (1 << _UNITS[found["unit"].upper()])) if found else 0
        if not size:
            self.fail(f"`{value}` is no size such as 4G or 512M", param, ctx)
        return size
