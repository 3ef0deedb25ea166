"""What a program asks of its command line, answered as by a start without arguments."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest import mock


@contextmanager
def as_script(path: str) -> Iterator[None]:
    """`sys.argv` is the file alone; argument parsers answer with their defaults, and None for what is required."""
    with (
        mock.patch.object(sys, "argv", [path]),
        mock.patch.object(argparse.ArgumentParser, "parse_args", _parse_args),
        mock.patch.object(argparse.ArgumentParser, "parse_known_args", _parse_known_args),
    ):
        yield


def _parse_args(
    parser: argparse.ArgumentParser,
    args: Sequence[str] | None = None,  # noqa: ARG001 - the signature of argparse
    namespace: argparse.Namespace | None = None,
) -> argparse.Namespace:
    found = namespace or argparse.Namespace()
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way to list them
        if argparse.SUPPRESS in (action.dest, action.default) or hasattr(found, action.dest):
            continue
        setattr(found, action.dest, _default(parser, action))
    for name, value in parser._defaults.items():  # noqa: SLF001 - set_defaults
        setattr(found, name, value)
    return found


def _default(parser: argparse.ArgumentParser, action: argparse.Action) -> object:
    """A default that is text is converted like the argument itself."""
    if isinstance(action.default, str):
        try:
            return parser._get_value(action, action.default)  # noqa: SLF001 - as argparse does
        except argparse.ArgumentError:
            return action.default
    return action.default


def _parse_known_args(
    parser: argparse.ArgumentParser,
    args: Sequence[str] | None = None,
    namespace: argparse.Namespace | None = None,
) -> tuple[argparse.Namespace, list[str]]:
    return _parse_args(parser, args, namespace), []
