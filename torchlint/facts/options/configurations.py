"""Configurations that a file loads from YAML: which files they are, and which of their keys any code uses."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from torchlint.diagnostics import Location
from torchlint.facts.options.escapes import Carrier, Follower
from torchlint.facts.options.file_paths import FilePaths
from torchlint.facts.options.parsed import Role
from torchlint.facts.options.recording import is_recorded
from torchlint.facts.scopes import CallSite, Scope, ScopeKind
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

Keys = tuple[str, ...]
"""The keys that lead to one value of a configuration."""

_HYDRA = "hydra.main"
LOADERS = frozenset(
    {
        *("yaml.safe_load", "yaml.load", "yaml.full_load", "yaml.unsafe_load", "omegaconf.OmegaConf.load"),
        *("ruamel.yaml.YAML().load", _HYDRA),
    }
)
_WORDS = frozenset(name.rpartition(".")[2] for name in LOADERS)
_OMEGACONF = "omegaconf.OmegaConf."
_SAME = frozenset(
    {
        *(f"{_OMEGACONF}{name}" for name in ("create", "merge", "unsafe_merge", "to_container", "to_object")),
        *("builtins.dict", "copy.copy", "copy.deepcopy", "types.SimpleNamespace", "argparse.Namespace"),
        *("easydict.EasyDict", "munch.munchify", "munch.Munch", "addict.Dict", "box.Box", "typing.cast"),
    }
)
"""What gives the same keys and values in another coat."""
_HARMLESS = frozenset(
    {
        *(f"{_OMEGACONF}{name}" for name in ("set_struct", "set_readonly", "resolve", "update", "is_config")),
        *("omegaconf.open_dict", "omegaconf.read_write"),
        *("builtins.len", "builtins.isinstance", "builtins.hasattr", "builtins.type", "builtins.bool"),
    }
)
_ENTRY_METHODS = frozenset({"get", "pop", "setdefault"})
_DEEPEST = 6
_MOST_STEPS = 5_000
"""Where names are bound to parts of themselves (`node = node["next"]`), the ways through them have no end."""


@dataclass(frozen=True, slots=True)
class Handed:
    """A configuration, or a section of it, that goes to a function or class of another file of the project."""

    function: str
    """Its full name."""
    parameter: int | str
    """The position of the argument, or its keyword."""
    keys: Keys


@dataclass(frozen=True, slots=True)
class Uses:
    """What becomes of a configuration in one file, where all of it is seen."""

    used: frozenset[Keys]
    """The keys whose values go anywhere; those below them may go there too."""
    handed: frozenset[Handed]
    attributes: frozenset[tuple[str, str]]
    """Classes that keep it, each with the attribute they keep it in."""
    is_shared: bool
    """Whether a file that imports this one can get at it by another way."""

    def take(self, keys: Keys) -> bool:
        """Whether the value of this key goes anywhere."""
        return any(keys[: len(used)] == used for used in self.used)

    def enter_section_of(self, keys: Keys) -> bool:
        """Whether the section that holds this key is one that the code looks into."""
        return any(used[: len(keys) - 1] == keys[:-1] for used in self.used)


@dataclass(frozen=True, slots=True)
class Configuration:
    """One call that loads a configuration."""

    location: Location
    symbol: str
    """What runs the call."""
    paths: frozenset[str]
    """The files it may load."""
    is_beside: bool
    """Whether paths are relative to the file of the code, and not to the working folder."""
    uses: Uses


@dataclass(slots=True)
class ConfigurationFollower(Follower):
    """Follows a configuration and its sections, and counts which of them get out of sight."""

    is_called_elsewhere: bool = False
    """Whether it follows what another file hands over: then results go there."""
    lost: set[Keys] = field(default_factory=set)
    handed: set[Handed] = field(default_factory=set)
    attributes: set[tuple[str, str]] = field(default_factory=set)
    steps: int = 0

    def uses(self, starts: Iterable[Carrier]) -> Uses | None:
        """What becomes of these; None where one gets out of sight as a whole."""
        if not self.keeps(starts):
            return None
        parts = frozenset(self.lost), frozenset(self.handed), frozenset(self.attributes)
        return Uses(*parts, is_shared=self.is_shared)

    def may_lose(self, found: Carrier) -> bool:
        self.lost.add(found.keys)
        return bool(found.keys) and self.steps < _MOST_STEPS

    def kept(self, found: Carrier, target: ast.Attribute) -> list[Carrier] | None:
        was_shared = self.is_shared
        reads = self.kept_on_self(found, target)
        if reads is not None:
            # Who has the object may read the attribute: that is asked of the whole project, by its name.
            self.is_shared = was_shared
            owner = self.facts.class_of(self.tree.scope_of(target))
            self.attributes.add((self.facts.reading.scopes[owner or 0].qualname, target.attr))
        return reads

    def returned(self, found: Carrier, statement: ast.Return) -> list[Carrier] | None:
        return None if self.is_called_elsewhere else Follower.returned(self, found, statement)

    def used(self, found: Carrier, parent: ast.AST) -> list[Carrier] | None:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            return None
        if isinstance(parent, ast.Attribute):
            return self._member(found, parent)
        if isinstance(parent, ast.Subscript) and parent.value is found.node:
            return self._entry(found, parent, parent.slice)
        if isinstance(parent, ast.BoolOp):
            return [found.at(parent)]
        if isinstance(parent, ast.Compare) and _asks_presence(found, parent):
            return []
        if isinstance(parent, ast.Call | ast.keyword):
            given = self._given_to(found, parent)
            if given is not None:
                return given
        return [] if is_recorded(self.facts, found.node) else None

    def _member(self, found: Carrier, member: ast.Attribute) -> list[Carrier] | None:
        call = self.tree.parents[member]
        if not isinstance(call, ast.Call) or call.func is not member:
            return self._entry(found, member, ast.Constant(member.attr))
        if member.attr in _ENTRY_METHODS:
            return self._entry(found, call, call.args[0] if call.args else None)
        if member.attr in ("keys", "update"):
            return []
        return [found.at(call)] if member.attr in ("copy", "to_dict", "toDict") else None

    def _entry(self, found: Carrier, node: ast.expr, key: ast.expr | None) -> list[Carrier] | None:
        """A value by its key, as long as that is a literal."""
        if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            return []
        name = key.value if isinstance(key, ast.Constant) else None
        if not isinstance(name, str) or name.startswith("__") or len(found.keys) == _DEEPEST:
            return None
        return [replace(found, node=node, keys=(*found.keys, name))]

    def _given_to(self, found: Carrier, parent: ast.Call | ast.keyword) -> list[Carrier] | None:
        """Into a function of a library whose part in the matter is known."""
        call = self.tree.parents[parent] if isinstance(parent, ast.keyword) else parent
        if not isinstance(call, ast.Call) or call.func is found.node:
            return None
        name = self.facts.names(call.func, self.tree.scope_of(call)).only or ""
        if name in _HARMLESS:
            return []
        if "::" in name and name.partition("::")[0] != self.facts.path:
            return self._hand_over(found, call, parent, name)
        if name in _SAME and getattr(parent, "arg", None) is None:
            return [found.at(call)]
        if name in ("builtins.getattr", f"{_OMEGACONF}select") and len(call.args) > 1 and call.args[0] is found.node:
            return self._selected(found, call, call.args[1])
        return None

    def _hand_over(
        self, found: Carrier, call: ast.Call, parent: ast.Call | ast.keyword, name: str
    ) -> list[Carrier] | None:
        parameter: int | str | None = parent.arg if isinstance(parent, ast.keyword) else call.args.index(found.node)
        if parameter is None or any(isinstance(one, ast.Starred) for one in call.args):
            return None
        self.handed.add(Handed(name, parameter, found.keys))
        return []

    def _selected(self, found: Carrier, call: ast.Call, key: ast.expr) -> list[Carrier] | None:
        """`OmegaConf.select(cfg, "optim.lr")`."""
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return None
        return [replace(found, node=call, keys=(*found.keys, *key.value.split(".")))]


def _asks_presence(found: Carrier, comparison: ast.Compare) -> bool:
    """`config is None`, `"seed" in config`."""
    if all(isinstance(operator, ast.Is | ast.IsNot) for operator in comparison.ops):
        return True
    is_inside = all(isinstance(operator, ast.In | ast.NotIn) for operator in comparison.ops)
    return is_inside and found.node is not comparison.left


def _loads(facts: FileFacts, site: CallSite) -> bool:
    """Whether a call loads YAML, or is the decorator by which Hydra does."""
    function = site.node.func
    word = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    # Names are asked last: this is put to every call of every file. A name may be bound to a loader under another name.
    is_likely = word in _WORDS or isinstance(function, ast.Name)
    return is_likely and facts.names(function, site.scope).only in LOADERS


def configurations(facts: FileFacts) -> tuple[Configuration, ...]:
    """The configurations that a file loads and keeps in sight, in order. To be asked by `facts.once`."""
    sites = [site for site in facts.reading.calls if _loads(facts, site)]
    return tuple(found for site in sites if (found := _configuration(facts, site)) is not None)


def _configuration(facts: FileFacts, site: CallSite) -> Configuration | None:
    follower = ConfigurationFollower(facts)
    call = site.node
    is_hydra = facts.names(call.func, site.scope).only == _HYDRA
    if is_hydra:
        command = _command(facts, site)
        symbol, paths = command.qualname if command else "", _of_hydra(call)
        starts = _first_parameter(follower, command) if command else []
    else:
        symbol, starts = facts.symbol_of(site), [Carrier(call, Role.OPTIONS)]
        paths = FilePaths(ConfigurationFollower(facts)).of(_given_file(call), site.scope)
    uses = follower.uses(starts) if paths else None
    return None if uses is None else Configuration(facts.locate(call), symbol, paths, is_hydra, uses)


def _given_file(call: ast.Call) -> ast.expr | None:
    """What a loader gets: of PyYAML `stream`, of OmegaConf `file_`."""
    return argument_of(call, "stream", 0) or argument_of(call, "file_", 0)


def uses_of_handed(facts: FileFacts, handed: Handed) -> Uses | None:
    """What becomes of a configuration in the file of the function that gets it; None where that is not seen."""
    follower = ConfigurationFollower(facts, is_called_elsewhere=True)
    function = follower.function_named(handed.function)
    name = None if function is None else _parameter(function, handed.parameter)
    if function is None or name is None:
        return None
    reads = follower.tree.reads(function.index, name)
    return follower.uses(Carrier(read, Role.OPTIONS, keys=handed.keys) for read in reads)


def _parameter(function: Scope, given: int | str) -> str | None:
    arguments: ast.arguments = function.node.args  # type: ignore[attr-defined]
    positional = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    if isinstance(given, str):
        return given if given in (*positional, *(one.arg for one in arguments.kwonlyargs)) else None
    index = given + (function.name == "__init__")
    return positional[index] if index < len(positional) else None


def _command(facts: FileFacts, site: CallSite) -> Scope | None:
    """The function that the decorator makes the command."""
    is_decorator = site.node in getattr(site.statement, "decorator_list", ())
    found = (one for one in facts.reading.scopes if one.node is site.statement and one.kind is ScopeKind.FUNCTION)
    return next(found, None) if is_decorator else None


def _first_parameter(follower: ConfigurationFollower, function: Scope) -> list[Carrier]:
    arguments: ast.arguments = function.node.args  # type: ignore[attr-defined]
    first = [*arguments.posonlyargs, *arguments.args][:1]
    reads = [read for one in first for read in follower.tree.reads(function.index, one.arg)]
    return [Carrier(read, Role.OPTIONS) for read in reads]


def _of_hydra(decorator: ast.Call) -> frozenset[str]:
    """The primary configuration, as `hydra.main` finds it (hydra 1.3.2, main.py)."""
    folder = argument_of(decorator, "config_path", 0) or ast.Constant(".")
    name = argument_of(decorator, "config_name", 1)
    texts = [one.value for one in (folder, name) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if len(texts) < 2 or "://" in texts[0]:
        return frozenset()
    return frozenset({posixpath.join(texts[0], texts[1].removesuffix(".yaml") + ".yaml")})
