"""Which cure each finding is counted under in the closing line."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from torchlint.catalogue import Catalogue
from torchlint.diagnostics import Cure, Diagnostic

MODE = "mode"
"""The key of the cure "turn the determinism mode on"."""


def rule_cure(catalogue: Catalogue, code: str) -> Cure | None:
    """The cure in the words of the rule itself."""
    words = catalogue.rules[code].cure
    return None if words is None else Cure(code, words.one, words.many)


def choose_cures(diagnostics: Iterable[Diagnostic], catalogue: Catalogue) -> list[Diagnostic]:
    """Speak of turning the mode on only where that cures something; else each finding has its rule's own cure.

    A finding that the mode would only turn into an exception carries the mode's cure with `raises`.
    """
    found = list(diagnostics)
    if any(d.cure is not None and d.cure.key == MODE and not d.cure.raises for d in found):
        return found
    return [
        dataclasses.replace(d, cure=rule_cure(catalogue, d.code)) if d.cure is not None and d.cure.key == MODE else d
        for d in found
    ]
