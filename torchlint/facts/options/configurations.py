"""Configurations that a file loads from YAML: which files they are."""

from __future__ import annotations

import ast
import posixpath
import re
from typing import TYPE_CHECKING

import msgspec

from torchlint.facts.definitions import only_value
from torchlint.facts.ends import Through
from torchlint.facts.options.file_paths import FilePaths
from torchlint.facts.scopes import CallSite
from torchlint.facts.tree import last_word
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_HYDRA = "hydra.main"
_LOADERS = frozenset(
    {
        *("yaml.safe_load", "yaml.load", "yaml.full_load", "yaml.unsafe_load", "omegaconf.OmegaConf.load"),
        "ruamel.yaml.YAML().load",
    }
)
_OF_JSON = frozenset({"json.load", "json.loads"})
_WORDS = frozenset(name.rpartition(".")[2] for name in (*_LOADERS, _HYDRA))
_OWN_LOADER = re.compile(r"conf|cfg|ya?ml|setting|param|opt", re.IGNORECASE)
"""In the name of a function of the project that may load one."""
_SUFFIXES = (".yaml", ".yml")


_NAMING = ("yaml", "yml", "omegaconf", "hydra")
"""Without one of these words a text loads no configuration: neither by a library nor by the name of a file."""


class Configuration(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What one call that loads a configuration may load."""

    paths: frozenset[str]
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


def configurations(facts: FileFacts) -> list[Configuration]:
    """The configurations that a file loads."""
    found: list[Configuration] = []
    if not facts.source.mentions(*_NAMING):
        return found
    for site in facts.symbols.calls:
        function = site.node.func
        word = last_word(function)
        # Names are asked last: every call of every file comes by. A bare name may be a loader under another name.
        if word in _WORDS or isinstance(function, ast.Name) or _OWN_LOADER.search(word):
            name = facts.names(function, site.scope).only or ""
            paths = _of_hydra(site.node) if name == _HYDRA else _loaded(facts, site, name)
            found += [Configuration(paths, name == _HYDRA)] if paths else []
    return found


def _loaded(facts: FileFacts, site: CallSite, name: str) -> frozenset[str]:
    """The files that a call loads: by a library, or by a function of another file of the project."""
    if name in _LOADERS:
        return _literal_paths(facts, _given_file(site.node), site.scope, _LOADERS)
    path, separator, qualname = name.partition("::")
    if not separator or path == facts.path or not _OWN_LOADER.search(qualname):
        return frozenset()
    given = next(iter((*site.node.args, *(keyword.value for keyword in site.node.keywords))), None)
    paths = _literal_paths(facts, given, site.scope, _LOADERS | {name})
    return frozenset(one for one in paths if one.endswith(_SUFFIXES))


def _given_file(call: ast.Call) -> ast.expr | None:
    """What a loader gets: of PyYAML `stream`, of OmegaConf `file_`, of json `fp`."""
    return argument_of(call, "stream", 0) or argument_of(call, "file_", 0) or argument_of(call, "fp", 0)


def _literal_paths(facts: FileFacts, given: ast.expr | None, scope: int, loaders: frozenset[str]) -> frozenset[str]:
    """The files that a loader may be given; none where code of others is given their path as well."""
    paths = FilePaths(facts)
    found = paths.of(given, scope)
    return frozenset() if paths.are_given_on(loaders) else found


def _of_hydra(decorator: ast.Call) -> frozenset[str]:
    """The primary configuration, as `hydra.main` finds it (hydra 1.3.2, main.py)."""
    folder = argument_of(decorator, "config_path", 0) or ast.Constant(".")
    name = argument_of(decorator, "config_name", 1)
    texts = [one.value for one in (folder, name) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if len(texts) < 2 or "://" in texts[0]:
        return frozenset()
    return frozenset({posixpath.join(texts[0], texts[1].removesuffix(".yaml") + ".yaml")})
