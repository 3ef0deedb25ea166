"""Configurations that a file loads from YAML: which files they are, by paths that code spells, and what has them."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable, Mapping

import msgspec

from torchlint.diagnostics import Location
from torchlint.facts.calls import arguments_for, function_named, known_functions
from torchlint.facts.definitions import step_back
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.containment import is_recorded
from torchlint.facts.flow.values import Definition, Value
from torchlint.facts.functions import positional_parameters
from torchlint.facts.notation import is_of_project, symbol_of
from torchlint.facts.options.declared import option_defaults
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import Binding, BindingKind, CallSite, Scope, ScopeKind
from torchlint.facts.tree import is_method_call, last_word
from torchlint.facts.values import argument_of

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

    def of(self, expression: ast.expr | None, scope: int, depth: int = 8) -> frozenset[str]:
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
            if expression.attr == "parent":
                return frozenset(posixpath.dirname(path) for path in self.of(expression.value, scope, depth - 1))
            self.holders[expression] = None  # an option: `args.config`
            defaults = option_defaults(self.facts, expression.attr)
            return frozenset(path for path in defaults if isinstance(path, str))
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

    def _call(self, call: ast.Call, scope: int, depth: int) -> frozenset[str]:
        name = self.facts.names(call.func, scope).only
        if name == "os.path.dirname" and call.args:
            return frozenset(posixpath.dirname(path) for path in self.of(call.args[0], scope, depth - 1))
        if name == "os.path.join" or (name in _SAME and len(call.args) > 1):
            return self._joined(call.args, scope, depth)
        if name in _SAME | _OPENING and call.args:
            return self.of(call.args[0], scope, depth - 1)
        return self.of(call.func.value, scope, depth - 1) if is_method_call(call, *_SAME_BY_METHOD) else frozenset()

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
        for above, below in tree.ancestors(read):
            if not isinstance(above, ast.Call | ast.Attribute | ast.keyword):
                break
            if isinstance(above, ast.Call) and above.func is not below:
                scope = tree.scope_of(above)
                names = facts.names(above.func, scope).names
                if not names & (_SAME | _OPENING) and not any(name.startswith("os.path.") for name in names):
                    is_known = names & loaders or known_functions(facts, above.func, scope) or is_recorded(facts, read)
                    return not is_known
        return False


_HYDRA = "hydra.main"
_LOADERS = frozenset(
    {
        *("yaml.safe_load", "yaml.load", "yaml.full_load", "yaml.unsafe_load", "omegaconf.OmegaConf.load"),
        "ruamel.yaml.YAML().load",
    }
)
_WORDS = frozenset(name.rpartition(".")[2] for name in (*_LOADERS, _HYDRA))
_OWN_LOADER = re.compile(r"conf|cfg|ya?ml|setting|param|opt", re.IGNORECASE)
"""In the name of a function of the project that may load one."""
_GIVEN = "the given file"
_NAMING = ("yaml", "yml", "omegaconf", "hydra")
"""Without one of these words a text loads no configuration: neither by a library nor by the name of a file."""


class Loader(msgspec.Struct, frozen=True):
    """A function of another file, and where it takes the path."""

    symbol: str
    parameter: int | str


class Configuration(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One call that loads a configuration."""

    location: Location
    symbol: str
    """What runs the call."""
    paths: frozenset[str]
    """The files it may load."""
    is_beside: bool
    """Whether paths are relative to the file of the code, and not to the working folder."""
    loader: Loader | None
    """The function of another file that loads it; None where the call itself loads."""


class ConfiguredValue(msgspec.Struct, frozen=True, array_like=True, gc=False, tag=True):
    """An entry of a YAML or JSON file."""

    paths: tuple[str, ...]
    """The files it may stand in."""
    keys: tuple[str, ...]


def configurations(facts: FileFacts) -> dict[ast.Call, Configuration]:
    """The configurations that a file loads, by the call. To be asked by `facts.cached`."""
    found: dict[ast.Call, Configuration] = {}
    if not facts.source.mentions(*_NAMING):
        return found
    for site in facts.symbols.calls:
        call, word = site.node, last_word(site.node.func)
        # Names are asked last: every call of every file comes by. A bare name may be a loader under another name.
        if word not in _WORDS and not isinstance(call.func, ast.Name) and not _OWN_LOADER.search(word):
            continue
        name, symbol = facts.names(call.func, site.scope).only or "", facts.symbol_of(site)
        loader: Loader | None = None
        if name == _HYDRA:
            command = _command(facts, site)
            symbol, paths = command.qualname if command else "", _of_hydra(call)
        elif name in _LOADERS:
            paths = _literal_paths(facts, _given_file(call), site.scope, _LOADERS)
        else:
            loader = _own_loader(facts, call, name)
            given = None if loader is None else call.args[0] if call.args else call.keywords[0].value
            written = _literal_paths(facts, given, site.scope, _LOADERS | {name})
            paths = frozenset(path for path in written if path.endswith((".yaml", ".yml")))
        if paths:
            found[call] = Configuration(facts.locate(call), symbol, paths, name == _HYDRA, loader)
    return found


def loaded_values(facts: FileFacts, call: ast.Call) -> list[Value]:
    """The places that have the configuration which a call loads, before it goes anywhere."""
    site = next(one for one in facts.symbols.calls if one.node is call)
    if facts.names(call.func, site.scope).only != _HYDRA:
        return [Value(call)]
    command = _command(facts, site)
    first = [] if command is None else positional_parameters(command)[:1]
    return [Value(read) for name in first for read in facts.index.reads(command.index, name)]  # type: ignore[union-attr]


def _given_file(call: ast.Call) -> ast.expr | None:
    """What a loader gets: of PyYAML `stream`, of OmegaConf `file_`."""
    return argument_of(call, "stream", 0) or argument_of(call, "file_", 0)


def _own_loader(facts: FileFacts, call: ast.Call, name: str) -> Loader | None:
    """A function of another file of the project, and its first argument."""
    path, qualname = symbol_of(name)
    if not is_of_project(name) or path == facts.path or not _OWN_LOADER.search(qualname):
        return None
    parameter = 0 if call.args else next((keyword.arg for keyword in call.keywords), None)
    return None if parameter is None else Loader(name, parameter)


def _literal_paths(facts: FileFacts, given: ast.expr | None, scope: int, loaders: frozenset[str]) -> frozenset[str]:
    """The files that a loader may be given; none where code of others is given their path as well."""
    paths = FilePaths(facts)
    found = paths.of(given, scope)
    return frozenset() if paths.are_given_on(loaders) else found


def values_in_loader(facts: FileFacts, loader: Loader) -> list[Value]:
    """The calls in a function that load the file which it is given for another file; none where they load others."""
    target = function_named(facts, loader.symbol)
    parameter = None if target is None else target.parameter_at(loader.parameter)
    if target is None or parameter is None:
        return []
    function = target.function.index
    calls = facts.calls_in(function)
    sites = [site for site in calls if facts.names(site.node.func, site.scope).only in _LOADERS]
    paths = FilePaths(facts, {(function, parameter): _GIVEN})
    is_given = all(paths.of(_given_file(site.node), site.scope) == {_GIVEN} for site in sites)
    return [Value(site.node) for site in sites] if is_given else []


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
