"""The typed form of `rules/registry/words.toml`: words of names, by meaning."""

from __future__ import annotations

import re

import msgspec


class WordFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Regular expressions for names in lower case."""

    measurement: str
    demonstration: str
    presentation: str
    trial: str
    translation: str
    evaluation: str
    text: str
    data_work: str
    raw_data: str
    predicted: str
    beside_training: str
    targets: str
    optimizer: str
    optimizer_holder: str
    rate: str
    gradient: str
    searched: str
    setting_up: str
    chance: str
    training: str
    workers: str
    writing: str
    class_names: str
    place: str

    def __post_init__(self) -> None:
        for meaning in self.__struct_fields__:
            try:
                re.compile(getattr(self, meaning))
            except re.error as error:
                raise ValueError(f"`{meaning}`: {error}") from error
