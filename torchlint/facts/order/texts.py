"""Whether a set holds text, or objects that are hashed by their address: such a set has another order each run."""

from __future__ import annotations

import ast

from torchlint.catalogue.values import Kind
from torchlint.facts.definitions import definitions_of
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import EACH, Definition, End, Parameter, Through
from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import memoized
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
_DEPTH = 4


@memoized
def holds_text(facts: FileFacts, elements: ast.expr, scope: int, depth: int = _DEPTH) -> bool:
    """Whether going through an expression gives text, or objects hashed by their address; numbers keep their order."""
    if depth <= 0:
        return False
    if kind_of(facts, elements, scope) is Kind.TEXT:
        return True
    ends = definitions_of(facts, elements, scope, Through.PARAMETERS | Through.RESULTS)
    found = [_of_end(facts, end, depth) for end in ends]
    if any(isinstance(end, Parameter) and one is False for end, one in zip(ends, found, strict=True)):
        return False
    return True in found or (None in found and speaks_of_text(elements)) or _is_filled(facts, elements, scope, depth)


def _of_end(facts: FileFacts, end: End, depth: int) -> bool | None:
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
        is_made_of_text = holds_text(facts, node.generators[0].iter, scope, depth - 1)
        return is_made_of_text or is_text(facts, node.elt, facts.index.inner_scopes[node].index, depth) or None
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return any(kind_of(facts, one, scope) is Kind.TEXT for one in node.elts) if node.elts else None
    if isinstance(node, ast.Dict):
        return any(key is not None and kind_of(facts, key, scope) is Kind.TEXT for key in node.keys) or None
    if isinstance(node, ast.BinOp):
        return any(holds_text(facts, side, scope, depth - 1) for side in (node.left, node.right)) or None
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice | ast.Tuple):
        return holds_text(facts, node.value, scope, depth - 1) or None
    return _of_call(facts, node, scope, depth) if isinstance(node, ast.Call) else None


def is_text(facts: FileFacts, element: ast.expr, scope: int, depth: int = _DEPTH) -> bool:
    """Whether a value is text by its kind, by what it is an element of, or by its name."""
    if kind_of(facts, element, scope) is Kind.TEXT or speaks_of_text(element):
        return True
    if isinstance(element, ast.Attribute) and element.attr in _NAMES:
        return True
    if isinstance(element, ast.Subscript) and isinstance(element.value, ast.Call):
        return holds_text(facts, element.value, scope, depth - 1)
    if isinstance(element, ast.Subscript) and isinstance(element.slice, ast.Slice):
        return depth > 0 and is_text(facts, element.value, scope, depth - 1)
    if isinstance(element, ast.Call) and isinstance(element.func, ast.Attribute):
        return element.func.attr in _OF_STRINGS
    gone_through = [end for end in definitions_of(facts, element, scope) if isinstance(end, Definition)]
    return any(end.parts == (EACH,) and holds_text(facts, end.node, end.scope, depth - 1) for end in gone_through)


def _of_call(facts: FileFacts, call: ast.Call, scope: int, depth: int) -> bool | None:
    name = facts.names(call.func, scope).only
    if name in _LISTINGS:
        return True
    if name in _SAME and call.args:
        is_as_it_was = argument_of(call, "dtype", 1) is None
        return (is_as_it_was and holds_text(facts, call.args[0], scope, depth - 1)) or None
    if not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr in _TEXTS:
        return True
    if call.func.attr == "astype":
        return None
    is_same = call.func.attr in _SAME_METHODS and holds_text(facts, call.func.value, scope, depth - 1)
    return is_same or speaks_of_text(call.func.value) or None


def _is_filled(facts: FileFacts, container: ast.expr, scope: int, depth: int) -> bool:
    """`names = set()`, `lines = []` that the same function fills with text."""
    if not isinstance(container, ast.Name | ast.Attribute):
        return False
    added = facts.cached(_added).get((facts.function_of(scope), ast.unparse(container)), [])
    return any(
        holds_text(facts, given, where, depth - 1) if is_many else is_text(facts, given, where, depth - 1)
        for given, where, is_many in added
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
