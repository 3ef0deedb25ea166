"""Which cure each finding is counted under in the closing line."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from torchlint.catalogue import Catalogue
from torchlint.diagnostics import Cure, Diagnostic

MODE = "mode"
"""The key of the cure "turn the determinism mode on"."""


def rule_cure(catalogue: Catalogue, code: str, path: str) -> Cure | None:
    """The cure in the words of the rule itself; one that changes a program changes that of the finding's file."""
    words = catalogue.rules[code].cure
    if words is None:
        return None
    return Cure(words.act or code, words.one, words.many, programs=(path,) if words.act else ())


def choose_cures(diagnostics: Iterable[Diagnostic], catalogue: Catalogue) -> list[Diagnostic]:
    """Speak of turning the mode on only where that cures something; else each finding has its rule's own cure.

    A finding that the mode would only turn into an exception carries the mode's cure with `raises`; so it does beside
    a finding about an operator that the mode ends.
    """
    found = list(diagnostics)
    about_operators = [d for d in found if d.operators and d.cure is not None and d.cure.key == MODE]
    if any(d.cure is not None and not d.cure.raises for d in about_operators):
        return found
    own = {id(d): rule_cure(catalogue, d.code, d.location.path) for d in about_operators}
    return [dataclasses.replace(d, cure=own[id(d)]) if id(d) in own else d for d in found]
