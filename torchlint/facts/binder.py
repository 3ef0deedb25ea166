"""One pass over a file's syntax tree that finds its scopes, bindings, calls and assignments.

This is the hot path of every run, so it dispatches on node types by hand and skips leaves.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from torchlint.facts.control.blocks import Function
from torchlint.facts.scopes import (
    Assignment,
    AssignSite,
    Binding,
    BindingKind,
    CallSite,
    ImportTarget,
    Scope,
    ScopeKind,
    SymbolTable,
)
from torchlint.facts.tree import NODE_FIELDS

_LEAVES = frozenset({ast.Name, ast.Constant, ast.Pass, ast.Break, ast.Continue, ast.Load, ast.Store, ast.Del})


def bind_names(tree: ast.Module) -> SymbolTable:
    """Read a whole module."""
    return _Binder(tree).symbols


class _Binder:
    def __init__(self, tree: ast.Module) -> None:
        module = Scope(0, None, ScopeKind.MODULE, "<module>", "", tree)
        self.symbols = SymbolTable([module])
        self.statement: ast.stmt | None = None
        self.block(tree.body, 0)

    def block(self, statements: Iterable[ast.stmt], scope: int) -> None:
        symbols, outer = self.symbols, self.statement
        for statement in statements:
            symbols.parents[statement] = outer
            symbols.scope_of[statement] = scope
            self.statement = statement
            self.visit(statement, scope)
        self.statement = outer

    def visit(self, node: ast.AST, scope: int) -> None:
        handler = self._handlers.get(node.__class__)
        if handler is not None:
            handler(self, node, scope)
        else:
            self._children(node, scope)

    def _children(self, node: ast.AST, scope: int) -> None:
        for name in NODE_FIELDS[node.__class__]:
            value = getattr(node, name, None)
            if value.__class__ is list:
                if value and isinstance(value[0], ast.stmt):
                    self.block(value, scope)
                else:
                    self._all(value, scope)
            elif isinstance(value, ast.AST) and value.__class__ not in _LEAVES:
                self.visit(value, scope)

    def _all(self, nodes: Sequence[ast.AST | None], scope: int) -> None:
        for node in nodes:
            if isinstance(node, ast.AST) and node.__class__ not in _LEAVES:
                self.visit(node, scope)

    # -- scopes -----------------------------------------------------------------------------------------------------

    def _open(self, node: ast.AST, scope: int, kind: ScopeKind, name: str) -> Scope:
        parent = self.symbols.scopes[scope]
        qualname = f"{parent.qualname}.{name}" if parent.qualname else name
        index = len(self.symbols.scopes)
        function = index if kind is ScopeKind.FUNCTION else parent.function
        owner = index if kind is ScopeKind.CLASS else parent.owner
        child = Scope(index, scope, kind, name, qualname, node, function, owner)
        self.symbols.scopes.append(child)
        parent.children.append(child.index)
        return child

    def _bind(self, name: str, scope: int, binding: Binding) -> None:
        owner = self.symbols.scopes[scope]
        home = owner.outer.get(name, scope)
        binding.statement = self.statement
        self.symbols.scopes[home].bindings.setdefault(name, []).append(binding)

    def _define(self, node: Function | ast.ClassDef, scope: int, kind: ScopeKind) -> Scope:
        child = self._open(node, scope, kind, node.name)
        self._bind(node.name, scope, Binding(BindingKind.DEFINITION, scope, definition=child.index))
        self._all(node.decorator_list, scope)
        for parameter in getattr(node, "type_params", []):
            self._bind(parameter.name, child.index, Binding(BindingKind.OPAQUE, child.index))
        return child

    def _function(self, node: Function, scope: int) -> None:
        child = self._define(node, scope, ScopeKind.FUNCTION)
        self._parameters(node.args, scope, child.index)
        self._all([node.returns], scope)
        self.block(node.body, child.index)

    def _class(self, node: ast.ClassDef, scope: int) -> None:
        child = self._define(node, scope, ScopeKind.CLASS)
        self._all([*node.bases, *node.keywords], scope)
        self.block(node.body, child.index)

    def _lambda(self, node: ast.Lambda, scope: int) -> None:
        child = self._open(node, scope, ScopeKind.LAMBDA, "<lambda>")
        self._parameters(node.args, scope, child.index)
        self._all([node.body], child.index)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: int) -> None:
        child = self._open(node, scope, ScopeKind.COMPREHENSION, "<comprehension>")
        elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._all(elements, child.index)
        for generator in node.generators:
            self._target(generator.target, child.index, BindingKind.ELEMENT, generator.iter)
            self._all([generator.target, generator.iter, *generator.ifs], child.index)

    def _parameters(self, arguments: ast.arguments, outer: int, inner: int) -> None:
        positional = [*arguments.posonlyargs, *arguments.args]
        missing: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
        pairs = list(zip(positional, [*missing, *arguments.defaults], strict=True))
        if arguments.vararg:
            pairs.append((arguments.vararg, None))
        pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if arguments.kwarg:
            pairs.append((arguments.kwarg, None))
        variadic = (arguments.vararg, arguments.kwarg)
        for argument, default in pairs:
            annotation = None if argument in variadic else argument.annotation
            kind = BindingKind.OPAQUE if argument in variadic else BindingKind.PARAMETER
            self._bind(argument.arg, inner, Binding(kind, outer, default, annotation=annotation))
            self._all([argument.annotation, default], outer)

    # -- expressions ------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, scope: int) -> None:
        assert self.statement is not None
        self.symbols.calls.append(CallSite(node, scope, self.statement))
        self._all([node.func], scope)
        self._all([*node.args, *node.keywords], scope)

    def _walrus(self, node: ast.NamedExpr, scope: int) -> None:
        home = scope
        while self.symbols.scopes[home].kind is ScopeKind.COMPREHENSION:
            parent = self.symbols.scopes[home].parent
            assert parent is not None
            home = parent
        self._bind(node.target.id, home, Binding(BindingKind.ASSIGN, scope, node.value))
        self._all([node.value], scope)

    # -- statements -------------------------------------------------------------------------------------------------

    def _target(self, target: ast.expr, scope: int, kind: BindingKind, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self._bind(target.id, scope, Binding(kind, scope, value))
        elif isinstance(target, (ast.Attribute, ast.Subscript)):
            if kind is BindingKind.ASSIGN:
                assert self.statement is not None
                self.symbols.assignments.append(Assignment(target, value, scope, self.statement))
        elif isinstance(target, ast.Starred):
            self._target(target.value, scope, BindingKind.OPAQUE, None)
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else ()
            paired = kind is BindingKind.ASSIGN and len(parts) == len(target.elts)
            for index, element in enumerate(target.elts):
                if paired and not isinstance(element, ast.Starred):
                    self._target(element, scope, kind, parts[index])
                elif kind is BindingKind.ASSIGN and isinstance(element, ast.Name):
                    self._bind(element.id, scope, Binding(BindingKind.PART, scope, value, position=index))
                else:
                    self._target(element, scope, kind if kind is BindingKind.ELEMENT else BindingKind.OPAQUE, None)

    def _assign(self, node: ast.Assign, scope: int) -> None:
        self.symbols.assign_sites.append(AssignSite(node, scope))
        for target in node.targets:
            self._target(target, scope, BindingKind.ASSIGN, node.value)
        self._all([*node.targets, node.value], scope)

    def _annotated(self, node: ast.AnnAssign, scope: int) -> None:
        self.symbols.assign_sites.append(AssignSite(node, scope))
        if isinstance(node.target, ast.Name):
            kind = BindingKind.ASSIGN if node.value is not None else BindingKind.OPAQUE
            self._bind(node.target.id, scope, Binding(kind, scope, node.value, annotation=node.annotation))
        elif node.value is not None:
            self._target(node.target, scope, BindingKind.ASSIGN, node.value)
        self._all([node.target, node.annotation, node.value], scope)

    def _augmented(self, node: ast.AugAssign, scope: int) -> None:
        self.symbols.assign_sites.append(AssignSite(node, scope))
        if isinstance(node.target, ast.Name):
            self._bind(node.target.id, scope, Binding(BindingKind.OPAQUE, scope, node.value))
        self._all([node.target, node.value], scope)

    def _for(self, node: ast.For | ast.AsyncFor, scope: int) -> None:
        self._target(node.target, scope, BindingKind.ELEMENT, node.iter)
        self._children(node, scope)

    def _with_item(self, node: ast.withitem, scope: int) -> None:
        self._all([node.context_expr], scope)
        if node.optional_vars is not None:
            is_whole = isinstance(node.optional_vars, ast.Name)
            kind, value = (BindingKind.ENTERED, node.context_expr) if is_whole else (BindingKind.OPAQUE, None)
            self._target(node.optional_vars, scope, kind, value)
            self._all([node.optional_vars], scope)

    def _named(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar, scope: int) -> None:
        if node.name:
            self._bind(node.name, scope, Binding(BindingKind.OPAQUE, scope))
        self._children(node, scope)

    def _import(self, node: ast.Import, scope: int) -> None:
        for alias in node.names:
            full = ImportTarget(alias.name, None, 0)
            self.symbols.imports.append((full, scope))
            top = alias.name.partition(".")[0]
            target = full if alias.asname else ImportTarget(top, None, 0)
            self._bind(alias.asname or top, scope, Binding(BindingKind.IMPORT, scope, target=target))

    def _import_from(self, node: ast.ImportFrom, scope: int) -> None:
        for alias in node.names:
            target = ImportTarget(node.module or "", alias.name, node.level)
            self.symbols.imports.append((target, scope))
            if alias.name == "*":
                self.symbols.scopes[scope].stars.append(target)
            else:
                self._bind(alias.asname or alias.name, scope, Binding(BindingKind.IMPORT, scope, target=target))

    def _outer_names(self, node: ast.Global | ast.Nonlocal, scope: int) -> None:
        scopes = self.symbols.scopes
        for name in node.names:
            home: int | None = 0
            if isinstance(node, ast.Nonlocal):
                home = scopes[scope].parent
                while home and (scopes[home].kind is ScopeKind.CLASS or name not in scopes[home].bindings):
                    home = scopes[home].parent
            scopes[scope].outer[name] = home or 0

    _handlers: ClassVar[dict[type[ast.AST], Callable[[_Binder, Any, int], None]]] = {
        **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef), _function),
        ast.ClassDef: _class,
        ast.Lambda: _lambda,
        **dict.fromkeys((ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp), _comprehension),
        ast.Call: _call,
        ast.Assign: _assign,
        ast.AnnAssign: _annotated,
        ast.AugAssign: _augmented,
        ast.NamedExpr: _walrus,
        **dict.fromkeys((ast.For, ast.AsyncFor), _for),
        ast.withitem: _with_item,
        ast.Import: _import,
        ast.ImportFrom: _import_from,
        **dict.fromkeys((ast.Global, ast.Nonlocal), _outer_names),
        **dict.fromkeys((ast.ExceptHandler, ast.MatchAs, ast.MatchStar), _named),
    }
