"""Configurations that a file loads from YAML: which files they are, by the paths as the code spells them."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from torchlint.diagnostics import Location
from torchlint.facts.calls import arguments_for, called_functions
from torchlint.facts.definitions import only_value, step_back
from torchlint.facts.ends import Definition, Through
from torchlint.facts.flow.recording import is_recorded
from torchlint.facts.flow.values import Value
from torchlint.facts.functions import positional_parameters
from torchlint.facts.options.declared import option_defaults
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import Binding, BindingKind, CallSite, Scope, ScopeKind
from torchlint.facts.tree import last_word, method_called
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

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
_HYDRA = "hydra.main"
_LOADERS = frozenset(
    {
        *("yaml.safe_load", "yaml.load", "yaml.full_load", "yaml.unsafe_load", "omegaconf.OmegaConf.load"),
        "ruamel.yaml.YAML().load",
    }
)
_OF_JSON = frozenset({"json.load", "json.loads"})
_WORDS = frozenset(name.rpartition(".")[2] for name in (*_LOADERS, _HYDRA))
_NAMING = ("yaml", "yml", "omegaconf", "hydra")
"""Without one of these words a text loads no configuration: neither by a library nor by the name of a file."""


class FilePaths(msgspec.Struct, frozen=True):
    """Answers for one file. The folder of the code and the working folder are both the empty path."""

    facts: FileFacts
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


class Configuration(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One call that loads a configuration."""

    location: Location
    symbol: str
    """What runs the call."""
    paths: frozenset[str]
    """The files it may load."""
    is_beside: bool
    """Whether paths are relative to the file of the code, and not to the working folder."""


class ConfiguredValue(msgspec.Struct, frozen=True, array_like=True, gc=False, tag=True):
    """An entry of a YAML or JSON file."""

    paths: tuple[str, ...]
    """The files it may stand in."""
    keys: tuple[str, ...]


def configured_value(
    facts: FileFacts, expression: ast.expr, scope: int, below: tuple[str, ...] = ()
) -> ConfiguredValue | None:
    """The entry that `yaml.safe_load(open("net.yaml"))["head"]["mode"]` reads, or one below it.

    Also through names and attributes.
    """
    keys = list(reversed(below))
    while isinstance(expression, ast.Subscript | ast.Attribute):
        key = expression.attr if isinstance(expression, ast.Attribute) else facts.value(expression.slice, scope).text
        if key is None:
            return None
        keys.append(key)
        expression = expression.value
        value, scope = only_value(facts, expression, scope, Through.RESULTS)
        if value is None:
            return None
        expression = value
    loaders = _LOADERS | _OF_JSON
    is_load = isinstance(expression, ast.Call) and facts.names(expression.func, scope).only in loaders
    if not isinstance(expression, ast.Call) or not is_load or not keys:
        return None
    paths = _literal_paths(facts, _given_file(expression), scope, loaders)
    return ConfiguredValue(tuple(sorted(paths)), tuple(reversed(keys)))


def configurations(facts: FileFacts) -> dict[ast.Call, Configuration]:
    """The configurations that a file loads, by the call. To be asked by `facts.cached`."""
    found: dict[ast.Call, Configuration] = {}
    if not facts.source.mentions(*_NAMING):
        return found
    for site in facts.symbols.calls:
        function = site.node.func
        word = last_word(function)
        # Names are asked last: every call of every file comes by. A bare name may be a loader under another name.
        if word in _WORDS or isinstance(function, ast.Name):
            configuration = _configuration(facts, site, facts.names(function, site.scope).only or "")
            if configuration is not None:
                found[site.node] = configuration
    return found


def _configuration(facts: FileFacts, site: CallSite, name: str) -> Configuration | None:
    call, symbol, paths = site.node, facts.symbol_of(site), frozenset[str]()
    if name == _HYDRA:
        command = _command(facts, site)
        symbol, paths = command.qualname if command else "", _of_hydra(call)
    elif name in _LOADERS:
        paths = _literal_paths(facts, _given_file(call), site.scope, _LOADERS)
    return Configuration(facts.locate(call), symbol, paths, name == _HYDRA) if paths else None


def loaded_values(facts: FileFacts, call: ast.Call) -> list[Value]:
    """The places that have the configuration which a call loads, before it goes anywhere."""
    site = next(one for one in facts.symbols.calls if one.node is call)
    if facts.names(call.func, site.scope).only != _HYDRA:
        return [Value(call)]
    command = _command(facts, site)
    first = [] if command is None else positional_parameters(command)[:1]
    return [Value(read) for name in first for read in facts.index.reads(command.index, name)]  # type: ignore[union-attr]


def _given_file(call: ast.Call) -> ast.expr | None:
    """What a loader gets: of PyYAML `stream`, of OmegaConf `file_`, of json `fp`."""
    return argument_of(call, "stream", 0) or argument_of(call, "file_", 0) or argument_of(call, "fp", 0)


def _literal_paths(facts: FileFacts, given: ast.expr | None, scope: int, loaders: frozenset[str]) -> frozenset[str]:
    """The files that a loader may be given; none where code of others is given their path as well."""
    paths = FilePaths(facts)
    found = paths.of(given, scope)
    return frozenset() if paths.are_given_on(loaders) else found


def _command(facts: FileFacts, site: CallSite) -> Scope | None:
    """The function that the decorator makes the command."""
    is_decorator = site.node in getattr(site.statement, "decorator_list", ())
    found = (one for one in facts.symbols.scopes if one.node is site.statement and one.kind is ScopeKind.FUNCTION)
    return next(found, None) if is_decorator else None


def _of_hydra(decorator: ast.Call) -> frozenset[str]:
    """The primary configuration, as `hydra.main` finds it (hydra 1.3.2, main.py)."""
    folder = argument_of(decorator, "config_path", 0) or ast.Constant(".")
    name = argument_of(decorator, "config_name", 1)
    texts = [one.value for one in (folder, name) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if len(texts) < 2 or "://" in texts[0]:
        return frozenset()
    return frozenset({posixpath.join(texts[0], texts[1].removesuffix(".yaml") + ".yaml")})
