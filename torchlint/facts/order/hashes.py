"""What a hash decides that another hash seed changes: in the expression around it, or wherever its value goes."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_generators
from torchlint.facts.flow.tracker import Analysis, Sink
from torchlint.facts.flow.values import Move, Value

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_GENERATORS = frozenset({"numpy.random.default_rng", "numpy.random.RandomState", "random.Random"})
_PATHS = frozenset({"os.path.join", "pathlib.Path", "builtins.open"})
_NUMBERS = frozenset({"builtins.abs", "builtins.int", "builtins.str", "builtins.hex"})
"""What gives the hash in another form."""
_LOOSE = (ast.BinOp, ast.Call, ast.keyword, ast.UnaryOp, ast.JoinedStr, ast.FormattedValue)
"""What a hash may stand in and still be the value that decides."""
_BUCKET, _SEED, _FILE = "a bucket or a split", "a seed", "a file name"


class HashAnalysis(Analysis):
    """Where a hash decides something that must not change between runs."""

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        above = self.facts.index.parents.get(value.node)
        if _is_given_to_setter(self.facts, value.node):
            return []  # one cause, one finding: TL302 says it
        use = _use(self.facts, value.node)
        if use is not None:
            return [Sink(use, value.node)]
        is_number = isinstance(above, ast.Call) and self.facts.names(above.func, self._scope(above)).only in _NUMBERS
        is_kept = is_number or isinstance(above, ast.BinOp | ast.UnaryOp | ast.JoinedStr | ast.FormattedValue)
        return [value.at(above)] if is_kept else self.passes(value)  # type: ignore[arg-type]

    def _scope(self, node: ast.expr) -> int:
        return self.facts.index.scope_of(node)


def _use(facts: FileFacts, node: ast.expr) -> str | None:
    """What a hash decides, seen in the expression around it: the outermost use that says it."""
    found = None
    for ancestor, below in facts.index.ancestors(node):
        if isinstance(ancestor, ast.BinOp) and isinstance(ancestor.op, ast.Mod) and ancestor.left is below:
            found = _BUCKET
        elif isinstance(ancestor, ast.Call):
            function = facts.names(ancestor.func, facts.index.scope_of(ancestor)).only
            found = _SEED if function in _GENERATORS else _FILE if function in _PATHS else found
        elif isinstance(ancestor, ast.Assign):
            return _SEED if _names_seed(ancestor) else found
        if not isinstance(ancestor, _LOOSE):
            return found
    return found


def _is_given_to_setter(facts: FileFacts, node: ast.expr) -> bool:
    """Whether a hash seeds a generator of a library, at once or by a name that says so."""
    for ancestor, _ in facts.index.ancestors(node):
        if isinstance(ancestor, ast.Call) and _sets(facts, ancestor):
            return True
        if isinstance(ancestor, ast.Assign) and _names_seed(ancestor):
            names = {target.id for target in ancestor.targets if isinstance(target, ast.Name)}
            given = (site.node for site in facts.symbols.calls if _sets(facts, site.node))
            return any(isinstance(one, ast.Name) and one.id in names for call in given for one in ast.walk(call))
        if not isinstance(ancestor, _LOOSE):
            return False
    return False


def _sets(facts: FileFacts, call: ast.Call) -> bool:
    return bool(facts.names(call.func, facts.index.scope_of(call)).names & load_generators().setters)


def _names_seed(assign: ast.Assign) -> bool:
    return any(isinstance(target, ast.Name) and "seed" in target.id.lower() for target in assign.targets)
