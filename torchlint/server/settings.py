"""What the user sets in the editor, beside the configuration files of the projects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from torchlint.api import CheckOptions
from torchlint.config import Overrides
from torchlint.errors import ConfigError

SECTION = "torchlint"
"""Where editors keep these settings."""


class ClientSettings(msgspec.Struct, frozen=True, rename="camel"):
    """The settings of one session; what an editor sends beside these, as for itself, is left alone."""

    select: tuple[str, ...] | None = None
    """Run these rules only: codes, prefixes or names."""
    ignore: tuple[str, ...] = ()
    torch: str | None = None
    """The torch that projects run on, such as `2.6`."""
    configuration: str | None = None
    """The configuration file that is used instead of the nearest; from the first folder that is open."""
    ignore_reason: str = "TODO: say why"
    """What an ignore comment says until its author does."""


def read_settings(told: object) -> ClientSettings:
    """The settings in what an editor sent. Raises ConfigError for a value of another type.

    >>> read_settings({"torchlint": {"torch": "2.6", "path": ["torchlint"]}}).torch
    '2.6'
    >>> read_settings(None).select is None
    True
    """
    own: Any = told
    for section in (SECTION, "settings"):
        own = own.get(section, own) if isinstance(own, Mapping) else own
    given = {key: value for key, value in own.items() if value is not None} if isinstance(own, Mapping) else {}
    try:
        return msgspec.convert(given, ClientSettings)
    except msgspec.ValidationError as error:
        raise ConfigError(f"the editor's settings: {error}") from None


def check_options(settings: ClientSettings, folders: Sequence[Path]) -> CheckOptions:
    """How open files are checked: as `torchlint check` would in the folders, but what is excluded is left alone."""
    config = None
    if settings.configuration:
        config = Path(folders[0] if folders else Path(), Path(settings.configuration).expanduser())
        if not config.is_file():
            raise ConfigError(f"the editor's settings: configuration: no such file: {config}")
    return CheckOptions(
        overrides=Overrides(select=settings.select, ignore=settings.ignore, torch=settings.torch, force_exclude=True),
        config=config,
        baseline=True,
        jobs=1,  # the process has threads, so it forks no others
        folders=tuple(folders),
    )
