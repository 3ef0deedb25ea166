"""Fields of a dataclass of options: whether any code reads one of them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.flow.containment import objects_in
from torchlint.facts.flow.tracker import Flow, follow
from torchlint.facts.flow.values import Value
from torchlint.facts.functions import own_scope
from torchlint.facts.options.settings import OptionsAnalysis
from torchlint.facts.scopes import Scope, ScopeKind
from torchlint.facts.tree import last_word

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_MAKERS = frozenset({"tyro.cli", "simple_parsing.parse", "pyrallis.parse", "draccus.parse"})
"""Functions that make an object of the class they are given, from the command line."""


def dataclass_of(facts: FileFacts, field: ast.AnnAssign) -> Scope | None:
    """The dataclass without bases, at the top of the file, that a field belongs to."""
    if {"InitVar", "ClassVar"} & {last_word(one) for one in ast.walk(field.annotation)}:
        return None  # no field: `__post_init__` gets it, or the class keeps it
    owner = facts.symbols.scopes[facts.symbols.scope_of[field]]
    node = owner.node
    if owner.kind is not ScopeKind.CLASS or owner.parent != 0 or not isinstance(node, ast.ClassDef) or node.bases:
        return None
    decorators = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    is_dataclass = len(decorators) == 1 and facts.names(decorators[0], 0).only == "dataclasses.dataclass"
    is_only_one = own_scope(facts, f"{facts.path}::{owner.qualname}") == owner.index
    return owner if is_dataclass and is_only_one else None


def field_flow(facts: FileFacts, owner: Scope, name: str) -> Flow | None:
    """Where the objects of a dataclass go, to tell who reads a field; None where not all of them are seen."""
    made, held = [], [Value(read) for read in objects_in(facts, owner)]
    for read in facts.index.reads(0, owner.name):
        parent = facts.index.parents[read]
        if isinstance(parent, ast.Call) and (parent.func is read or _called(facts, parent) in _MAKERS):
            made.append(Value(parent))
        elif isinstance(parent, ast.arg):
            function = facts.index.parents[facts.index.parents[parent]]
            scopes = (one for one in facts.symbols.scopes if one.node is function)
            held += [Value(one) for scope in scopes for one in facts.index.reads(scope.index, parent.arg)]
        elif not _is_annotation(parent, read):
            return None
    return follow(OptionsAnalysis(facts, name), *made, *held) if made else None


def _called(facts: FileFacts, call: ast.Call) -> str | None:
    return facts.names(call.func, facts.index.scope_of(call)).only


def _is_annotation(parent: ast.AST, read: ast.expr) -> bool:
    if isinstance(parent, ast.AnnAssign):
        return parent.annotation is read
    return isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef) and parent.returns is read
