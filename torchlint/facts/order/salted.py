"""Orders and hashes that change with the hash seed: of sets of text or of objects, and of text; what these decide.

Objects are hashed by their address, so that a set of them has another order each run as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import msgspec

from torchlint.catalogue.load import load_generators
from torchlint.catalogue.values import Kind
from torchlint.facts.definitions import definitions_of
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.tracker import Analysis, Flow, Sink, follow
from torchlint.facts.flow.values import EACH, Definition, End, Move, Parameter, Through, Value
from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import followed
from torchlint.facts.order.analysis import OrderAnalysis, started
from torchlint.facts.scopes import CallSite, Site
from torchlint.facts.tensors.annotations import agreed, kind_of_annotation
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tree import is_method_call, last_word, literal_text
from torchlint.facts.values import argument_of
from torchlint.facts.words import says

ADDRESSED = frozenset({"parameters", "modules", "children"})
"""Methods of a module that yield objects hashed by their address."""
_TEXTS = frozenset({"split", "rsplit", "splitlines", "partition", "rpartition", "readlines", "read_text"}) | ADDRESSED
"""Methods that give text, or such objects."""
_LISTINGS = frozenset(
    {
        *("csv.reader", "csv.DictReader", "os.listdir", "glob.glob", "glob.iglob", "builtins.open", "io.open"),
        *("re.findall", "re.split", "string.ascii_letters"),
    }
)
_OF_STRINGS = frozenset(
    {"strip", "lstrip", "rstrip", "lower", "upper", "title", "casefold", "capitalize", "removesuffix", "group"}
)
"""Methods that text, or a match in one, alone has, and that give text."""
_NAMES = frozenset({"stem", "suffix"})
"""Attributes of paths that are text."""
_SAME = frozenset(
    {*(f"builtins.{name}" for name in ("list", "tuple", "sorted", "set", "frozenset")), "numpy.array", "numpy.asarray"}
)
_SAME_METHODS = frozenset({"keys", "copy", "tolist", "flatten", "ravel", "squeeze", "reshape"})
_MANY = frozenset({"update", "extend"})
_ADDING = _MANY | {"add", "append"}
_Comprehension = ast.GeneratorExp | ast.ListComp | ast.SetComp


@followed(otherwise=False)
def holds_text(facts: FileFacts, elements: ast.expr, scope: int) -> bool:
    """Whether going through an expression gives text, or objects hashed by their address; numbers keep their order."""
    if kind_of(facts, elements, scope) is Kind.TEXT:
        return True
    ends = definitions_of(facts, elements, scope, Through.PARAMETERS | Through.RESULTS)
    found = [_of_end(facts, end) for end in ends]
    if any(isinstance(end, Parameter) and one is False for end, one in zip(ends, found, strict=True)):
        return False
    return True in found or (None in found and speaks_of_text(elements)) or _is_filled(facts, elements, scope)


def _of_end(facts: FileFacts, end: End) -> bool | None:
    """The same of one thing that an expression may be; None where it does not say."""
    if isinstance(end, Parameter):  # `labels: list[str]`
        bindings = facts.symbols.scopes[end.function].bindings[end.name]
        declared = [(one.annotation, one.scope) for one in bindings if one.annotation is not None]
        held = agreed(kind_of_annotation(facts, annotation, where, "each") for annotation, where in declared)
        return {Kind.TEXT: True, Kind.NUMBER: False}.get(held)
    if end is None or end.parts:
        return None
    node, scope = end.node, end.scope
    if isinstance(node, _Comprehension):
        if kind_of(facts, node.elt, scope) is Kind.NUMBER:
            return False
        is_made_of_text = holds_text(facts, node.generators[0].iter, scope)
        return is_made_of_text or is_text(facts, node.elt, facts.index.inner_scopes[node].index) or None
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return any(kind_of(facts, one, scope) is Kind.TEXT for one in node.elts) if node.elts else None
    if isinstance(node, ast.Dict):
        return any(key is not None and kind_of(facts, key, scope) is Kind.TEXT for key in node.keys) or None
    if isinstance(node, ast.BinOp):
        return any(holds_text(facts, side, scope) for side in (node.left, node.right)) or None
    if isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Slice, ast.Tuple)):
        return holds_text(facts, node.value, scope) or None
    return _of_call(facts, node, scope) if isinstance(node, ast.Call) else None


@followed(otherwise=False)
def is_text(facts: FileFacts, element: ast.expr, scope: int) -> bool:
    """Whether a value is text by its kind, by what it is an element of, or by its name."""
    if kind_of(facts, element, scope) is Kind.TEXT or speaks_of_text(element):
        return True
    if isinstance(element, ast.Attribute) and element.attr in _NAMES:
        return True
    if isinstance(element, ast.Subscript) and isinstance(element.value, ast.Call):
        return holds_text(facts, element.value, scope)
    if isinstance(element, ast.Subscript) and isinstance(element.slice, ast.Slice):
        return is_text(facts, element.value, scope)
    if isinstance(element, ast.Call) and isinstance(element.func, ast.Attribute):
        return element.func.attr in _OF_STRINGS
    gone_through = [end for end in definitions_of(facts, element, scope) if isinstance(end, Definition)]
    return any(end.parts == (EACH,) and holds_text(facts, end.node, end.scope) for end in gone_through)


def _of_call(facts: FileFacts, call: ast.Call, scope: int) -> bool | None:
    name = facts.names(call.func, scope).only
    if name in _LISTINGS:
        return True
    if name in _SAME and call.args:
        is_as_it_was = argument_of(call, "dtype", 1) is None
        return (is_as_it_was and holds_text(facts, call.args[0], scope)) or None
    if not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr in _TEXTS:
        return True
    if call.func.attr == "astype":
        return None
    is_same = call.func.attr in _SAME_METHODS and holds_text(facts, call.func.value, scope)
    return is_same or speaks_of_text(call.func.value) or None


def _is_filled(facts: FileFacts, container: ast.expr, scope: int) -> bool:
    """`names = set()`, `lines = []` that the same function fills with text."""
    if not isinstance(container, (ast.Name, ast.Attribute)):
        return False
    added = facts.cached(_added).get((facts.function_of(scope), ast.unparse(container)), [])
    return any(
        holds_text(facts, given, where) if is_many else is_text(facts, given, where) for given, where, is_many in added
    )


def _added(facts: FileFacts) -> dict[tuple[int | None, str], list[tuple[ast.expr, int, bool]]]:
    """What functions add to containers by their methods, by function and container as it is written.

    Each comes with its scope, and whether it is many at once.
    """
    calls = ((one.node, one.scope) for one in facts.symbols.calls)
    adding = ((call, scope) for call, scope in calls if is_method_call(call, *_ADDING) and len(call.args) == 1)
    return grouped(
        ((facts.function_of(scope), ast.unparse(call.func.value)), (call.args[0], scope, call.func.attr in _MANY))
        for call, scope in adding
    )


def speaks_of_text(expression: ast.expr) -> bool:
    """Whether the last word of a name, attribute or string key is one for text."""
    if isinstance(expression, ast.Subscript):
        key = literal_text(expression.slice)
        return says(key, "text") if key else speaks_of_text(expression.value)
    return says(last_word(expression), "text")


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
    return (site for site in _set_sites(facts) if _is_affected(facts, site))


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


def _is_affected(facts: FileFacts, site: Site) -> bool:
    """Whether the order of a set changes with the hash seed."""
    made = site.node
    if not isinstance(made, ast.Call):
        return isinstance(made, ast.expr) and holds_text(facts, made, site.scope)
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
        is_kept = is_number or isinstance(above, (ast.BinOp, ast.UnaryOp, ast.JoinedStr, ast.FormattedValue))
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
