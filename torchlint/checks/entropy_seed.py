"""TL302 entropy-seed: a seed that no run can repeat."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.checks.drafts import Draft
from torchlint.checks.registration import Finding, Vocabulary, check
from torchlint.checks.visit import Visit
from torchlint.facts.context import tests_around
from torchlint.facts.entries import is_test
from torchlint.facts.scopes import BindingKind
from torchlint.facts.tensors.annotations import Kind
from torchlint.facts.tensors.kinds import kind_of
from torchlint.project.index import Project

_CODE = "TL302"

SETTERS = frozenset(
    {
        "torch.manual_seed",
        "torch.random.manual_seed",
        "torch.cuda.manual_seed",
        "torch.cuda.manual_seed_all",
        "torch.mps.manual_seed",
        "torch.xpu.manual_seed",
        "torch.xpu.manual_seed_all",
        "numpy.random.seed",
        "random.seed",
        "tensorflow.random.set_seed",
        "lightning.pytorch.seed_everything",
        "lightning.fabric.seed_everything",
        "transformers.set_seed",
        "accelerate.utils.set_seed",
        "torch.Generator().manual_seed",
    }
)
_WITHOUT_ARGUMENT = frozenset(
    {"torch.seed", "torch.random.seed", "torch.cuda.seed", "torch.cuda.seed_all", "torch.Generator().seed"}
)
_UNSET = frozenset({"numpy.random.seed", "random.seed"})
"""Setters that take entropy from the system when they get no seed, or None."""

_SOURCES = frozenset(
    {
        "time.time",
        "time.time_ns",
        "time.perf_counter",
        "time.perf_counter_ns",
        "time.monotonic",
        "time.monotonic_ns",
        "datetime.datetime.now",
        "datetime.datetime.now().timestamp",
        "datetime.datetime.utcnow",
        "datetime.datetime.today",
        "os.getpid",
        "os.urandom",
        "uuid.uuid1",
        "uuid.uuid4",
        "secrets.randbelow",
        "secrets.randbits",
        "secrets.token_bytes",
        "secrets.SystemRandom",
        "random.SystemRandom",
        "torch.seed",
    }
)
_HASH = "builtins.hash"


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Tests that draw another case every time are meant to."""
    del project
    return None if is_test(draft.path) else draft


@check(
    cst.Call,
    codes=(_CODE,),
    vocabulary=Vocabulary(calls=SETTERS | _WITHOUT_ARGUMENT),
    judge=_judge,
)
def find(visit: Visit, node: cst.CSTNode) -> Iterator[Finding]:
    """A seeding call whose seed comes from the clock, the process, the system's entropy or a salted hash."""
    setter, call = visit.callee(), visit.call
    if setter not in SETTERS | _WITHOUT_ARGUMENT or _is_fallback(visit):
        return
    if setter in _WITHOUT_ARGUMENT:
        # `seed = torch.seed()` keeps the seed it drew, so that a run can be told to repeat it.
        if not call.args and isinstance(visit.site.statement, ast.Expr) and visit.site.statement.value is call:
            yield Finding(_CODE, node, {"setter": setter}, "unset")
    else:
        yield from _seeded(visit, node, setter, call)


def _seeded(visit: Visit, node: cst.CSTNode, setter: str, call: ast.Call) -> Iterator[Finding]:
    seed = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg in ("seed", "a")), None)
    if seed is None or (isinstance(seed, ast.Constant) and seed.value is None):
        if setter in _UNSET and (seed is not None or not call.keywords):
            yield Finding(_CODE, node, {"setter": setter}, "unset")
        return
    source = _source(visit, seed, visit.scope)
    if source is not None:
        yield Finding(_CODE, node, {"setter": setter, "source": source})


def _is_fallback(visit: Visit) -> bool:
    """Under an `if` that asks for the seed: `if args.seed is None:`."""
    tests = [ast.unparse(test).lower() for test in tests_around(visit.facts, visit.site.statement)]
    return any(word in test for test in tests for word in ("seed", "determin", "random"))


def _source(visit: Visit, seed: ast.expr, scope: int, depth: int = 6) -> str | None:
    """The entropy in a seed expression, looked for through arithmetic, `int()` and names; None for a choice."""
    if depth == 0:
        return None
    for inner in _calls_in(seed):
        name = visit.facts.names(inner.func, scope).only
        if name in _SOURCES:
            return f"{name}()"
        if name == _HASH and inner.args and _is_salted(visit, inner.args[0], scope):
            return f"hash({ast.unparse(inner.args[0])})"
    for inner_name in _names_in(seed):
        source = _bound_source(visit, inner_name, scope, depth)
        if source is not None:
            return source
    return None


def _calls_in(seed: ast.expr) -> Iterator[ast.Call]:
    """Calls that decide the seed; those in a fallback (`seed or time.time()`, `x if x else time.time()`) do not."""
    if isinstance(seed, ast.BoolOp | ast.IfExp | ast.Lambda):
        return
    if isinstance(seed, ast.Call):
        yield seed
    for child in ast.iter_child_nodes(seed):
        if isinstance(child, ast.expr):
            yield from _calls_in(child)


def _names_in(seed: ast.expr) -> Iterator[str]:
    if isinstance(seed, ast.Name):
        yield seed.id
    elif isinstance(seed, ast.BinOp):
        yield from _names_in(seed.left)
        yield from _names_in(seed.right)
    elif isinstance(seed, ast.Call) and isinstance(seed.func, ast.Name) and seed.func.id in ("int", "abs", "round"):
        for argument in seed.args:
            yield from _names_in(argument)


def _bound_source(visit: Visit, name: str, scope: int, depth: int) -> str | None:
    """The entropy in a name's value, when that is its only value."""
    owner = visit.facts.resolver.owner(name, scope)
    bindings = owner.bindings[name] if owner else []
    if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN or bindings[0].value is None:
        return None
    return _source(visit, bindings[0].value, bindings[0].scope, depth - 1)


def _is_salted(visit: Visit, argument: ast.expr, scope: int) -> bool:
    return kind_of(visit.facts, argument, scope) is Kind.TEXT
