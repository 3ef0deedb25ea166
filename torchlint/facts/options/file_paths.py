"""Which files an expression may name: paths as the code spells them, through names, parameters and options."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable, Mapping

import msgspec

from torchlint.facts.calls import arguments_for, called_functions
from torchlint.facts.definitions import step_back
from torchlint.facts.ends import Definition
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.recording import is_recorded
from torchlint.facts.options.declared import option_defaults
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import Binding, BindingKind, Scope, ScopeKind
from torchlint.facts.tree import method_called

_DEPTH = 8
_MOST = 8
"""Paths: more than these are a table of files, not the file of a program."""
_OPENING = frozenset({"builtins.open", "io.open", "codecs.open"})
_SAME = frozenset(
    {
        *("pathlib.Path", "pathlib.PurePath", "builtins.str", "os.fspath", "os.path.abspath", "os.path.realpath"),
        *("os.path.normpath", "os.path.expanduser", "hydra.utils.to_absolute_path"),
    }
)
_SAME_BY_METHOD = frozenset(
    {"open", "read", "read_text", "read_bytes", "resolve", "absolute", "as_posix", "expanduser"}
)


class FilePaths(msgspec.Struct, frozen=True):
    """Answers for one file. The folder of the code and the working folder are both the empty path."""

    facts: FileFacts
    assumed: Mapping[tuple[int, str], str] = msgspec.field(default_factory=dict)
    """What parameters, by their function's scope and name, are taken to be."""
    holders: dict[ast.Name | ast.Attribute, None] = msgspec.field(default_factory=dict)
    """The names and options that the paths came through."""

    def of(self, expression: ast.expr | None, scope: int, depth: int = _DEPTH) -> frozenset[str]:
        """The paths that an expression is, or that what it opens was opened from; empty where none is known."""
        if expression is None or depth <= 0:
            return frozenset()
        if isinstance(expression, ast.Constant):
            return frozenset({expression.value}) if isinstance(expression.value, str) else frozenset()
        if isinstance(expression, ast.IfExp | ast.BoolOp | ast.NamedExpr):
            choices = step_back(self.facts, Definition(expression, scope)) or ()
            return self._any(((one.node, scope) for one in choices if isinstance(one, Definition)), depth)
        if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Div):
            return self._joined([expression.left, expression.right], scope, depth)
        if isinstance(expression, ast.Name):
            return self._named(expression, scope, depth)
        if isinstance(expression, ast.Attribute):
            return self._attribute(expression, scope, depth)
        return self._call(expression, scope, depth) if isinstance(expression, ast.Call) else frozenset()

    def _any(self, expressions: Iterable[tuple[ast.expr | None, int]], depth: int) -> frozenset[str]:
        found = frozenset[str]().union(*(self.of(one, scope, depth - 1) for one, scope in expressions))
        return found if len(found) <= _MOST else frozenset()

    def _joined(self, parts: list[ast.expr], scope: int, depth: int) -> frozenset[str]:
        found = frozenset({""})
        for part in parts:
            below = self.of(part, scope, depth - 1)
            found = frozenset(posixpath.join(folder, path) for folder in found for path in below)
        return found if len(found) <= _MOST else frozenset()

    def _attribute(self, expression: ast.Attribute, scope: int, depth: int) -> frozenset[str]:
        """`path.parent`, or an option: `args.config`."""
        if expression.attr == "parent":
            return frozenset(posixpath.dirname(path) for path in self.of(expression.value, scope, depth - 1))
        self.holders[expression] = None
        defaults = option_defaults(self.facts, expression.attr)
        return frozenset(path for path in defaults if isinstance(path, str))

    def _call(self, call: ast.Call, scope: int, depth: int) -> frozenset[str]:
        name = self.facts.names(call.func, scope).only
        if name == "os.path.dirname" and call.args:
            return frozenset(posixpath.dirname(path) for path in self.of(call.args[0], scope, depth - 1))
        if name == "os.path.join" or (name in _SAME and len(call.args) > 1):
            return self._joined(call.args, scope, depth)
        if name in _SAME | _OPENING and call.args:
            return self.of(call.args[0], scope, depth - 1)
        method = method_called(call)
        is_same = method in _SAME_BY_METHOD and isinstance(call.func, ast.Attribute)
        return self.of(call.func.value, scope, depth - 1) if is_same else frozenset()  # type: ignore[attr-defined]

    def _named(self, name: ast.Name, scope: int, depth: int) -> frozenset[str]:
        facts = self.facts
        owner = facts.resolver.owner(name.id, scope)
        if owner is None:
            return frozenset({""}) if name.id == "__file__" else frozenset()
        bound = reaching(facts, name.id, scope, name)
        opened = [(one.value, one.scope) for one in bound if one.kind is BindingKind.ENTERED]
        if opened:
            return self._any(opened, depth)
        self.holders[name] = None
        found = [self._bound(owner, name.id, binding, depth) for binding in owner.bindings[name.id]]
        return frozenset[str]().union(*found)

    def _bound(self, owner: Scope, name: str, binding: Binding, depth: int) -> frozenset[str]:
        if binding.kind is BindingKind.ASSIGN:
            return self.of(binding.value, binding.scope, depth - 1)
        if binding.kind is not BindingKind.PARAMETER or owner.kind is not ScopeKind.FUNCTION:
            return frozenset()
        if (owner.index, name) in self.assumed:
            return frozenset({self.assumed[owner.index, name]})
        given = [one for one in arguments_for(self.facts, name, owner.index) if one is not None]
        return self._any([*given, (binding.value, binding.scope)], depth)

    def are_given_on(self, loaders: frozenset[str]) -> bool:
        """Whether code of others gets one of the paths as well: it may load the file by itself."""
        return any(self._is_given_on(read, loaders) for holder in self.holders for read in self._reads(holder))

    def _reads(self, holder: ast.Name | ast.Attribute) -> Iterable[ast.expr]:
        tree = self.facts.index
        if isinstance(holder, ast.Name):
            return tree.reads_of(holder)
        return [node for node in tree.attributes(holder.attr) if ast.unparse(node) == ast.unparse(holder)]

    def _is_given_on(self, read: ast.expr, loaders: frozenset[str]) -> bool:
        facts, tree = self.facts, self.facts.index
        below: ast.AST = read
        while isinstance(above := tree.parents[below], ast.Call | ast.Attribute | ast.keyword):
            if isinstance(above, ast.Call) and above.func is not below:
                scope = tree.scope_of(above)
                names = facts.names(above.func, scope).names
                if not names & (_SAME | _OPENING) and not any(name.startswith("os.path.") for name in names):
                    is_known = names & loaders or called_functions(facts, above, scope) or is_recorded(facts, read)
                    return not is_known
            below = above
        return False
