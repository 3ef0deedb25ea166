"""`torchlint server`: its options."""

from __future__ import annotations

from typing import Any

import click

from torchlint.cli.parameters import cache_of, cache_option, no_cache_option
from torchlint.errors import ConfigError


@click.command()
@click.option("--stdio", is_flag=True, help="Talk over standard input and output: the only way, and the default.")
@cache_option
@no_cache_option
def server(**options: Any) -> int:  # noqa: ANN401 - click passes the options above by name
    """Serve editors: findings in text that is not saved yet, by the Language Server Protocol.

    An editor starts it. Needs pygls: pip install "pygls>=2".
    """
    try:
        import pygls  # noqa: F401 - whether it is there
    except ImportError as error:
        raise ConfigError(f'torchlint server needs pygls: pip install "pygls>=2" ({error})') from None
    from torchlint.engine.cache.results import ResultCache
    from torchlint.server.serving import serve

    cache = cache_of(options) or ResultCache()
    cache.stays = True
    return serve(cache)
