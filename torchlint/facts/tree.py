"""The whole syntax tree seen from below: what each node stands in, what a statement holds, where a name is read."""

from __future__ import annotations

import ast
import collections
import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeGuard

from torchlint.facts.grouping import grouped
from torchlint.facts.scopes import Scope, ScopeKind

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


_PLAIN = frozenset({"arg", "asname", "attr", "conversion", "ctx", "id", "kind", "level", "module", "op", "ops"})
"""Fields of texts and numbers, and of contexts and operators, of which all trees share one each."""

NODE_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {
    kind: tuple(name for name in kind._fields if name not in _PLAIN)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
"""By the kind of a node: its fields that may hold nodes of the tree's own."""

_INNER = frozenset({ScopeKind.LAMBDA, ScopeKind.COMPREHENSION})


class Parents(Mapping[ast.AST, ast.AST]):
    """What each node of a file stands in. Most are asked about few functions: the rest is not gone through for them."""

    def __init__(self, facts: FileFacts) -> None:
        self._tree, self._scopes = facts.tree, facts.symbols.scope_of
        self.statements: dict[ast.AST, ast.stmt] = {site.node: site.statement for site in facts.symbols.calls}
        """Of calls: most questions begin at one."""
        self._own: dict[ast.stmt, dict[ast.AST, ast.AST]] = {}
        self._known: dict[ast.AST, ast.AST] = {}
        self._is_whole = False

    def within(self, statement: ast.stmt) -> Mapping[ast.AST, ast.AST]:
        """Those of a statement's own expressions; nested statements are left out."""
        if statement not in self._own:
            parents = self._own[statement] = {}
            waiting: list[ast.AST] = [statement]
            while waiting:
                node = waiting.pop()
                for child in children(node):
                    if not isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                        parents[child] = node
                        waiting.append(child)
        return self._own[statement]

    def __getitem__(self, node: ast.AST) -> ast.AST:
        statement = None if node in self._known else self.statements.get(node)
        if statement is not None:
            self._known.update(self.within(statement))
        return self._known[node] if node in self._known else self._whole()[node]

    def __iter__(self) -> Iterator[ast.AST]:
        return iter(self._whole())

    def __len__(self) -> int:
        return len(self._whole())

    def _whole(self) -> dict[ast.AST, ast.AST]:
        if not self._is_whole:
            self._is_whole, self._known = True, {}  # in one order, whatever was asked before
            collections.deque(self.reads_below(self._tree), maxlen=0)
        return self._known

    def reads_below(self, top: ast.AST) -> Iterator[tuple[ast.Name, int]]:
        """The names that are read or deleted in a node, each with the scope of its statement."""
        waiting: list[tuple[ast.AST, int]] = [(top, 0)]
        while waiting:
            node, scope = waiting.pop()
            scope = self._scopes.get(node, scope) if isinstance(node, ast.stmt) else scope
            for child in children(node):
                self._known[child] = node
                if child.__class__ is not ast.Constant:
                    waiting.append((child, scope))
            if node.__class__ is ast.Name and node.ctx.__class__ is not ast.Store:
                yield node, scope


class TreeIndex:
    """Parents of all nodes of a file, and the places that read or delete a name. `facts.index` has the file's own."""

    def __init__(self, facts: FileFacts) -> None:
        self._facts = facts
        self._scopes = facts.symbols.scope_of
        self._reads: dict[int, dict[str, list[ast.Name]]] = {}
        self.parents = Parents(facts)
        """What each node stands in."""
        self.within = self.parents.within

    @functools.cached_property
    def inner_scopes(self) -> dict[ast.AST, Scope]:
        """The scopes of lambdas and comprehensions."""
        return {scope.node: scope for scope in self._facts.symbols.scopes if scope.kind in _INNER}

    def reads(self, owner: int, name: str) -> list[ast.Name]:
        """All places that read a name of a scope, also from scopes inside it."""
        if owner not in self._reads:
            scope, resolver = self._facts.symbols.scopes[owner], self._facts.resolver
            # A lambda or comprehension that binds a name anew is not told apart: its reads count as well.
            below = self.parents.reads_below(scope.node) if scope.kind not in _INNER else ()
            self._reads[owner] = grouped((one.id, one) for one, at in below if resolver.owner(one.id, at) is scope)
        return self._reads[owner].get(name, [])

    def reads_of(self, target: ast.Name) -> list[ast.Name]:
        """All places that read the name which a target binds."""
        owner = self._facts.resolver.owner(target.id, self.scope_of(target))
        return [] if owner is None else self.reads(owner.index, target.id)

    def attributes(self, name: str) -> list[ast.Attribute]:
        """All places that read, write or delete an attribute of this name, of whatever object."""
        return self._attributes.get(name, [])

    @functools.cached_property
    def _attributes(self) -> dict[str, list[ast.Attribute]]:
        return grouped((node.attr, node) for node in self.parents if isinstance(node, ast.Attribute))

    def ancestors(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """Pairs of an ancestor and its child on the way down to an expression, innermost first, up to its statement."""
        while not isinstance(node, ast.stmt):
            above = self.parents[node]
            yield above, node
            node = above

    def own_attributes(self, name: str) -> list[ast.Attribute]:
        """All places that read an attribute of this name of `self` or `cls`."""
        read = (node for node in self.attributes(name) if isinstance(node.ctx, ast.Load))
        return [node for node in read if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")]

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """The innermost statement around an expression, or the statement itself."""
        known = self.parents.statements.get(node)
        if known is not None:
            return known
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def scope_of(self, node: ast.AST) -> int:
        """The scope that the statement around a node stands in."""
        return self._scopes[self.statement_of(node)]

    def inner_scope_of(self, node: ast.AST) -> int:
        """The innermost scope that a node is evaluated in: of the lambda or the comprehension around it, too."""
        first = None
        for above, below in self.ancestors(node):
            if isinstance(above, ast.comprehension) and above.iter is below:
                first = above
            inner = self.inner_scopes.get(above)
            if inner is not None and (first is None or first is not getattr(above, "generators", [None])[0]):
                return inner.index
        return self.scope_of(node)


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes in a node, but for contexts and operators.

    Every node of most files comes by here, so it is no generator and asks as little as can be.
    """
    found: list[ast.AST] = []
    for name in NODE_FIELDS[node.__class__]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [child for child in value if isinstance(child, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def nodes_in(*nodes: ast.AST) -> Iterator[ast.AST]:
    """All that stands in nodes, and these themselves, as `ast.walk` goes, but for contexts and operators."""
    waiting = collections.deque(nodes)
    while waiting:
        node = waiting.popleft()
        waiting.extend(children(node))
        yield node


def is_self(node: ast.AST) -> TypeGuard[ast.Name]:
    """The name `self`."""
    return isinstance(node, ast.Name) and node.id == "self"


def is_own(node: ast.AST | None) -> TypeGuard[ast.Attribute]:
    """`self.name`."""
    return isinstance(node, ast.Attribute) and is_self(node.value)


def is_of_own(node: ast.AST) -> bool:
    """`self.step` or `super().step`."""
    return isinstance(node, ast.Attribute) and (is_self(node.value) or is_super(node.value))


def is_super(node: ast.AST) -> bool:
    """`super()`, also with arguments."""
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "super"


def is_ellipsis(node: ast.AST) -> bool:
    """`...`."""
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def index_parts(subscript: ast.Subscript) -> list[ast.expr]:
    """What a subscript says of each dimension: `i` and `0` in `x[i, 0]`."""
    return subscript.slice.elts if isinstance(subscript.slice, ast.Tuple) else [subscript.slice]


def literal_text(node: ast.AST | None) -> str:
    """The text that a literal is; empty for all else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def is_literal_none(node: ast.AST | None) -> bool:
    """The literal None."""
    return isinstance(node, ast.Constant) and node.value is None


def last_word(node: ast.AST | None) -> str:
    """What names something last: `step` in `self.optimizer.step`, `SGD` in `SGD`; empty for what has no name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def words_in(*nodes: ast.AST) -> Iterator[str]:
    """What code in nodes is written with: names and attributes."""
    return filter(None, map(last_word, nodes_in(*nodes)))


def names_in(expression: ast.AST) -> set[str]:
    return {node.id for node in nodes_in(expression) if isinstance(node, ast.Name)}


def targets_of(node: ast.AST) -> list[ast.expr]:
    """What an assignment of whatever kind binds or changes; nothing for other statements."""
    if isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        return [node.target]
    return node.targets if isinstance(node, ast.Assign) else []


def only_target(node: ast.AST | None) -> ast.expr | None:
    """`x` of `x = 3`; None for `x = y = 3` and all that is no plain assignment."""
    return node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None


class MethodCall(ast.Call):
    """The call of an attribute: a method, as far as the text shows, or a function of a module."""

    func: ast.Attribute


def is_method_call(node: ast.AST | None, *names: str) -> TypeGuard[MethodCall]:
    """`x.step()`; where names are given, only of a method that is called one of them."""
    is_attribute = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return is_attribute and (not names or node.func.attr in names)  # type: ignore[union-attr]


def method_called(node: ast.AST | None) -> str:
    """`step` of `x.step()`; empty for all but calls of an attribute."""
    return node.func.attr if is_method_call(node) else ""


def is_main_guard(test: ast.expr) -> bool:
    """`__name__ == "__main__"`, either way round."""
    if not isinstance(test, ast.Compare) or len(test.comparators) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = (test.left, test.comparators[0])
    is_asked = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
    return is_asked and "__main__" in map(literal_text, sides)
