"""TL602 unsynchronised-timing: a clock that is read before the GPU has finished what it shall time."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from torchlint.checks.devices.gpu_queue import Effect, effects, strongest
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.facts.control.blocks import enclosing
from torchlint.facts.control.order import between
from torchlint.facts.file import FileFacts
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import BindingKind, CallSite
from torchlint.facts.tree import last_word

_CODE = "TL602"
_CLOCKS = frozenset(f"time.{name}{unit}" for name in ("time", "perf_counter", "monotonic") for unit in ("", "_ns")) | {
    "timeit.default_timer"
}
_WORDS = frozenset(clock.partition(".")[2] for clock in _CLOCKS)
_BLOCKING = "CUDA_LAUNCH_BLOCKING"


@check(codes=(_CODE,), triggers=Triggers(calls=_CLOCKS))
def find(visit: Visit) -> Iterator[Finding]:
    """The second reading of a clock, where nothing waits for the work since the first."""
    facts, site = visit.facts, visit.site
    if not facts.imports_torch or not _is_clock(facts, visit.call, visit.scope) or facts.cached(_blocks):
        return
    timed = [(start, work) for start in _starts(facts, site) if (work := _work_between(facts, start, site))]
    for first, work in timed[-1:]:
        related = ((first, "the clock is read first here"), (work, "this is handed to the GPU"))
        yield Finding(_CODE, visit.node, {"clock": ast.unparse(visit.call)}, related=related, devices=("cuda",))


def _is_clock(facts: FileFacts, call: ast.expr | None, scope: int) -> bool:
    if not isinstance(call, ast.Call) or call.args:
        return False
    last = last_word(call.func)
    # A function may be imported under another name; only a plain name can be one.
    if last not in _WORDS and not isinstance(call.func, ast.Name):
        return False
    return facts.names(call.func, scope).only in _CLOCKS


def _blocks(facts: FileFacts) -> bool:
    """Whether the file's code has the variable that makes every launch wait: it holds for the whole process."""
    return any(_BLOCKING in line for line in facts.source.lines) and any(
        isinstance(node, ast.Constant) and node.value == _BLOCKING for node in ast.walk(facts.tree)
    )


def _starts(facts: FileFacts, site: CallSite) -> Iterator[ast.stmt]:
    """The statements that read the clock first, for each difference that is taken with this reading."""
    for difference, scope in _differences(facts, site):
        start = difference.right
        bound = reaching(facts, start.id, scope, difference) if isinstance(start, ast.Name) else []
        if len(bound) != 1 or bound[0].kind is not BindingKind.ASSIGN or bound[0].statement is None:
            continue
        if _is_clock(facts, bound[0].value, bound[0].scope):
            yield bound[0].statement


def _differences(facts: FileFacts, site: CallSite) -> Iterator[tuple[ast.BinOp, int]]:
    parent, _ = next(facts.index.ancestors(site.node))
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Sub) and parent.left is site.node:
        yield parent, site.scope
    target = site.statement.targets[0] if isinstance(site.statement, ast.Assign) else None
    if isinstance(target, ast.Name) and site.statement.value is site.node:  # type: ignore[attr-defined]
        for difference, scope in facts.cached(_all_differences).get(target.id, ()):
            bound = reaching(facts, target.id, scope, difference)
            if len(bound) == 1 and bound[0].value is site.node:
                yield difference, scope


def _all_differences(facts: FileFacts) -> dict[str, list[tuple[ast.BinOp, int]]]:
    """`end - start`, by the name on the left."""
    found: dict[str, list[tuple[ast.BinOp, int]]] = {}
    for statement, scope in facts.symbols.scope_of.items():
        waiting: list[ast.AST] = [statement]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and isinstance(node.left, ast.Name):
                found.setdefault(node.left.id, []).append((node, scope))
            waiting += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]
    return found


def _work_between(facts: FileFacts, start: ast.stmt, site: CallSite) -> ast.stmt | None:
    """The first work of the region that may be queued still at the second reading; None where anything may wait."""
    # All of it runs once, in order.
    around = set(enclosing(facts, start))
    entered = (outer for outer in enclosing(facts, site.statement) if outer not in around)
    is_straight = all(
        isinstance(outer, (ast.With, ast.If))
        and strongest(effects(facts, outer)) <= (Effect.NOTHING if isinstance(outer, ast.With) else Effect.COPY)
        for outer in entered
    )
    region = between(facts, start, site.statement) if is_straight else None
    if region is None:
        return None
    queued: ast.stmt | None = None
    before = strongest(effects(facts, site.statement, before=site.node))
    last = (site.statement, Effect.UNKNOWN if before > Effect.WORK else before)
    for statement, effect in (*_effects_of(facts, region), last):
        if effect is Effect.UNKNOWN or (effect is Effect.WAIT and queued is not None):
            return None
        if effect is Effect.COPY:
            queued = None
        if effect is Effect.WORK and queued is None:
            queued = statement
    return queued


def _effects_of(facts: FileFacts, statements: Sequence[ast.stmt]) -> Iterator[tuple[ast.stmt, Effect]]:
    for statement in statements:
        own = list(effects(facts, statement))
        if isinstance(statement, ast.With):
            yield statement, Effect.UNKNOWN if strongest(own) is not Effect.NOTHING else Effect.NOTHING
            yield from _effects_of(facts, statement.body)
        elif isinstance(statement, ast.For):
            yield statement, _of_loop(facts, statement)
        elif isinstance(statement, ast.If):
            inner = [effect for _, effect in _effects_of(facts, [*statement.body, *statement.orelse])]
            yield statement, strongest([*own, *inner])
        elif isinstance(statement, _PLAIN):
            # In one statement, what waits reads what the work gives.
            is_both = Effect.WORK in own and Effect.WAIT in own
            yield statement, Effect.UNKNOWN if is_both else strongest(own)
            if Effect.COPY in own and Effect.WORK in own and not is_both:
                yield statement, Effect.WORK
        else:
            yield statement, Effect.UNKNOWN


_PLAIN = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Pass, ast.Delete)


def _of_loop(facts: FileFacts, loop: ast.For) -> Effect:
    """A loop that counts and only adds work adds work; any other waits in each round, or may."""
    counts = isinstance(loop.iter, ast.Call) and facts.names(loop.iter.func, facts.symbols.scope_of[loop]).only
    inner = [effect for _, effect in _effects_of(facts, loop.body)]
    if counts != "builtins.range" or loop.orelse or strongest([*inner, *effects(facts, loop)]) > Effect.WORK:
        return Effect.UNKNOWN
    return strongest(inner)
