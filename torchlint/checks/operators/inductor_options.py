"""TL117 for inductor: options that let `torch.compile` pick kernels by timing, however they are set."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.drafts import OperatorUse
from torchlint.checks.framework.environment_writes import SETTERS, writes
from torchlint.checks.framework.operator_verdict import judge_operators
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.facts.definitions import only_value
from torchlint.facts.flow.values import Through
from torchlint.facts.tree import targets_of
from torchlint.facts.values import argument_of

_CODE = "TL117"
_OPERATOR = "inductor_compile"
_CONFIG = "torch._inductor.config"
_TUNING = (
    "max_autotune",
    "max_autotune_gemm",
    "max_autotune_pointwise",
    "coordinate_descent_tuning",
    "triton.multi_kernel",
)
"""Options by which kernels that round differently are timed; inductor's `deterministic` silences them all."""
_VARIABLES = (
    "TORCHINDUCTOR_MAX_AUTOTUNE",
    "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM",
    "TORCHINDUCTOR_MAX_AUTOTUNE_POINTWISE",
    "TORCHINDUCTOR_COORDINATE_DESCENT_TUNING",
    "TORCHINDUCTOR_MULTI_KERNEL",
)


@check(
    codes=(_CODE,),
    triggers=Triggers(
        calls=frozenset({"torch.compile", "os.environ.update", *SETTERS}),
        assigned=frozenset(f"{_CONFIG}.{name}" for name in _TUNING),
        keys=frozenset(_VARIABLES),
    ),
    judge=judge_operators,
)
def find(visit: Visit) -> Iterator[Finding]:
    """The call or statement that turns the tuning on."""
    if _tunes(visit):
        values = {"spelling": spelling_of(visit), "name": "torch.compile", "unread": ""}
        yield Finding(_CODE, visit.node, values, operators=(OperatorUse(_OPERATOR, "yes"),))


def _tunes(visit: Visit) -> bool:
    if any(write.value == "1" for name in _VARIABLES for write in writes(visit, name)):
        return True
    if not isinstance(visit.node, ast.Call):
        return _assigns(visit)
    if visit.callee() != "torch.compile":
        return False
    on = {name for name, value in _entries(visit, argument_of(visit.call, "options", None)) if _is_on(visit, value)}
    return bool(on.intersection(_TUNING)) and "deterministic" not in on


def _assigns(visit: Visit) -> bool:
    assigned = isinstance(visit.node, ast.Assign | ast.AnnAssign) and visit.assignment.value
    names = {f"{_CONFIG}.{name}" for name in _TUNING}
    is_named = any(names & visit.names(target).names for target in targets_of(visit.statement))
    return bool(assigned) and is_named and _is_on(visit, assigned)  # type: ignore[arg-type]


def _entries(visit: Visit, options: ast.expr | None) -> Iterator[tuple[str, ast.expr]]:
    """The keys and values of a dictionary that is written out, here or under a name."""
    known, _ = only_value(visit.facts, options, visit.scope, Through.NOTHING)
    if isinstance(known, ast.Dict):
        for key, value in zip(known.keys, known.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value
    elif isinstance(known, ast.Call) and visit.facts.names(known.func, visit.scope).only == "builtins.dict":
        yield from ((word.arg or "", word.value) for word in known.keywords)


def _is_on(visit: Visit, value: ast.expr) -> bool:
    return visit.value(value).constants in ((True,), (1,))
