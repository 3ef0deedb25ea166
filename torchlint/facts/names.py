"""What a name in the code stands for: imports, re-binding, star imports and other project modules.

Names are resolved through every binding of the scope that owns them, never guessed from text. Names from outside the
project are written in full (`torch.nn.Conv2d`); names the project defines are written `path::qualname`, so that they
can be confused with nothing.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from torchlint.facts.choices import chosen, listed
from torchlint.facts.full_names import UNKNOWN, Callee, Names, named, union_of
from torchlint.facts.imported import Modules, imported, imported_by_target, is_instantiating, member_of_module, starred
from torchlint.facts.moves import changed, is_move, moved
from torchlint.facts.namespaces import gone_through, looked_up, picked_from
from torchlint.facts.notation import is_instance, is_of_project, is_result, name_in, result_of, symbol_of
from torchlint.facts.scopes import Binding, BindingKind, ImportTarget, Scope, ScopeKind, SymbolTable
from torchlint.facts.tree import literal_text

if TYPE_CHECKING:
    from torchlint.facts.full_names import NameTable

Answer = TypeVar("Answer")
_MOST_NESTED = 24
"""Names and calls that lead to each other; real code has a few, machine-written code has no end."""

_FOLLOWED = (ast.IfExp, ast.BoolOp, ast.Call, ast.Subscript)
"""What gives something that has a name elsewhere."""
_VALUED = (BindingKind.ASSIGN, BindingKind.ENTERED, BindingKind.PARAMETER)
"""Bindings that are followed to their value."""
_COMPILE = "torch.compile"
_EXPORT = -1
"""In the place of a scope: the name is asked for by another file."""

_BUILTINS = frozenset({*dir(builtins), "__file__", "__path__"})
"""Names that every module has without binding them."""


class Resolver:
    """Answers what expressions of one file stand for."""

    def __init__(self, path: str, symbols: SymbolTable, table: NameTable, modules: Modules) -> None:
        # Not the FileFacts itself: that would be a cycle, and trees must die without the collector (engine/workers.py).
        self.path = path
        self.symbols = symbols
        self.table = table
        self.modules = modules
        self._memo: dict[tuple[int, str], Names] = {}
        self._active: dict[tuple[int, str], int] = {}
        """Names that are asked for, each with the modules that had been asked before it."""
        self._level = 0
        """How many names and expressions lead to the one at hand."""
        self._is_cut = False
        """Whether one of them was not followed to its end."""
        self._on_the_way: dict[tuple[int, str | ast.expr], Names] = {}
        """Answers on the way to the one asked for: names bound to each other in many branches are walked once."""
        self._outside: dict[str, Names] = {}
        """Members of libraries, and of objects: the same few are named again and again."""
        self._asked: dict[tuple[ast.expr, int], Names] = {}
        """Whole answers: a dozen questions look at the name of each call."""

    def forget(self) -> None:
        """Drop all answers."""
        for answers in (self._memo, self._outside, self._asked):
            answers.clear()

    def asked(self, expression: ast.expr, scope: int) -> Names:
        """`names`, remembered with the tree."""
        if isinstance(expression, ast.Name):  # `name` remembers by itself
            return self._memo.get((scope, expression.id)) or self.name(expression.id, scope)
        key = (expression, scope)
        found = self._asked.get(key)
        if found is None:
            found = self._asked[key] = self.names(expression, scope)
        return found

    def names(self, expression: ast.expr, scope: int) -> Names:
        """What `expression`, read in `scope`, may stand for."""
        if isinstance(expression, ast.Name):
            return self.name(expression.id, scope)
        if isinstance(expression, ast.Attribute):
            return self._attribute(expression, scope)
        if not isinstance(expression, _FOLLOWED):
            return UNKNOWN
        key = (scope, expression)
        told = self._on_the_way.get(key) or self._deeper(self._given, expression, scope)
        if told is not None and self._level:  # what it stands in asks for it more than once: `x.a[0].b[0]`
            self._on_the_way[key] = told
        return told or UNKNOWN

    def _given(self, expression: ast.IfExp | ast.BoolOp | ast.Call | ast.Subscript, scope: int) -> Names:
        if isinstance(expression, ast.Call):
            return self._result(expression, scope)
        if isinstance(expression, ast.Subscript):
            return self._entry(expression, scope)
        choices = expression.values if isinstance(expression, ast.BoolOp) else (expression.body, expression.orelse)
        return union_of([self.names(one, scope) for one in choices])

    def _deeper(self, question: Callable[..., Answer], *asked: object) -> Answer | None:
        """What a question answers on the way to another; None where nothing more is followed."""
        level = self._level
        self._is_cut = level >= _MOST_NESTED or (self._is_cut and level > 0)  # so what is on the way is not whole
        if level >= _MOST_NESTED:
            return None
        self._level = level + 1
        try:
            return question(*asked)
        finally:
            self._level = level
            if not level and not self._active:
                self._on_the_way.clear()

    def _entry(self, expression: ast.Subscript, scope: int) -> Names:
        """What is picked from a table, or is a part of what has parts of its own type: `load_dataset(path)["test"]`."""
        found = picked_from(self, expression.value, expression.slice, scope)
        found = found or chosen(self, expression.value, scope, expression.slice)
        whole = found if found.callees else self.names(expression.value, scope)
        return whole if found.callees or whole.names <= self.table.divisible else UNKNOWN

    def _result(self, call: ast.Call, scope: int) -> Names:
        """A partial stands for what it wraps; any other call gives an instance, written `typer.Typer()`.

        `Net().to(device)` is the instance itself, and `torch.compile(f)` computes what `f` does.
        """
        receiver = moved(call)
        if receiver is not None:
            instance = self.names(receiver, scope)
            if all(is_instance(callee.name) for callee in instance.callees):
                return instance  # of what is not known, no method is either
        function = self.names(call.func, scope)
        reflected = looked_up(self, call, str(function.only), scope) if call.args else None
        if reflected is not None:
            return reflected
        if isinstance(call.func, ast.Attribute) and call.func.attr == "get" and not function.callees:
            return chosen(self, call.func.value, scope, call.args[0] if call.args else None)
        if not function.callees:
            return UNKNOWN
        if is_instantiating(function):
            made = imported_by_target(self, call)
            return named(*(result_of(one.name) for one in made.callees), complete=made.complete)
        if call.args and function.only == _COMPILE:
            return self.names(call.args[0], scope)
        if not call.args or function.only != "functools.partial":
            return named(*(self.table.made(one.name) for one in function.callees), complete=function.complete)
        inner = self.names(call.args[0], scope)
        return Names(tuple(Callee(c.name, (call, *c.partial)) for c in inner.callees), inner.complete)

    def _attribute(self, expression: ast.Attribute, scope: int) -> Names:
        base = self.names(expression.value, scope)
        if base.only is not None and not base.callees[0].partial:
            return self.member(base.only, expression.attr)  # most
        if not base.callees or any(callee.partial for callee in base.callees):
            return UNKNOWN
        found = [self.member(callee.name, expression.attr) for callee in base.callees]
        return union_of(found, complete=base.complete)

    def member(self, owner: str, attribute: str) -> Names:
        """`owner.attribute`, where `owner` is a full name or a project name."""
        if is_result(owner) or not is_of_project(owner):
            full = f"{owner}.{attribute}"
            known = self._outside.get(full)
            if known is not None:
                return known
            home = None if is_result(owner) else self.modules.locate(ImportTarget(owner, None, 0), self.path)
            if home is not None:
                return self.modules.exported(home, attribute)
            found = self._outside[full] = named(self.table.canonical(full))
            return found
        path, qualname = symbol_of(owner)
        return named(f"{owner}.{attribute}") if qualname else member_of_module(self, path, attribute)

    def name(self, name: str, scope: int) -> Names:
        """What the bare name stands for in `scope`."""
        key = (scope, name)
        known = self._memo.get(key)
        if known is not None:
            return known
        owner = self.owner(name, scope)
        bound = () if owner is None or owner.index == scope else owner.bindings[name]
        if owner is not None and bound and all(one.value is None and one.annotation is None for one in bound):
            above = (owner.index, name)  # imports and definitions: the same wherever they are read
            found = self._memo.get(above) or self.name(name, owner.index)
            if above in self._memo:
                self._memo[key] = found
            return found
        if key in self._active:
            self.modules.cut_short(self._active[key])
            return UNKNOWN  # a name bound through itself (`x = x or y`) adds nothing
        if key in self._on_the_way:
            return self._on_the_way[key]
        self._active[key] = self.modules.level
        try:
            told = self._deeper(self._bound, name, owner.bindings[name]) if owner else self._unbound(name, scope)
        finally:
            self._leave(key)
        if told is not None and self._active:
            self._on_the_way[key] = told
        elif told is not None and not (self._level and self._is_cut):
            self._memo[key] = told  # only whole answers are kept: a cut-off one depends on who asked first
        return told or UNKNOWN

    def _leave(self, key: tuple[int, str]) -> None:
        del self._active[key]
        if not self._active and not self._level:
            self._on_the_way.clear()

    def _unbound(self, name: str, scope: int) -> Names:
        is_builtin = name in _BUILTINS
        found = starred(self, name, scope, outside_only=is_builtin)
        if found is not None:
            return found
        return named(f"builtins.{name}") if is_builtin else UNKNOWN

    def owner(self, name: str, scope: int) -> Scope | None:
        """The scope whose bindings give `name` its value when read in `scope`; class bodies are skipped from inside."""
        scopes = self.symbols.scopes
        start: int | None = scopes[scope].outer.get(name, scope)
        current = start
        while current is not None:
            candidate = scopes[current]
            visible = candidate.kind is not ScopeKind.CLASS or current == start
            if visible and name in candidate.bindings:
                return candidate
            current = candidate.parent
        return None

    def _bound(self, name: str, bindings: list[Binding]) -> Names:
        if len(bindings) == 1 and bindings[0].value is None:
            return self._binding(bindings[0])  # most names: imports, definitions, parameters
        # The fallback of a failed import (`nn = None`) is never what the code goes on to use.
        made = [b for b in bindings if not b.is_unset]
        made = [b for b in made if not self._is_compiled_again(b, name)] if len(bindings) > 1 else bindings
        changes = [(b, steps) for b in made if (steps := _changes(b, name))]
        if not changes:
            return union_of([self._binding(binding) for binding in made])
        changing = [binding for binding, _ in changes]
        found = union_of([self._binding(binding) for binding in made if binding not in changing])
        is_same = all(self.stays(callee.name, steps) for callee in found.callees for _, steps in changes)
        return found if is_same else Names(found.callees, complete=False)

    def _is_compiled_again(self, binding: Binding, name: str) -> bool:
        """`attention = torch.compile(attention)` is what it was."""
        call = binding.value if binding.kind is BindingKind.ASSIGN else None
        is_own = isinstance(call, ast.Call) and bool(call.args) and getattr(call.args[0], "id", "") == name
        return is_own and self.names(call.func, binding.scope).only == _COMPILE  # type: ignore[union-attr]

    def stays(self, name: str, steps: Iterable[str]) -> bool:
        """Whether an object stays of its type through methods and subscripts: `net = net.to(device)`."""
        if is_instance(name) and all(map(is_move, steps)):
            return True
        is_divisible = name in self.table.divisible
        return all(self.table.made(f"{name}.{step}") == name or (not step and is_divisible) for step in steps)

    def _binding(self, binding: Binding) -> Names:
        if binding.kind is BindingKind.IMPORT and binding.target is not None:
            return imported(self, binding.target)
        if binding.kind is BindingKind.DEFINITION and binding.definition is not None:
            return named(name_in(self.path, self.symbols.scopes[binding.definition].qualname))
        if binding.kind is BindingKind.ELEMENT:
            found = gone_through(self, binding)
            return found if found.callees else listed(self, binding)
        found = UNKNOWN
        if binding.value is not None and binding.kind in _VALUED:
            found = self.names(binding.value, binding.scope)
            if binding.kind is BindingKind.ENTERED:
                found = found if found.names <= self.table.entered else UNKNOWN
            elif binding.kind is BindingKind.PARAMETER:
                found = Names(found.callees, complete=False)
        if binding.annotation is None or (found.callees and binding.kind is BindingKind.ASSIGN):
            return found
        declared = self.instance_of(binding.annotation, binding.scope)
        return declared if declared.callees else found

    def instance_of(self, annotation: ast.expr, scope: int) -> Names:
        """What `net: Net`, `net: Net | None` or `net: "Net"` says: an object of that class, or of an heir."""
        if isinstance(annotation, ast.BinOp):
            options = [self.instance_of(one, scope) for one in (annotation.left, annotation.right)]
            return union_of([one for one in options if one.callees], complete=False)
        holder = annotation.value if isinstance(annotation, ast.Subscript) else None
        if holder is not None and self.names(holder, scope).only == "typing.Optional":
            annotation = annotation.slice  # type: ignore[attr-defined]
        if literal_text(annotation).isidentifier():
            annotation = ast.Name(literal_text(annotation), ast.Load())
        made = result_of(self.names(annotation, scope).only or "")
        return named(made, complete=False) if is_of_project(made) and is_instance(made) else UNKNOWN

    def exported(self, name: str) -> Names:
        """What other files get when they import `name` from this one; see `ModuleIndex.exported`."""
        key, before = (_EXPORT, name), (self._level, self._is_cut)
        self._level, self._active[key] = 0, self.modules.level
        try:
            is_bound = name in self.symbols.scopes[0].bindings
            return self.name(name, 0) if is_bound else starred(self, name, 0) or UNKNOWN
        finally:
            self._level, self._is_cut = before
            self._leave(key)


def _changes(binding: Binding, name: str) -> list[str]:
    """The methods by which a binding changes what the name stands for: `data = data.map(f)`."""
    change = changed(binding.value) if binding.kind is BindingKind.ASSIGN else None
    return change[1] if change is not None and getattr(change[0], "id", "") == name else []
