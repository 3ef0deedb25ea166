"""`torchlint config`: what may stand in a configuration file."""

from __future__ import annotations

import json

import click


@click.group(no_args_is_help=True)
def config() -> None:
    """Help with configuration files. `torchlint check --show-settings` prints what they say."""


@config.command()
def schema() -> None:
    """Print the JSON Schema of [tool.torchlint], with which editors complete and check it."""
    from torchlint.catalogue import load_catalogue
    from torchlint.config.schema import schema as schema_of
    from torchlint.config.selection import selectors

    click.echo(json.dumps(schema_of(selectors(load_catalogue())), indent=2, ensure_ascii=False))
