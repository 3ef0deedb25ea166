"""Where an order ends up: from a listing or a set to what makes its order matter, or to nothing.

The value is followed through the expression around it, through local names and attributes of the same class, through
loops and comprehensions. `sorted`, `len`, membership and sums end the way; so does everything that is not understood.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torchlint.facts.calls import Way, callers
from torchlint.facts.order.loops import (
    counters_in,
    filled,
    filled_by_number,
    hands_out_ids,
    index_name,
    names_bound,
    names_in,
    numbers_values,
    statements_in,
)
from torchlint.facts.order.name_reads import (
    is_asked_for_its_order,
    is_only_reduced,
    is_reordered,
    is_sorted_in_place,
    reads_in,
)
from torchlint.facts.order.numbering import only_finds_again
from torchlint.facts.order.words import (
    DATASET,
    DRAWS,
    ENUMERATE,
    GROUPS,
    IDS,
    INDEX,
    LISTED,
    MERGES,
    PAIRS,
    ROWS,
    SET_METHODS,
    SHOWING,
    SPLIT,
    STACKS,
    TRANSPARENT,
    Use,
)
from torchlint.facts.tree import is_own

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_DEPTH = 4
"""Names and attributes followed one after another."""


@dataclass(slots=True)
class Follower:
    """Follows one value through a file."""

    facts: FileFacts
    into_datasets: bool = True
    """Whether a list handed to a `...Dataset(...)` is its items: files mostly are, names are often only looked up."""
    returned: list[str] = field(default_factory=list)
    """The functions that return the value, where nothing in this file makes anything of its order."""
    of_results: bool = False
    """Whether the order is that of results as they come: they get joined to their inputs, or stacked."""
    _filled: set[str] = field(default_factory=set)
    """The lists that one loop fills side by side, as they are written."""
    _seen: set[tuple[int, str]] = field(default_factory=set)

    def use_of(self, value: ast.expr, scope: int, statement: ast.stmt, depth: int = _DEPTH) -> Use | None:
        """The first use that makes the order of `value` matter, or None."""
        if depth == 0:
            return None
        parents = self.facts.index.within(statement)
        numbered = isinstance(value, ast.Call) and self.facts.names(value.func, scope).only == ENUMERATE
        below: ast.AST = value
        while below in parents:
            above = parents[below]
            numbered = numbered or self._is_call_of(above, below, scope, ENUMERATE)
            step = self._step(above, below, scope, parents, numbered=numbered)
            if step is not None:
                return None if step is _END else step
            if above is statement:
                return self._stored(above, below, scope, depth, numbered=numbered)
            below = above
        return None

    def use_of_filled(self, containers: list[ast.expr], scope: int) -> Use | None:
        """The first use that makes the order matter in which a loop fills these lists, side by side."""
        self._filled |= {ast.unparse(container) for container in containers}
        uses = (self._kept_in(container, scope, _DEPTH) for container in containers)
        return next((use for use in uses if use is not None), None)

    def _step(
        self, above: ast.AST, below: ast.AST, scope: int, parents: Mapping[ast.AST, ast.AST], *, numbered: bool
    ) -> Use | None:
        """What one enclosing node makes of the value: a use, the end of the way (`_END`), or None to go on."""
        if isinstance(above, ast.Call):
            return self._called(above, below, scope, parents)
        if isinstance(above, ast.Attribute):
            call = parents.get(above)
            keeps = isinstance(call, ast.Call) and call.func is above and above.attr in SET_METHODS
            return None if keeps else _END
        if isinstance(above, ast.Subscript) and above.value is below:
            return _END if _is_shown(above, parents) else self._subscripted(above, scope)
        if isinstance(above, ast.BinOp):
            return None if isinstance(above.op, MERGES) else _END
        if isinstance(above, ast.comprehension):
            return None if above.iter is below else _END
        if isinstance(above, ast.DictComp):
            return Use(IDS, above) if numbered and numbers_values(above) else _END
        passing = (ast.ListComp, ast.GeneratorExp, ast.Starred, ast.keyword, ast.stmt, ast.IfExp)
        if isinstance(above, ast.IfExp) and above.test is below:
            return _END
        if isinstance(above, ast.List) and self.of_results:
            return None
        return None if isinstance(above, passing) else _END

    def _called(self, call: ast.Call, below: ast.AST, scope: int, parents: Mapping[ast.AST, ast.AST]) -> Use | None:
        if call.func is below:
            return None  # a method that keeps the value, see `_step`
        name = self.facts.names(call.func, scope).only or ""
        if name in DRAWS:
            return Use(DRAWS[name], call)
        if name == "builtins.zip" and len(call.args) > 1:
            return Use(PAIRS, call) if self._is_paired(call, below, scope) else None
        if self.of_results and name in STACKS:
            # Lists that are filled side by side may hold the indices that put the rows in order.
            is_harmless = len(self._filled) > 1 or is_only_reduced(self.facts, call, parents, scope)
            return _END if is_harmless else Use(ROWS, call)
        if self.of_results and name.startswith("pandas."):
            return self._in_table(call, name, scope)
        if name in TRANSPARENT:
            return None
        if name.startswith("torch.optim."):
            return Use(GROUPS, call)
        last = name.rpartition("::")[2].rpartition(".")[2] or getattr(call.func, "attr", "")
        return Use(DATASET, call) if self.into_datasets and last.endswith("Dataset") else _END

    def _is_paired(self, call: ast.Call, below: ast.AST, scope: int) -> bool:
        """Whether `zip` pairs by chance: with a listing of its own, or results with what came in another order."""
        others = [argument for argument in call.args if argument is not below]
        if self.of_results:
            numbers = ("builtins.range", "itertools.count", "itertools.repeat")
            calls = [self.facts.names(other.func, scope).only for other in others if isinstance(other, ast.Call)]
            return not any(call in numbers for call in calls) and not any(
                ast.unparse(o) in self._filled for o in others
            )
        return any(self.facts.names(argument, scope).names & LISTED for argument in others)

    def _subscripted(self, subscript: ast.Subscript, scope: int) -> Use | None:
        index = subscript.slice
        if isinstance(index, ast.Slice):
            whole = index.lower is None and index.upper is None
            if self.of_results and not whole:
                return _END  # a look at the first few
            return None if whole else Use(SPLIT, subscript)
        # `[0]` mostly takes the only entry there is, and `[i]` of a loop goes through all of them.
        is_given = isinstance(index, ast.Attribute) or self.facts.parameter_named(index, scope) is not None
        return Use(INDEX, subscript) if is_given else _END

    def _in_table(self, call: ast.Call, name: str, scope: int) -> Use | None:
        """Results as the rows of a table go on; beside the columns of another table they are paired."""
        if name in ("pandas.DataFrame", "pandas.Series"):
            return None
        axis = next((keyword.value for keyword in call.keywords if keyword.arg == "axis"), None)
        constants = self.facts.value(axis, scope).constants
        return Use(PAIRS, call) if name == "pandas.concat" and set(constants) & {1, "columns"} else _END

    def _is_call_of(self, node: ast.AST, argument: ast.AST, scope: int, name: str) -> bool:
        return isinstance(node, ast.Call) and argument in node.args and self.facts.names(node.func, scope).only == name

    # -- where a statement keeps the value ---------------------------------------------------------------------------

    def _stored(self, statement: ast.AST, below: ast.AST, scope: int, depth: int, *, numbered: bool) -> Use | None:
        if isinstance(statement, ast.For | ast.AsyncFor):
            return self._looped(statement, scope, depth, numbered=numbered) if statement.iter is below else None
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            return self._kept_in(statement.targets[0], scope, depth)
        if isinstance(statement, ast.AnnAssign | ast.AugAssign) and statement.value is below:
            return self._kept_in(statement.target, scope, depth)
        if isinstance(statement, ast.Return):
            return self._returned(scope, depth)
        return None

    def _returned(self, scope: int, depth: int) -> Use | None:
        """What the callers in this file make of what a function returns."""
        function = self.facts.function_of(scope)
        if function is None or (function, _RETURNED) in self._seen:
            return None
        self._seen.add((function, _RETURNED))
        calls = [site for site, target in callers(self.facts, function) if target.way is Way.CALLED]
        uses = (self.use_of(site.node, site.scope, site.statement, depth - 1) for site in calls)
        found = next((use for use in uses if use is not None), None)
        if found is None:
            self.returned.append(f"{self.facts.path}::{self.facts.reading.scopes[function].qualname}")
        return found

    def _kept_in(self, target: ast.expr, scope: int, depth: int) -> Use | None:
        if isinstance(target, ast.Name):
            return self._uses_of_name(target.id, scope, depth)
        if is_own(target):
            return self._uses_of_attribute(target.attr, scope, depth)
        if self.of_results and isinstance(target, ast.Subscript):
            names = self.facts.names(target.value, scope).names
            is_column = bool(names) and all(name.startswith("pandas.") for name in names)
            return Use(PAIRS, target) if is_column else None
        return None

    def _uses_of_name(self, name: str, scope: int, depth: int) -> Use | None:
        owner = self.facts.resolver.owner(name, scope)
        if owner is None or (owner.index, name) in self._seen:
            return None
        self._seen.add((owner.index, name))
        reads = [
            (node, statement, inner)
            for node, statement, inner in reads_in(self.facts, owner.index)
            if isinstance(node, ast.Name) and node.id == name
        ]
        if any(is_sorted_in_place(self.facts, node, statement, inner) for node, statement, inner in reads):
            return None
        if self.of_results and (
            any(is_reordered(binding.value, name) for binding in owner.bindings[name])
            or any(is_asked_for_its_order(self.facts, node, inner) for node, _, inner in reads)
        ):
            return None
        uses = (self.use_of(node, inner, statement, depth - 1) for node, statement, inner in reads)
        return next((use for use in uses if use is not None), None)

    def _uses_of_attribute(self, attribute: str, scope: int, depth: int) -> Use | None:
        owner = self.facts.class_of(scope)
        if owner is None or (owner, attribute) in self._seen:
            return None
        self._seen.add((owner, attribute))
        reads = [
            (node, statement, inner)
            for node, statement, inner in reads_in(self.facts, owner)
            if is_own(node) and node.attr == attribute
        ]
        if any(is_sorted_in_place(self.facts, node, statement, inner) for node, statement, inner in reads):
            return None
        for node, statement, inner in reads:
            function = self.facts.function_of(inner)
            parents = self.facts.index.within(statement)
            above = parents.get(node)
            in_item = function is not None and self.facts.reading.scopes[function].name == "__getitem__"
            if in_item and isinstance(above, ast.Subscript) and above.value is node:
                return Use(DATASET, above)
        uses = (self.use_of(node, inner, statement, depth - 1) for node, statement, inner in reads)
        return next((use for use in uses if use is not None), None)

    def _looped(self, loop: ast.For | ast.AsyncFor, scope: int, depth: int, *, numbered: bool) -> Use | None:
        """What a loop over the value keeps of its order: ids it hands out, lists it fills."""
        index = index_name(loop.target) if numbered else None
        counters = set() if self.of_results else counters_in(loop)  # of results it is mostly progress that is counted
        statements = list(statements_in(loop))
        additions = [
            filled_by_number(node, index) or filled(node) if self.of_results else filled(node) for node in statements
        ]
        self._filled |= {ast.unparse(addition[0]) for addition in additions if addition is not None}
        own = names_bound(loop)
        for node, addition in zip(statements, additions, strict=True):
            if isinstance(node, ast.Assign) and hands_out_ids(node, index, counters):
                if only_finds_again(self.facts, node, loop, scope):
                    continue
                return Use(IDS, node)
            if addition is None or (self.of_results and not (addition[1] and own & names_in(addition[1]))):
                continue
            container, element = addition
            if not self.of_results and index is not None and element is not None and index in names_in(element):
                return Use(IDS, node)
            use = self._kept_in(container, scope, depth - 1)
            if use is not None:
                return use
        return None


_RETURNED = "return"
"""In the place of a name: what a function returns. No name is spelled so."""


def _is_shown(part: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """`print(files[:20])`: the first few are only shown."""
    while part in parents:
        part = parents[part]
        if isinstance(part, ast.Call):
            word = part.func.attr if isinstance(part.func, ast.Attribute) else getattr(part.func, "id", "")
            if word in SHOWING:
                return True
    return False


_END = Use("nothing", ast.Pass())
"""The way ends here: no use."""
