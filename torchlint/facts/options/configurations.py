"""Configurations that a file loads from YAML: which files they are, and which of their keys any code uses."""

from __future__ import annotations

import ast
import posixpath
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
class Configuration:
    """One call that loads a configuration, and what becomes of it in its file, where all of that is seen."""

    location: Location
    symbol: str
    """What runs the call."""
    paths: frozenset[str]
    """The files it may load."""
    is_beside: bool
    """Whether paths are relative to the file of the code, and not to the working folder."""
    used: frozenset[Keys]
    """The keys whose values go anywhere; those below them may go there too."""
    is_shared: bool
    """Whether a file that imports this one can get at it."""

    def uses(self, keys: Keys) -> bool:
        return any(keys[: len(used)] == used for used in self.used)

    def uses_any_beside(self, keys: Keys) -> bool:
        """Whether the section that holds this key is one that the code looks into."""
        return any(used[: len(keys) - 1] == keys[:-1] for used in self.used)


@dataclass(slots=True)
class ConfigurationFollower(Follower):
    """Follows a configuration and its sections, and counts which of them get out of sight."""

    lost: set[Keys] = field(default_factory=set)
    steps: int = 0

    def may_lose(self, found: Carrier) -> bool:
        self.lost.add(found.keys)
        return bool(found.keys) and self.steps < _MOST_STEPS

    def kept(self, found: Carrier, target: ast.Attribute) -> list[Carrier] | None:
        return self.kept_on_self(found, target)

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
        if name in _SAME and getattr(parent, "arg", None) is None:
            return [found.at(call)]
        if name in ("builtins.getattr", f"{_OMEGACONF}select") and len(call.args) > 1 and call.args[0] is found.node:
            return self._selected(found, call, call.args[1])
        return None

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
        paths = FilePaths(follower).of(argument_of(call, "stream", 0) or argument_of(call, "file_", 0), site.scope)
    if not paths or not follower.keeps(starts):
        return None
    return Configuration(
        location=facts.locate(call),
        symbol=symbol,
        paths=paths,
        is_beside=is_hydra,
        used=frozenset(follower.lost),
        is_shared=follower.is_shared,
    )


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
