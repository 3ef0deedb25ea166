"""Which fix each finding is counted under in the closing line."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from torchlint.catalogue import Catalogue
from torchlint.diagnostics import Diagnostic, Fix

MODE = "mode"
"""The key of the fix "turn the determinism mode on"."""


def rule_fix(catalogue: Catalogue, code: str, path: str) -> Fix | None:
    """The fix in the words of the rule itself; one that changes a program changes that of the finding's file."""
    words = catalogue.rules[code].fix
    if not words.one:
        return None
    return Fix(words.act or code, words.one, words.many, programs=(path,) if words.act else ())


def choose_fixes(diagnostics: Iterable[Diagnostic], catalogue: Catalogue) -> list[Diagnostic]:
    """Speak of turning the mode on only where that fixes something; else each finding has its rule's own fix.

    A finding that the mode would only turn into an exception carries the mode's fix with `raises`; so it does beside
    a finding about an operator that the mode ends.
    """
    found = list(diagnostics)
    about_operators = [d for d in found if d.operators and d.fix is not None and d.fix.key == MODE]
    if any(d.fix is not None and not d.fix.raises for d in about_operators):
        return found
    own = {id(d): rule_fix(catalogue, d.code, d.location.path) for d in about_operators}
    return [dataclasses.replace(d, fix=own[id(d)]) if id(d) in own else d for d in found]
