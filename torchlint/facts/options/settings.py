"""What becomes of settings: of a configuration, of the options that `argparse` parses.

Whether any code reads one entry, or may do so unseen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from torchlint.facts.definitions import definitions_of, is_given_here
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.containment import Containment, call_with, is_recorded, lost
from torchlint.facts.flow.tracker import Sink
from torchlint.facts.flow.values import Definition, Exit, Given, Item, Move, Others, Through, Value
from torchlint.facts.tree import is_method_call

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
_BELOW = "\n"
"""Between the keys in a label."""
_ENTRY_METHODS = frozenset({"get", "pop", "setdefault"})
_MAPPING_METHODS = frozenset({"keys", "update", "items", "values", "popitem", "copy", "to_dict", "toDict"})
PARSER = "the parser"
"""The label of what still parses; that of options is empty."""
_PARSING = {
    "parse_args": False,
    "parse_intermixed_args": False,
    "parse_known_args": True,
    "parse_known_intermixed_args": True,
}
"""Each with whether it gives the options beside what is left."""
_PARSER_PARTS = frozenset({"add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "add_parser"})
"""Methods of a parser that give something to add options to."""
_KEEPING_OPTIONS = frozenset(
    {
        *("add_argument", "set_defaults", "get_default", "error", "exit", "print_help", "print_usage", "format_help"),
        *("format_usage", "description", "prog", "epilog", "usage", "required", "title"),
    }
)


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
        return self._into_call(value, above) if isinstance(above, (ast.Call, ast.keyword)) else self.passes(value)

    def _member(self, value: Value, member: ast.Attribute) -> Iterable[Move | Sink]:
        call = self.facts.index.parents[member]
        is_method = self._have_methods or member.attr in _ENTRY_METHODS | _MAPPING_METHODS
        if not isinstance(call, ast.Call) or call.func is not member or not is_method:
            return self._read(value, member, ast.Constant(member.attr))
        if member.attr in _ENTRY_METHODS:
            return self._read(value, call, call.args[0] if call.args else None)
        if member.attr in ("copy", "to_dict", "toDict"):
            return [value.at(call)]
        return [] if member.attr in ("keys", "update") else [lost(member)]

    def _read(self, value: Value, node: ast.expr, key: ast.expr | None) -> Iterable[Move | Sink]:
        """One entry by its key, as far as that tells that it is another one."""
        if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            return []
        section = tuple(value.label.split(_BELOW)) if value.label else ()
        name = key.value if isinstance(key, ast.Constant) else None
        if not isinstance(name, str) or name.startswith("_"):
            return [] if is_recorded(self.facts, node) else [lost(node)]
        keys = (*section, name)
        if section == self._entry[:-1] and not is_recorded(self.facts, node):
            self.is_section_used = True
        if keys == self._entry[: len(keys)]:
            return [lost(node)] if keys == self._entry else [replace(value, node=node, label=_BELOW.join(keys))]
        return []

    def _into_call(self, value: Value, above: ast.Call | ast.keyword) -> Iterable[Move | Sink]:
        call = call_with(self.facts, value.node)
        if call is None:
            return self.passes(value)
        name = self.facts.names(call.func, self.facts.index.inner_scope_of(call)).only or ""
        if name in _SAME and getattr(above, "arg", None) is None:
            return [value.at(call)]
        is_first = call.args[:1] == [value.node]
        if is_first and name in _HARMLESS:
            return []
        if is_first and name == "builtins.getattr" and len(call.args) > 1:
            return self._read(value, call, call.args[1])
        return self.passes(value)


class OptionsAnalysis(SettingsAnalysis):
    """Follows a parser, and the options that it parses."""

    def __init__(self, facts: FileFacts, option: str) -> None:
        super().__init__(facts, (option,), have_methods=False)
        self.parsed: list[ast.Call] = []
        """The calls that parse."""

    def beyond(self, move: Move) -> Iterator[Move | Sink]:
        """Who else calls a function that adds options to a parser has these options as well."""
        if isinstance(move, Given) and move.value.label == PARSER:
            yield Exit(self.facts.full_name(move.function), Others(), (), PARSER)
        yield from super().beyond(move)

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        member = self.facts.index.parents[value.node]
        if value.label != PARSER:
            return super().steps(value)
        if not isinstance(member, ast.Attribute):
            return self.passes(value)
        call = self.facts.index.parents[member]
        if isinstance(call, ast.Call) and call.func is member:
            if member.attr in _PARSER_PARTS:
                return [value.at(call)]
            if member.attr in _PARSING:
                if len(call.args) > 1 or any(keyword.arg != "args" for keyword in call.keywords):
                    return [lost(call)]  # into an object that exists already
                self.parsed.append(call)
                options = replace(value, node=call, label="")
                return options.inside(Item(0), call) if _PARSING[member.attr] else [options]
        return [] if member.attr in _KEEPING_OPTIONS else [lost(member)]


def parsers_of(facts: FileFacts, expression: ast.expr, scope: int) -> list[ast.Call] | None:
    """The calls that made the parser that `expression` is or belongs to; None where one is not known."""
    found: dict[ast.Call, None] = {}
    waiting, seen = [(expression, scope)], set[ast.expr]()
    while waiting:
        one, where = waiting.pop()
        for end in definitions_of(facts, one, where, Through.PARAMETERS):
            if is_given_here(facts, end):
                continue
            made = end.node if isinstance(end, Definition) and not end.parts else None
            if not isinstance(end, Definition) or not isinstance(made, ast.Call):
                return None
            if facts.names(made.func, end.scope).only == "argparse.ArgumentParser":
                found[made] = None
            elif not is_method_call(made, *_PARSER_PARTS):
                return None
            elif made not in seen:
                seen.add(made)
                waiting.append((made.func.value, end.scope))
    return list(found)
