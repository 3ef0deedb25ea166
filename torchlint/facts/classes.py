"""The classes of a file: their bases and methods, and what their methods keep in `self`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts import graphs
from torchlint.facts.functions import decorators_of, is_method, own_scope
from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import memoized
from torchlint.facts.moves import moved
from torchlint.facts.scopes import Scope, ScopeKind
from torchlint.facts.tree import is_literal_none, is_method_call, is_own, is_self, last_word, literal_text

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.full_names import Names

Values = list[tuple[ast.expr, int]]
"""Expressions, each with the scope it is evaluated in."""

_NOT_MODULES = frozenset({"builtins.object", "torch.autograd.Function", "abc.ABC", "typing.Protocol"})
_MODULES = ("torch.nn.Module", "lightning.pytorch.LightningModule")
_DATACLASSES = frozenset({"dataclasses.dataclass", "dataclasses.dataclass()"})
MODULE_WALKS = frozenset({"parameters", "named_parameters", "modules", "named_modules", "children", "named_children"})
"""Methods by which torch's modules give what they hold: they change nothing."""


def bases_of(facts: FileFacts, owner: Scope) -> list[Names]:
    """What each base of a class stands for."""
    return [facts.names(base, owner.parent or 0) for base in owner.node.bases]  # type: ignore[attr-defined]


@memoized
def base_classes(facts: FileFacts) -> list[tuple[str, str]]:
    """Pairs of a class of this file and a base class, by its full name."""
    owners = (scope for scope in facts.symbols.scopes if scope.kind is ScopeKind.CLASS)
    return [(owner.qualname, name) for owner in owners for name in base_names(facts, owner.index)]


def base_names(facts: FileFacts, owner: int) -> list[str]:
    """The full names of a class's bases."""
    return [name for base in bases_of(facts, facts.symbols.scopes[owner]) for name in sorted(base.names)]


def own_class(facts: FileFacts, expression: ast.expr, scope: int) -> str:
    """The full name of the class that a method makes objects of by `cls(...)` or `type(self)(...)`; else empty.

    `self.__class__(...)` makes one as well.
    """
    if isinstance(expression, ast.Call):
        is_one = last_word(expression.func) == "type" and len(expression.args) == 1 and is_self(expression.args[0])
    elif isinstance(expression, ast.Name):
        is_one = expression.id == "cls" and facts.parameter_named(expression, scope) is not None
    else:
        is_one = is_own(expression) and expression.attr == "__class__"
    owner = facts.class_of(scope) if is_one else None
    return "" if owner is None else facts.full_name(owner)


def _own_bases(facts: FileFacts, owner: int) -> Iterator[int]:
    """The bases of a class that this file defines."""
    for base in bases_of(facts, facts.symbols.scopes[owner]):
        found = own_scope(facts, base.only or "")
        if found is not None and found != owner and facts.symbols.scopes[found].kind is ScopeKind.CLASS:
            yield found


@memoized
def lineage(facts: FileFacts, owner: int | None) -> list[int]:
    """A class and its bases in the same file, in the order in which Python looks for a method; nothing for others."""
    if owner is None or facts.symbols.scopes[owner].kind is not ScopeKind.CLASS:
        return []
    return graphs.lineage(owner, lambda one: _own_bases(facts, one))


def is_module_class(facts: FileFacts, scope: int | None) -> bool:
    """Whether a class scope is an `nn.Module`, through classes of the same file."""
    return any(name in _MODULES for one in lineage(facts, scope) for name in base_names(facts, one))


def forward_of(facts: FileFacts, scope: int) -> Scope | None:
    """The `forward` that runs the code of a scope, of a class that is a module or may be one by its bases."""
    index = facts.function_of(scope)
    function = None if index is None else facts.symbols.scopes[index]
    if function is None or function.name != "forward" or not is_method(facts, function):
        return None
    bases = [base.only for base in bases_of(facts, facts.symbols.scopes[function.parent or 0])]
    is_module = any(base not in _NOT_MODULES for base in bases) and "torch.autograd.Function" not in bases
    return function if is_module and "self" in function.bindings else None


def method_of(facts: FileFacts, owner: int | None, name: str) -> int | None:
    """The method of a class, or of its bases in the same file."""
    return _first_method(facts, lineage(facts, owner), name)


def inherited_method(facts: FileFacts, owner: int, name: str) -> int | None:
    """The method that `super()` means in a class, where a base in the same file has it."""
    return _first_method(facts, lineage(facts, owner)[1:], name)


def _first_method(facts: FileFacts, owners: list[int], name: str) -> int | None:
    bound = (facts.symbols.scopes[one].bindings.get(name) for one in owners)
    bindings = next(filter(None, bound), [])
    return bindings[0].definition if len(bindings) == 1 else None


def heirs(facts: FileFacts, owner: int | None, unless: str | None = None) -> list[int]:
    """The classes of the same file that inherit from a class, but those that define `unless` anew."""
    scopes = facts.symbols.scopes

    def bases(one: int) -> Iterator[int]:
        yield from () if unless in scopes[one].bindings else _own_bases(facts, one)

    classes = (one.index for one in scopes if one.kind is ScopeKind.CLASS and owner not in (None, one.index))
    return [one for one in classes if owner in graphs.reached([one], bases)]


@memoized
def family_of(facts: FileFacts, owner: int) -> frozenset[int]:
    """A class with its heirs and bases in the same file: what shares the attributes of its objects."""
    return frozenset((*heirs(facts, owner), *lineage(facts, owner)))


def attribute_values(facts: FileFacts, expression: ast.expr, scope: int) -> Values | None:
    """What `self.name` may hold, for all that its class says; None when `expression` is no attribute of `self`.

    An empty list says that the class never assigns it: a base class may.
    """
    owner = facts.class_of(scope) if is_own(expression) else None
    return None if owner is None else values_of(facts, owner, last_word(expression))


def values_of(facts: FileFacts, owner: int, name: str) -> Values:
    """What the methods of a class store in an attribute, but None: that stands for "not yet"."""
    return [one for one in all_values_of(facts, owner, name) if not is_literal_none(one[0])]


def all_values_of(facts: FileFacts, owner: int, name: str) -> Values:
    """What the methods of a class store in an attribute."""
    return facts.cached(_by_class).get((owner, name), [])


def values_kept(facts: FileFacts, owner: int, name: str) -> int:
    """How many values an attribute may get: in the bodies of a class, its heirs and bases, and in their methods."""
    family = family_of(facts, owner)
    of_bodies = (facts.symbols.scopes[one].bindings.get(name, []) for one in family)
    of_methods = (values_of(facts, one, name) for one in family)
    return sum(binding.value is not None for some in of_bodies for binding in some) + sum(map(len, of_methods))


def _by_class(facts: FileFacts) -> dict[tuple[int, str], Values]:
    found: dict[tuple[int, str], Values] = {}
    for assignment in facts.symbols.assignments:
        target = assignment.target
        owner = facts.class_of(assignment.scope)
        if owner is not None and assignment.value is not None and is_own(target):
            value = (assignment.value, assignment.scope)
            root = moved(assignment.value)
            if not (is_own(root) and root.attr == target.attr):  # `self.net = self.net.cuda()`
                found.setdefault((owner, target.attr), []).append(value)
    for site in facts.calls.find(words=("register_buffer", "register_parameter")):
        if is_method_call(site.node) and len(site.node.args) > 1:
            name, owner = literal_text(site.node.args[0]), facts.class_of(site.scope)
            if owner is not None and name:
                found.setdefault((owner, name), []).append((site.node.args[1], site.scope))
    return found


def dataclass_fields(facts: FileFacts, name: str) -> list[str]:
    """The fields of a dataclass of this file, by its full name, in the order of their arguments; none of others."""
    owner = own_scope(facts, name)
    scope = None if owner is None else facts.symbols.scopes[owner]
    if scope is None or scope.kind is not ScopeKind.CLASS or _DATACLASSES.isdisjoint(decorators_of(facts, scope)):
        return []
    return [field for field, bindings in scope.bindings.items() if bindings[0].annotation is not None]


def class_bindings(facts: FileFacts, expression: ast.Attribute, scope: int) -> list[ast.expr]:
    """The annotations that a class gives to an attribute of `self`: in its body, or where a method assigns it."""
    owner = facts.class_of(scope)
    if owner is None:
        return []
    bindings = facts.symbols.scopes[owner].bindings.get(expression.attr, [])
    found = [binding.annotation for binding in bindings if binding.annotation is not None]
    return found + facts.cached(_annotated).get((owner, expression.attr), [])


def _annotated(facts: FileFacts) -> dict[tuple[int, str], list[ast.expr]]:
    """`self.scale: Tensor = scale`."""
    kept = ((one.node, facts.class_of(one.scope)) for one in facts.symbols.assign_sites)
    told = ((node.target, owner, node.annotation) for node, owner in kept if isinstance(node, ast.AnnAssign))
    return grouped(
        ((owner, one.attr), annotation) for one, owner, annotation in told if owner is not None and is_own(one)
    )


def parts_of(facts: FileFacts, owner: int, name: str) -> list[tuple[ast.expr, int, int]]:
    """What `self.low, self.high = bounds` stores in an attribute: each value, its scope and the position in it."""
    return facts.cached(_unpacked).get((owner, name), [])


def _unpacked(facts: FileFacts) -> dict[tuple[int, str], list[tuple[ast.expr, int, int]]]:
    found: dict[tuple[int, str], list[tuple[ast.expr, int, int]]] = {}
    for site in facts.symbols.assign_sites:
        owner = facts.class_of(site.scope)
        if owner is None or not isinstance(site.node, ast.Assign):
            continue
        for target in site.node.targets:
            parts = site.node.value.elts if isinstance(site.node.value, (ast.Tuple, ast.List)) else ()
            # Each part of `self.a, self.b = 1, 2` is an assignment by itself.
            if isinstance(target, (ast.Tuple, ast.List)) and len(parts) != len(target.elts):
                for position, element in enumerate(target.elts):
                    if is_own(element):
                        found.setdefault((owner, element.attr), []).append((site.node.value, site.scope, position))
    return found
