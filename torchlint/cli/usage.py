"""What click says of wrong usage, in one line and in the words of all other errors."""

from __future__ import annotations

import re

import click

from torchlint.errors import nearest

_QUOTED = re.compile(r"'([^'`]*)'")


def usage_line(error: click.ClickException) -> str:
    """The message: no capital letter, no full stop, code in backquotes, and where to look where nothing is near."""
    context = getattr(error, "ctx", None)
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        return f"{_parameter(error)}{_plain(error.message)}"
    if isinstance(error, click.NoSuchOption):
        said, is_lost = f"no such option `{error.option_name}`{_meant(error)}", True
    else:
        said, is_lost = _plain(error.format_message()), "--" not in error.message
    if "did you mean" in said or not is_lost or context is None:
        return said
    return f"{said} (`{context.command_path} --help` shows what there is)"


def _parameter(error: click.BadParameter) -> str:
    hint = error.param_hint or (error.param.get_error_hint(error.ctx) if error.param and error.ctx else "")
    shown = hint if isinstance(hint, str) else " / ".join(hint)
    return f"{shown.replace(chr(39), '')}: " if shown else ""


def _meant(error: click.NoSuchOption) -> str:
    """The nearest option; of one that `check` has, given before any command, that the command was forgotten."""
    command = error.ctx.command if error.ctx else None
    check = command.get_command(error.ctx, "check") if error.ctx and isinstance(command, click.Group) else None
    if check is not None and any(error.option_name in parameter.opts for parameter in check.params):
        return f"; did you mean `torchlint check {error.option_name}`?"
    return nearest(error.option_name, error.possibilities or ())


def _plain(message: str) -> str:
    text = _QUOTED.sub(r"`\1`", " ".join(message.split())).rstrip(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
