"""Fields of a dataclass of options: whether any code reads one of them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.functions import own_scope
from torchlint.facts.options.escapes import Carrier
from torchlint.facts.options.parsed import OptionFollower, Role
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
    owner = facts.reading.scopes[facts.reading.scope_of[field]]
    node = owner.node
    if owner.kind is not ScopeKind.CLASS or owner.parent != 0 or not isinstance(node, ast.ClassDef) or node.bases:
        return None
    decorators = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    is_dataclass = len(decorators) == 1 and facts.names(decorators[0], 0).only == "dataclasses.dataclass"
    is_only_one = own_scope(facts, f"{facts.path}::{owner.qualname}") == owner.index
    return owner if is_dataclass and is_only_one else None


def is_field_unread(facts: FileFacts, owner: Scope, name: str) -> bool:
    """Whether all objects of a dataclass are seen, there are some, and no code reads the field."""
    follower = OptionFollower(facts, option=name)
    made, held = [], [Carrier(read, Role.OPTIONS) for read in _selves(follower, owner)]
    for read in follower.tree.reads(0, owner.name):
        parent = follower.tree.parents[read]
        if isinstance(parent, ast.Call) and _makes(facts, follower, parent, read):
            made.append(Carrier(parent, Role.OPTIONS))
        elif isinstance(parent, ast.arg):
            function = follower.tree.parents[follower.tree.parents[parent]]
            held += [Carrier(one, Role.OPTIONS) for one in _parameter_reads(follower, function, parent.arg)]
        elif not _is_annotation(parent, read):
            return False
    return bool(made) and follower.keeps([*made, *held])


def _makes(facts: FileFacts, follower: OptionFollower, call: ast.Call, read: ast.expr) -> bool:
    return call.func is read or facts.names(call.func, follower.tree.scope_of(call)).only in _MAKERS


def _is_annotation(parent: ast.AST, read: ast.expr) -> bool:
    if isinstance(parent, ast.AnnAssign):
        return parent.annotation is read
    return isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef) and parent.returns is read


def _selves(follower: OptionFollower, owner: Scope) -> list[ast.Name]:
    """The reads of the first parameter of each method."""
    found = []
    for index in owner.children:
        node = follower.facts.reading.scopes[index].node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = [*node.args.posonlyargs, *node.args.args][:1]
            found += [read for one in first for read in follower.tree.reads(index, one.arg)]
    return found


def _parameter_reads(follower: OptionFollower, function: ast.AST, name: str) -> list[ast.Name]:
    scopes = follower.facts.reading.scopes
    index = next((one.index for one in scopes if one.node is function), None)
    return [] if index is None else follower.tree.reads(index, name)
