"""What names say about code, by the words of `rules/registry/words.toml`: evidence where nothing better is written."""

from __future__ import annotations

import functools
import re

from torchlint.catalogue.load import load_words


@functools.lru_cache(maxsize=8192)  # the same names stand everywhere
def says(name: str, *meanings: str) -> bool:
    """Whether a path or an identifier speaks of one of these meanings."""
    return any(_pattern(meaning).search(name.lower()) for meaning in meanings)


@functools.cache
def _pattern(meaning: str) -> re.Pattern[str]:
    return re.compile(getattr(load_words(), meaning))
