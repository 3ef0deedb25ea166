"""Scopes and bindings of one file, as one pass over its syntax tree finds them."""

from __future__ import annotations

import ast
import enum

import msgspec
from msgspec import field


class ScopeKind(enum.Enum):
    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    LAMBDA = "lambda"
    COMPREHENSION = "comprehension"


class BindingKind(enum.Enum):
    IMPORT = "import"
    ASSIGN = "assign"
    DEFINITION = "definition"
    PARAMETER = "parameter"
    ELEMENT = "element"  # a loop target: one element of `value`
    PART = "part"  # unpacked from `value`, at `position`
    ENTERED = "entered"  # `with value as name`
    OPAQUE = "opaque"  # bound, to something that is not followed (an augmented assignment, `except ... as`)


Variable = tuple[int, str]
"""A name and the scope that owns it; an attribute of `self`, and the scope of its class."""


class Binding(msgspec.Struct):
    """One way a name gets its value."""

    kind: BindingKind
    scope: int
    """The scope in which `value` is evaluated."""
    value: ast.expr | None = None
    target: ImportTarget | None = None
    definition: int | None = None
    """The scope that a `def` or `class` opens."""
    annotation: ast.expr | None = None
    position: int = 0
    """Of a part: its index in what is unpacked."""
    statement: ast.stmt | None = None
    """The statement that binds; for a parameter, its function."""

    @property
    def is_unset(self) -> bool:
        """Whether it stands for "not yet", which is never what the code goes on to use: `net = None`."""
        is_none = isinstance(self.value, ast.Constant) and self.value.value is None
        return self.kind is BindingKind.ASSIGN and is_none


class ImportTarget(msgspec.Struct, frozen=True):
    """`from <level dots><module> import <name>`; `name` is None for a plain import of `module`."""

    module: str
    name: str | None
    level: int


class Scope(msgspec.Struct, eq=False):
    index: int
    parent: int | None
    kind: ScopeKind
    name: str
    qualname: str
    """Dotted path inside the module; empty for the module itself."""
    node: ast.AST
    function: int | None = None
    """The innermost function around it, itself included."""
    owner: int | None = None
    """The innermost class, likewise."""
    children: list[int] = field(default_factory=list)
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    stars: list[ImportTarget] = field(default_factory=list)
    outer: dict[str, int] = field(default_factory=dict)
    """Names declared `global` or `nonlocal`, and the scope that owns them."""


class Site(msgspec.Struct, frozen=True):
    """A node, and where it stands. An `ast` node by itself does not tell."""

    node: ast.expr | ast.stmt
    scope: int
    statement: ast.stmt


class AssignSite(msgspec.Struct, frozen=True):
    """An assignment statement: plain, annotated or augmented."""

    node: ast.Assign | ast.AnnAssign | ast.AugAssign
    scope: int


class CallSite(msgspec.Struct, frozen=True):
    node: ast.Call
    scope: int
    statement: ast.stmt

    @property
    def is_alone(self) -> bool:
        """Whether the call is a statement of its own, so that nothing gets its result."""
        return isinstance(self.statement, ast.Expr) and self.statement.value is self.node


class SymbolTable(msgspec.Struct):
    """What one pass over a tree found, in source order."""

    scopes: list[Scope]
    calls: list[CallSite] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    imports: list[tuple[ImportTarget, int]] = field(default_factory=list)
    """Every import with the scope it stands in."""
    parents: dict[ast.stmt, ast.stmt | None] = field(default_factory=dict)
    """The statement each statement stands in."""
    scope_of: dict[ast.stmt, int] = field(default_factory=dict)
    """The scope each statement stands in."""
    assign_sites: list[AssignSite] = field(default_factory=list)


class Assignment(msgspec.Struct, frozen=True):
    """A value stored in an attribute or subscript (`torch.backends.cudnn.benchmark = True`)."""

    target: ast.Attribute | ast.Subscript
    value: ast.expr | None
    scope: int
    statement: ast.stmt
