"""What becomes of settings: of options, of a configuration. Whether any code reads one entry, or may do so unseen."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from torchlint.facts.flow.containment import Containment, lost
from torchlint.facts.flow.recording import is_only_shown, is_recorded
from torchlint.facts.flow.tracker import Sink
from torchlint.facts.flow.values import Move, Value

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

Keys = tuple[str, ...]
"""The keys that lead to one entry."""

_OMEGACONF = "omegaconf.OmegaConf."
_SAME = frozenset(
    {
        *(f"{_OMEGACONF}{name}" for name in ("create", "merge", "unsafe_merge", "to_container", "to_object")),
        *("builtins.dict", "builtins.vars", "copy.copy", "copy.deepcopy", "types.SimpleNamespace"),
        *("argparse.Namespace", "easydict.EasyDict", "munch.munchify", "munch.Munch", "addict.Dict", "box.Box"),
        "typing.cast",
    }
)
"""What gives the same keys and values in another coat."""
_HARMLESS = frozenset(
    {
        *(f"{_OMEGACONF}{name}" for name in ("set_struct", "set_readonly", "resolve", "update", "is_config")),
        *("omegaconf.open_dict", "omegaconf.read_write", "builtins.setattr", "builtins.delattr"),
    }
)
_BY_NAME = frozenset({"builtins.getattr", f"{_OMEGACONF}select"})
_BELOW = "\n"
"""Between the keys in a label."""
_ENTRY_METHODS = frozenset({"get", "pop", "setdefault"})
_MAPPING_METHODS = frozenset({"keys", "update", "items", "values", "popitem", "copy", "to_dict", "toDict"})


class SettingsAnalysis(Containment):
    """Follows settings, and the sections that lead to one entry; the label of a value says where in them it is."""

    def __init__(self, facts: FileFacts, entry: Keys, *, have_methods: bool = True) -> None:
        """`have_methods`: what is called on the settings is a method of theirs, and no entry."""
        super().__init__(facts)
        self._entry = entry
        self._have_methods = have_methods
        self.is_section_used = False
        """Whether any code reads what stands beside the entry."""

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        above = self.facts.index.parents[value.node]
        if isinstance(above, ast.Attribute):
            return self._member(value, above)
        if isinstance(above, ast.Subscript) and above.value is value.node:
            return self._read(value, above, above.slice)
        if isinstance(above, ast.Call | ast.keyword):
            return self._into_call(value, above)
        return self.passes(value)

    def _member(self, value: Value, member: ast.Attribute) -> Iterable[Move | Sink]:
        call = self.facts.index.parents[member]
        is_method = self._have_methods or member.attr in _ENTRY_METHODS | _MAPPING_METHODS
        if not isinstance(call, ast.Call) or call.func is not member or not is_method:
            return self._read(value, member, ast.Constant(member.attr))
        if member.attr in _ENTRY_METHODS:
            return self._read(value, call, call.args[0] if call.args else None)
        if member.attr in ("copy", "to_dict", "toDict"):
            return [value.at(call)]
        is_harmless = member.attr in ("keys", "update") or (member.attr == "items" and is_only_shown(self.facts, call))
        return [] if is_harmless else [lost(member)]

    def _read(self, value: Value, node: ast.expr, key: ast.expr | None) -> Iterable[Move | Sink]:
        """One entry by its key, as far as that tells that it is another one."""
        if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            return []
        section = tuple(value.label.split(_BELOW)) if value.label else ()
        name = key.value if isinstance(key, ast.Constant) else None
        if not isinstance(name, str) or name.startswith("_"):
            is_other = isinstance(key, ast.JoinedStr) and not _may_be(key, self._entry[len(section)])
            return [] if is_other or is_recorded(self.facts, node) else [lost(node)]
        keys = (*section, *(name.split(".") if _is_selected(node) else (name,)))
        if section == self._entry[:-1] and not is_recorded(self.facts, node):
            self.is_section_used = True
        if keys == self._entry[: len(keys)]:
            return [lost(node)] if keys == self._entry else [replace(value, node=node, label=_BELOW.join(keys))]
        return []

    def _into_call(self, value: Value, above: ast.Call | ast.keyword) -> Iterable[Move | Sink]:
        call = self.facts.index.parents[above] if isinstance(above, ast.keyword) else above
        if not isinstance(call, ast.Call) or call.func is value.node:
            return self.passes(value)
        name = self.facts.names(call.func, self.facts.index.inner_scope_of(call)).only or ""
        if name in _SAME and getattr(above, "arg", None) is None:
            return [value.at(call)]
        is_first = call.args[:1] == [value.node]
        if is_first and name in _HARMLESS:
            return []
        if is_first and name in _BY_NAME and len(call.args) > 1:
            return self._read(value, call, call.args[1])
        return self.passes(value)


def _is_selected(read: ast.expr) -> bool:
    """`OmegaConf.select(cfg, "optim.lr")`."""
    function = read.func if isinstance(read, ast.Call) else None
    return isinstance(function, ast.Attribute) and function.attr == "select"


def _may_be(text: ast.JoinedStr, key: str) -> bool:
    """Whether `f"{split}_files"` may be a key."""
    parts = [re.escape(str(one.value)) if isinstance(one, ast.Constant) else ".*" for one in text.values]
    return re.fullmatch("".join(parts), key) is not None
