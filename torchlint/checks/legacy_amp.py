"""TL604 legacy-amp: mixed-precision interfaces that are deprecated."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.checks.registration import Finding, Vocabulary, check
from torchlint.checks.spelling import spelling_of
from torchlint.checks.visit import Visit
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import CallSite
from torchlint.facts.training.legacy_amp import (
    APEX,
    APEX_CALLS,
    OF_TORCH,
    legacy_call,
    legacy_imports,
)

_CODE = "TL604"
_SINCE = ">=2.4"


def _is_legacy(facts: FileFacts, site: CallSite, selected: frozenset[str]) -> bool:
    return _CODE in selected and legacy_call(facts, site) is not None


def _imports(facts: FileFacts, selected: frozenset[str]) -> Iterator[ast.stmt]:
    if _CODE in selected:
        yield from facts.once(legacy_imports)


@check(
    cst.Call,
    cst.Import,
    cst.ImportFrom,
    codes=(_CODE,),
    vocabulary=Vocabulary(calls=frozenset(OF_TORCH) | APEX_CALLS, worth=_is_legacy, reads=_imports),
)
def find(visit: Visit) -> Iterator[Finding]:
    """The import of a deprecated name, or the call that spells it out."""
    if isinstance(visit.node, ast.Call):
        name = legacy_call(visit.facts, visit.site)
        names = [] if name is None else [name]
    else:
        names = visit.facts.once(legacy_imports).get(visit.statement, [])
    if not names:
        return
    values = {"spelling": spelling_of(visit)}
    if names[0].startswith(APEX):
        yield Finding(_CODE, visit.node, values, "apex")
    else:
        device = names[0].split(".")[1]
        new = " and ".join(dict.fromkeys(f"`{OF_TORCH[name]}`" for name in names))
        yield Finding(_CODE, visit.node, {**values, "new": f'{new} with "{device}"'}, torch=_SINCE)
