"""Configurations that a file loads from YAML: which files they are, by paths that code spells, and what has them."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Callable, Iterable
from itertools import chain, islice, product

import msgspec

from torchlint.diagnostics import Location
from torchlint.facts.calls import arguments_for, function_named, known_functions
from torchlint.facts.definitions import step_back
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.containment import is_recorded
from torchlint.facts.flow.values import Definition, Value
from torchlint.facts.functions import positional_parameters
from torchlint.facts.memoizing import followed
from torchlint.facts.notation import is_of_project, symbol_of
from torchlint.facts.options.declared import option_defaults
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import Binding, BindingKind, CallSite, Scope, ScopeKind
from torchlint.facts.tree import is_method_call, last_word
from torchlint.facts.values import argument_of

_MOST = 8
"""Paths: more than these are a table of files, not the file of a program."""
_LONGEST = 4096
"""Characters of a path: `a = join(b, b)` doubles it with each name."""
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
    """What a file may be called. The folder of the code and the working folder are both the empty path."""

    paths: frozenset[str] = frozenset()
    holders: frozenset[ast.Name | ast.Attribute] = frozenset()
    """The names and options that the paths came through."""

    def moved(self, change: Callable[[str], str]) -> FilePaths:
        return FilePaths(frozenset(map(change, self.paths)), self.holders)


_NOWHERE = FilePaths()


@followed(otherwise=_NOWHERE)
def paths_of(
    facts: FileFacts, expression: ast.expr | None, scope: int, assumed: tuple[int, str] | None = None
) -> FilePaths:
    """The paths that an expression is, or that what it opens was opened from; none where none is known.

    `assumed` is a parameter, by its function's scope and name, that is taken to be the file which others give.
    """
    if isinstance(expression, ast.Constant):
        return FilePaths(frozenset({expression.value})) if isinstance(expression.value, str) else _NOWHERE
    if isinstance(expression, (ast.IfExp, ast.BoolOp, ast.NamedExpr)):
        choices = step_back(facts, Definition(expression, scope)) or ()
        return _any_of([paths_of(facts, one.node, scope, assumed) for one in choices if isinstance(one, Definition)])
    if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Div):
        return _joined([paths_of(facts, one, scope, assumed) for one in (expression.left, expression.right)])
    if isinstance(expression, ast.Name):
        return _of_name(facts, expression, scope, assumed)
    if isinstance(expression, ast.Attribute):
        if expression.attr == "parent":
            return paths_of(facts, expression.value, scope, assumed).moved(posixpath.dirname)
        defaults = option_defaults(facts, expression.attr)  # an option: `args.config`
        return FilePaths(frozenset(path for path in defaults if isinstance(path, str)), frozenset({expression}))
    return _of_call(facts, expression, scope, assumed) if isinstance(expression, ast.Call) else _NOWHERE


def _made_of(parts: list[FilePaths], found: Iterable[str]) -> FilePaths:
    """What parts give together; nothing where that is many."""
    paths, holders = frozenset(found), frozenset(chain.from_iterable(one.holders for one in parts))
    return FilePaths(paths if len(paths) <= _MOST else frozenset(), holders)


def _any_of(options: list[FilePaths]) -> FilePaths:
    return _made_of(options, chain.from_iterable(one.paths for one in options))


def _joined(parts: list[FilePaths]) -> FilePaths:
    ways = islice(product(*(one.paths for one in parts)), _MOST + 1)
    return _made_of(parts, (posixpath.join("", *way) for way in ways if sum(map(len, way)) < _LONGEST))


def _of_call(facts: FileFacts, call: ast.Call, scope: int, assumed: tuple[int, str] | None) -> FilePaths:
    name = facts.names(call.func, scope).only
    if name == "os.path.join" or (name in _SAME and len(call.args) > 1):
        return _joined([paths_of(facts, one, scope, assumed) for one in call.args])
    if name == "os.path.dirname" and call.args:
        return paths_of(facts, call.args[0], scope, assumed).moved(posixpath.dirname)
    if name in _SAME | _OPENING and call.args:
        return paths_of(facts, call.args[0], scope, assumed)
    return paths_of(facts, call.func.value, scope, assumed) if is_method_call(call, *_SAME_BY_METHOD) else _NOWHERE


def _of_name(facts: FileFacts, name: ast.Name, scope: int, assumed: tuple[int, str] | None) -> FilePaths:
    owner = facts.resolver.owner(name.id, scope)
    if owner is None:
        return FilePaths(frozenset({""})) if name.id == "__file__" else _NOWHERE
    bound = reaching(facts, name.id, scope, name)
    opened = [paths_of(facts, one.value, one.scope, assumed) for one in bound if one.kind is BindingKind.ENTERED]
    if opened:
        return _any_of(opened)
    found = [_bound(facts, owner, name.id, one, assumed) for one in owner.bindings[name.id]]
    return _any_of([*found, FilePaths(holders=frozenset({name}))])


def _bound(facts: FileFacts, owner: Scope, name: str, binding: Binding, assumed: tuple[int, str] | None) -> FilePaths:
    if binding.kind is BindingKind.ASSIGN:
        return paths_of(facts, binding.value, binding.scope, assumed)
    if binding.kind is not BindingKind.PARAMETER or owner.kind is not ScopeKind.FUNCTION:
        return _NOWHERE
    if (owner.index, name) == assumed:
        return FilePaths(frozenset({_GIVEN}))
    given = [one for one in arguments_for(facts, name, owner.index) if one is not None]
    return _any_of([paths_of(facts, *one, assumed) for one in (*given, (binding.value, binding.scope))])


def _are_given_on(facts: FileFacts, found: FilePaths, loaders: frozenset[str]) -> bool:
    """Whether code of others gets one of the paths as well: it may load the file by itself."""
    tree, read = facts.index, list[ast.expr]()
    for holder in found.holders:
        if isinstance(holder, ast.Name):
            read += tree.reads_of(holder)
        else:
            read += [one for one in tree.attributes(holder.attr) if ast.unparse(one) == ast.unparse(holder)]
    return any(_is_given_on(facts, one, loaders) for one in read)


def _is_given_on(facts: FileFacts, read: ast.expr, loaders: frozenset[str]) -> bool:
    tree = facts.index
    for above, below in tree.ancestors(read):
        if not isinstance(above, (ast.Call, ast.Attribute, ast.keyword)):
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
    found = paths_of(facts, given, scope)
    return frozenset() if _are_given_on(facts, found, loaders) else found.paths


def values_in_loader(facts: FileFacts, loader: Loader) -> list[Value]:
    """The calls in a function that load the file which it is given for another file; none where they load others."""
    target = function_named(facts, loader.symbol)
    parameter = None if target is None else target.parameter_at(loader.parameter)
    if target is None or parameter is None:
        return []
    function = target.function.index
    calls = facts.calls_in(function)
    sites = [site for site in calls if facts.names(site.node.func, site.scope).only in _LOADERS]
    found = (paths_of(facts, _given_file(site.node), site.scope, (function, parameter)) for site in sites)
    is_given = all(one.paths == {_GIVEN} for one in found)
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
