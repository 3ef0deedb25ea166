"""Orders and hashes that change with the hash seed: of sets of text or of objects, and of text; what these decide."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import msgspec

from torchlint.catalogue.load import load_generators
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.tracker import Analysis, Flow, Sink, follow
from torchlint.facts.flow.values import Move, Value
from torchlint.facts.order.analysis import OrderAnalysis, started
from torchlint.facts.order.texts import holds_text, is_text
from torchlint.facts.scopes import CallSite, Site

_HASH = "builtins.hash"
SET_MAKERS = frozenset({"builtins.set", "builtins.frozenset"})
_PATHS = frozenset({"os.path.join", "pathlib.Path", "builtins.open"})
_NUMBERS = frozenset({"builtins.abs", "builtins.int", "builtins.str", "builtins.hex"})
"""What gives the hash in another form."""
_LOOSE = (ast.BinOp, ast.Call, ast.keyword, ast.UnaryOp, ast.JoinedStr, ast.FormattedValue)
"""What a hash may stand in and still be the value that decides."""
_BUCKET, _SEED, _FILE = "a bucket or a split", "a seed", "a file name"


def is_salted_hash(facts: FileFacts, site: CallSite) -> bool:
    """Whether a call is `hash` of what may be text, and does not say what an object is equal to."""
    hashed = hashed_by(facts, site)
    return hashed is not None and _may_be_text(facts, hashed, site.scope)


def hashed_by(facts: FileFacts, site: CallSite) -> ast.expr | None:
    """What a call of `hash` is given; None for another call, and where it says what an object is equal to."""
    call = site.node
    if len(call.args) != 1 or facts.names(call.func, site.scope).only != _HASH:
        return None
    return None if facts.function_name(site.scope) in ("__hash__", "__eq__") else call.args[0]


def _may_be_text(facts: FileFacts, argument: ast.expr, scope: int) -> bool:
    if isinstance(argument, ast.Tuple):
        return any(_may_be_text(facts, element, scope) for element in argument.elts)
    return is_text(facts, argument, scope)


class SetOrder(msgspec.Struct, frozen=True):
    """A set whose order decides something, or leaves the file."""

    site: Site
    flow: Flow


def set_orders(facts: FileFacts) -> dict[ast.AST, SetOrder]:
    """The sets of text, or of objects, whose order decides something or leaves the file, by what makes them."""
    found: dict[ast.AST, SetOrder] = {}
    for site in sets_of_text(facts):
        flow = follow(OrderAnalysis(facts, into_datasets=False), started(facts, site.node))  # type: ignore[arg-type]
        if flow.sink is not None or flow.exits:
            found[site.node] = SetOrder(site, flow)
    return found


def sets_of_text(facts: FileFacts) -> Iterator[Site]:
    """What makes sets whose order changes with the hash seed."""
    for site in _set_sites(facts):
        if isinstance(site.node, ast.expr) and _is_affected(facts, site.node, site):
            yield site


def sets_that_may_hold_text(facts: FileFacts) -> Iterator[Site]:
    """What makes sets, but for those that hold numbers as far as the code tells."""
    for site in _set_sites(facts):
        is_of_numbers = isinstance(site.node, ast.Set) and not holds_text(facts, site.node, site.scope)
        is_of_entries = isinstance(site.node, ast.Call) and bool(site.node.args)
        if not is_of_numbers and (is_of_entries or site.node in {one.node for one in sets_of_text(facts)}):
            yield site


def _set_sites(facts: FileFacts) -> Iterator[Site]:
    """All that makes sets: calls, comprehensions, and displays that get a name."""
    for site in facts.calls.find(names=SET_MAKERS):
        if facts.names(site.node.func, site.scope).only in SET_MAKERS:
            yield Site(site.node, site.scope, site.statement)
    for scope in facts.symbols.scopes:
        if isinstance(scope.node, ast.SetComp):
            yield Site(scope.node, scope.parent or 0, facts.index.statement_of(scope.node))
        for bindings in scope.bindings.values():
            for one in bindings:
                if isinstance(one.value, ast.Set) and one.statement is not None:
                    yield Site(one.value, one.scope, one.statement)


def _is_affected(facts: FileFacts, made: ast.expr, site: Site) -> bool:
    """Whether the order of a set changes with the hash seed."""
    if not isinstance(made, ast.Call):
        return holds_text(facts, made, site.scope)
    if made.args:
        return len(made.args) == 1 and not made.keywords and holds_text(facts, made.args[0], site.scope)
    targets = site.statement.targets if isinstance(site.statement, ast.Assign) else []
    return len(targets) == 1 and site.statement.value is made and holds_text(facts, targets[0], site.scope)  # type: ignore[attr-defined]


class HashAnalysis(Analysis):
    """Where a hash decides something that must not change between runs."""

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        above = self.facts.index.parents.get(value.node)
        if _is_given_to_setter(self.facts, value.node):
            return []  # one cause, one finding: TL302 says it
        use = _use(self.facts, value.node)
        if use is not None:
            return [Sink(use, value.node)]
        called = above.func if isinstance(above, ast.Call) else None
        is_number = called is not None and self.facts.names(called, self.facts.index.scope_of(called)).only in _NUMBERS
        is_kept = is_number or isinstance(above, ast.BinOp | ast.UnaryOp | ast.JoinedStr | ast.FormattedValue)
        return [value.at(above)] if is_kept else self.passes(value)  # type: ignore[arg-type]


def _use(facts: FileFacts, node: ast.expr) -> str | None:
    """What a hash decides, seen in the expression around it: the outermost use that says it."""
    found = None
    for ancestor, below in facts.index.ancestors(node):
        if isinstance(ancestor, ast.BinOp) and isinstance(ancestor.op, ast.Mod) and ancestor.left is below:
            found = _BUCKET
        elif isinstance(ancestor, ast.Call):
            function = facts.names(ancestor.func, facts.index.scope_of(ancestor)).only
            found = _SEED if function in load_generators().makers else _FILE if function in _PATHS else found
        elif isinstance(ancestor, ast.Assign):
            names = [target.id for target in ancestor.targets if isinstance(target, ast.Name)]
            return _SEED if any("seed" in name.lower() for name in names) else found
        if not isinstance(ancestor, _LOOSE):
            return found
    return found


def _is_given_to_setter(facts: FileFacts, node: ast.expr) -> bool:
    """Whether a hash seeds a generator of a library."""
    calls = (one for one, _ in facts.index.ancestors(node) if isinstance(one, ast.Call))
    setters = load_generators().setters
    return any(facts.names(one.func, facts.index.scope_of(one)).names & setters for one in calls)
