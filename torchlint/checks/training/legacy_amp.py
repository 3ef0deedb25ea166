"""TL604 legacy-amp: mixed-precision interfaces that are deprecated."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.checks.training.deprecated_amp import (
    APEX,
    APEX_CALLS,
    OF_TORCH,
    legacy_call,
    legacy_imports,
)

_MODULES = frozenset({"torch.cuda.amp", "torch.cpu.amp", APEX})
_CODE = "TL604"
_SINCE = ">=2.4"


@check(
    codes=(_CODE,),
    triggers=Triggers(calls=frozenset(OF_TORCH) | APEX_CALLS, imports=_MODULES),
)
def find(visit: Visit) -> Iterator[Finding]:
    """The import of a deprecated name, or the call that spells it out."""
    if isinstance(visit.node, ast.Call):
        name = legacy_call(visit.facts, visit.site)
        names = [] if name is None else [name]
    else:
        names = visit.facts.cached(legacy_imports).get(visit.statement, [])
    if not names:
        return
    values = {"spelling": spelling_of(visit)}
    if names[0].startswith(APEX):
        yield Finding(_CODE, visit.node, values, "apex")
    else:
        device = names[0].split(".")[1]
        new = " and ".join(dict.fromkeys(f"`{OF_TORCH[name]}`" for name in names))
        yield Finding(_CODE, visit.node, {**values, "new": f'{new} with "{device}"'}, torch=_SINCE)
