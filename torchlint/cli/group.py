"""The root command. A subcommand's module is imported only when it is asked for."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from torchlint import __version__
from torchlint.cli import exits
from torchlint.errors import TorchlintError, nearest

COMPLETE_VARIABLE = "_TORCHLINT_COMPLETE"

_COMMANDS = {
    "audit": "torchlint.cli.audit",
    "baseline": "torchlint.cli.baseline",
    "check": "torchlint.cli.check",
    "clean": "torchlint.cli.clean",
    "completion": "torchlint.cli.completion",
    "config": "torchlint.cli.config",
    "diverge": "torchlint.cli.diverge",
    "init": "torchlint.cli.init",
    "operators": "torchlint.cli.operators",
    "record": "torchlint.cli.record",
    "rule": "torchlint.cli.catalogue",
    "rules": "torchlint.cli.catalogue",
    "server": "torchlint.cli.server",
    "verify": "torchlint.cli.verify",
}


class LazyGroup(click.Group):
    """A group that knows where its commands lie."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        command = getattr(import_module(_COMMANDS[cmd_name]), cmd_name)
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS:
            ctx.fail(f"no such command `{args[0]}`{_command_meant(args[0])}")
        return super().resolve_command(ctx, args)


def _command_meant(word: str) -> str:
    """Of a path or an option of `check` that the command itself was forgotten before it, else the nearest one."""
    is_path = word in ("-", ".", "..") or "/" in word or word.endswith((".py", ".pyw", ".ipynb")) or Path(word).exists()
    return f"; did you mean `torchlint check {word}`?" if is_path else nearest(word, _COMMANDS)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 clean, 1 findings, 2 wrong usage or configuration, a missing path or an internal error.",
)
@click.version_option(__version__, message="torchlint %(version)s")
def root() -> None:
    """Find the reasons why a PyTorch program does not give the same numbers twice."""


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code; every failure is one clear line on stderr."""
    _prepare_streams()
    try:
        code = _invoke(list(arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        _silence_stdout()
        return exits.PIPE_CLOSED
    except (KeyboardInterrupt, click.Abort):
        from torchlint.cli.printing import say

        say("interrupted")
        return exits.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last line of defence: never a traceback for the user
        return _say_failure(error)
    return code


def _say_failure(error: Exception) -> int:
    from torchlint.cli.printing import say_error

    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.ctx.get_help())
    elif isinstance(error, click.ClickException):
        from torchlint.cli.usage import usage_line

        say_error(usage_line(error))
    elif isinstance(error, TorchlintError):
        say_error(error)
    elif isinstance(error, OSError) and error.errno == errno.ENOSPC:
        say_error(error.strerror)
    elif os.environ.get("TORCHLINT_DEBUG"):
        raise error
    else:
        words = " ".join(str(error).split())
        say_error(f"internal: {type(error).__name__}: {words} (TORCHLINT_DEBUG=1 shows where)")
    return exits.TROUBLE


def _invoke(arguments: list[str]) -> int:
    instruction = os.environ.get(COMPLETE_VARIABLE)
    if instruction:
        from click.shell_completion import shell_complete

        return shell_complete(root, {}, "torchlint", COMPLETE_VARIABLE, instruction)
    with root.make_context("torchlint", arguments) as context:
        result: Any = root.invoke(context)
    return result if isinstance(result, int) else exits.CLEAN


def _prepare_streams() -> None:
    """A file name that the terminal's encoding lacks is printed escaped; a closed stream shows nothing."""
    nothing = Path(os.devnull)
    sys.stdout, sys.stderr = sys.stdout or nothing.open("w"), sys.stderr or nothing.open("w")
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _silence_stdout() -> None:
    """Python flushes stdout once more at exit; give it somewhere to flush to."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(devnull, sys.stdout.fileno())
    except (OSError, ValueError):
        pass
    finally:
        os.close(devnull)
