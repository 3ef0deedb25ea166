"""TL403 salted-hash: `hash()` of text decides a seed, a split, a bucket or a file name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.catalogue.load import load_generators
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import shortened
from torchlint.checks.framework.visit import Visit
from torchlint.facts.order.salted import is_salted_hash

_CODE = "TL403"
_HASH = "builtins.hash"
_GENERATORS = frozenset({"numpy.random.default_rng", "numpy.random.RandomState", "random.Random"})
_PATHS = frozenset({"os.path.join", "pathlib.Path", "builtins.open"})
_LOOSE = (ast.BinOp, ast.Call, ast.keyword, ast.UnaryOp, ast.JoinedStr, ast.FormattedValue)
"""What a hash may stand in and still be the value that decides."""


@check(codes=(_CODE,), triggers=Triggers(calls=frozenset({_HASH})))
def find(visit: Visit) -> Iterator[Finding]:
    """A hash of text whose value is seen to decide something that must not change between runs."""
    if not is_salted_hash(visit.facts, visit.site):
        return
    use = _use(visit, visit.call)
    if use is not None:
        yield Finding(_CODE, visit.node, {"argument": shortened(ast.unparse(visit.call.args[0])), "use": use})


def _use(visit: Visit, call: ast.Call) -> str | None:
    """What the hash decides, seen in the expression around it: the outermost use that says it."""
    found = None
    for ancestor, below in visit.facts.index.ancestors(call):
        if isinstance(ancestor, ast.BinOp) and isinstance(ancestor.op, ast.Mod) and ancestor.left is below:
            found = "a bucket or a split"
        elif isinstance(ancestor, ast.Call):
            function = visit.names(ancestor.func).only
            if function in load_generators().setters:
                return None  # one cause, one finding: TL302 says it
            found = "a seed" if function in _GENERATORS else "a file name" if function in _PATHS else found
        elif isinstance(ancestor, ast.Assign):
            return _use_of_targets(visit, ancestor, found)
        if not isinstance(ancestor, _LOOSE):
            return found
    return found


def _use_of_targets(visit: Visit, assign: ast.Assign, found: str | None) -> str | None:
    names = {target.id for target in assign.targets if isinstance(target, ast.Name)}
    if not any("seed" in name.lower() for name in names):
        return found
    for site in visit.facts.symbols.calls:
        if visit.facts.names(site.node.func, site.scope).names & load_generators().setters:
            used = {node.id for node in ast.walk(site.node) if isinstance(node, ast.Name)}
            if used & names:
                return None  # TL302 follows the name to the setter
    return "a seed"
