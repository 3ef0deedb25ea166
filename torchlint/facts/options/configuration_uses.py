"""What becomes of a configuration: which of its keys any code uses, and which functions of other files get it."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from torchlint.facts.flow.recording import is_only_shown, is_recorded
from torchlint.facts.options.escapes import Carrier, Follower

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


class Role(enum.Enum):
    """What a followed object is."""

    OPTIONS = "options"


Keys = tuple[str, ...]
"""The keys that lead to one value of a configuration."""

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
    shared: frozenset[str]
    """What leads to it by another way, for a file that imports this one: its names."""

    def take(self, keys: Keys) -> bool:
        """Whether the value of this key goes anywhere."""
        return any(keys[: len(used)] == used for used in self.used)

    def enter_section_of(self, keys: Keys) -> bool:
        """Whether the section that holds this key is one that the code looks into."""
        return any(used[: len(keys) - 1] == keys[:-1] for used in self.used)


@dataclass(slots=True)
class ConfigurationFollower(Follower):
    """Follows a configuration and its sections, and counts which of them get out of sight."""

    is_called_elsewhere: bool = False
    """Whether it follows what another file hands over or asks for: then results go there."""
    loader: int | None = None
    """The function that loads it and gives it back to that file."""
    is_given_back: bool = False
    lost: set[Keys] = field(default_factory=set)
    handed: set[Handed] = field(default_factory=set)
    attributes: set[tuple[str, str]] = field(default_factory=set)
    steps: int = 0

    def uses(self, starts: Iterable[Carrier]) -> Uses | None:
        """What becomes of these; None where one gets out of sight as a whole."""
        if not self.keeps(starts):
            return None
        parts = frozenset(self.lost), frozenset(self.handed), frozenset(self.attributes)
        return Uses(*parts, shared=frozenset(self.shared))

    def may_lose(self, found: Carrier) -> bool:
        self.lost.add(found.keys)
        return bool(found.keys) and self.steps < _MOST_STEPS

    def kept(self, found: Carrier, target: ast.Attribute) -> list[Carrier] | None:
        was_shared = set(self.shared)
        reads = self.kept_on_self(found, target)
        if reads is not None:
            # Who has the object may read the attribute: that is asked of the whole project, by its name.
            self.shared = was_shared
            owner = self.facts.class_of(self.tree.scope_of(target))
            self.attributes.add((self.facts.reading.scopes[owner or 0].qualname, target.attr))
        return reads

    def returned(self, found: Carrier, statement: ast.Return) -> list[Carrier] | None:
        function = self.facts.function_of(self.tree.scope_of(statement))
        if self.loader is not None and function == self.loader and not found.keys:
            self.is_given_back = True
            return []
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
        if member.attr in ("keys", "update") or (member.attr == "items" and is_only_shown(self.facts, call)):
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


def uses_of_handed(facts: FileFacts, handed: Handed) -> Uses | None:
    """What becomes of a configuration in the file of the function that gets it; None where that is not seen."""
    follower = ConfigurationFollower(facts, is_called_elsewhere=True)
    target = follower.function_named(handed.function)
    name = None if target is None else target.parameter_at(handed.parameter)
    if target is None or name is None:
        return None
    reads = follower.tree.reads(target.function.index, name)
    return follower.uses(Carrier(read, Role.OPTIONS, keys=handed.keys) for read in reads)
