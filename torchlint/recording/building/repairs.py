"""Reads an error of a constructor for what the arguments should have been."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torchlint.recording.building import wanted
from torchlint.recording.building.arguments import alternatives, value_of
from torchlint.recording.building.failures import conditions_at, user_line
from torchlint.recording.building.invented_objects import InventedModule
from torchlint.recording.building.scope import InventedConfig, Scope
from torchlint.recording.building.shrinking import is_too_large, shrunk

Values = Mapping[str, Any]

_MISSING = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: (.+)")
_UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")
_QUOTED = re.compile(r"""['"`]([\w./-]{1,24})['"`]""")
_TYPES = {"int", "float", "str", "list", "tuple", "dict", "bool", "NoneType", "Tensor", "type", "function"}
_MOST_CHOICES, _LAST_READ = 6, 3
_MULTIPLES = (1, 2, 4, 8, 32, 48, 64, 128)


def repaired(
    error: BaseException, values: Values, signature: inspect.Signature | None, scope: Scope
) -> Iterator[dict[str, Any]]:
    """Other arguments, the best founded first."""
    known = signature.parameters if signature else {}
    if is_too_large(error):
        yield from shrunk(values, known)
        return
    yield from _without_weights(error, values, known)
    yield from by_types(error, values, known, scope)
    yield from _by_names(error, values, known, scope)
    yield from _unforeseen(error, values, known, scope)
    yield from _by_condition(error, values, known)
    suspects = _suspects(error, values, scope)
    if "mapping" in str(error):
        yield from ({**values, name: {}} for name in suspects)
    yield from _by_choices(error, values, suspects, known, scope)
    yield from _by_divisibility(error, values, suspects)
    yield from _by_use(values, suspects, scope)
    named = [name for name in suspects if _is_mentioned(name, error, scope)]
    yield from _others(named, values, scope)
    yield from _by_options(error, values, scope)
    yield from _others([name for name in suspects if name not in named], values, scope)


def _others(names: Iterable[str], values: Values, scope: Scope) -> Iterator[dict[str, Any]]:
    for name in names:
        for other in alternatives(name, values[name], scope):
            yield {**values, name: other}


def _by_use(values: Values, suspects: list[str], scope: Scope) -> Iterator[dict[str, Any]]:
    """The constants that the code compares an argument to."""
    for name in suspects:
        for other in scope.use(name).compared[:_MOST_CHOICES]:
            if other is not None and other != values[name]:
                yield {**values, name: other}


def _by_options(error: BaseException, values: Values, scope: Scope) -> Iterator[dict[str, Any]]:
    """One option of an invented configuration is another: one that is named, else one of those that were read last."""
    options = [place for place in _places(values, {}) if place.path]
    named = [place for place in options if _is_mentioned(place.name, error, scope)]
    for place in (*named, *reversed(options[-_LAST_READ:])):
        others = () if isinstance(place.value, InventedConfig) else alternatives(place.name, place.value, scope)
        yield from (place.given(values, other) for other in others[:_MOST_CHOICES])


def by_types(
    error: BaseException, values: Values, known: Mapping[str, inspect.Parameter], scope: Scope
) -> Iterator[dict[str, Any]]:
    """A value of the type that the error complains of becomes another: one that is named first, then the last."""
    places = list(_places(values, known))
    is_named = {name: _is_mentioned(name, error, scope) for name in {place.name for place in places}}
    named = [place for place in places if is_named[place.name]]
    others = [place for place in reversed(places) if not is_named[place.name]]
    for place in (*named, *others):
        yield from (place.given(values, other) for other in wanted.instead(error, place.name, place.value, scope))


@dataclass(frozen=True)
class _Place:
    """An argument, or an option of an invented configuration."""

    argument: str
    value: Any
    path: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.path[-1] if self.path else self.argument

    def given(self, values: Values, other: object) -> dict[str, Any]:
        """All arguments, with another value for this one."""
        return {**values, self.argument: values[self.argument].changed(self.path, other) if self.path else other}


def _places(values: Values, known: Mapping[str, inspect.Parameter]) -> Iterator[_Place]:
    """Every argument with its options, then the defaults of the others."""
    for name, value in values.items():
        yield _Place(name, value)
        for path, inner in value.read() if isinstance(value, (InventedConfig, InventedModule)) else ():
            yield _Place(name, inner, path)
    for name, parameter in known.items():
        if name not in values and parameter.default is not parameter.empty:
            yield _Place(name, parameter.default)


def _without_weights(
    error: BaseException, values: Values, known: Mapping[str, inspect.Parameter]
) -> Iterator[dict[str, Any]]:
    """Weights that cannot be fetched are not asked for."""
    if re.search(r"download|weights|\burl|checkpoint|pretrained|connection", str(error), re.IGNORECASE):
        yield from ({**values, n: False} for n, p in known.items() if "pretrained" in n and p.default is True)


def _by_names(
    error: BaseException, values: Values, known: Mapping[str, inspect.Parameter], scope: Scope
) -> Iterator[dict[str, Any]]:
    """An argument too few, or one too many."""
    missing = _MISSING.search(str(error))
    if missing:
        names = re.findall(r"'(\w+)'", missing[1])
        added = {name: value_of(name, _annotation(known, name), scope) for name in names if name not in values}
        takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
        if added and (takes_all or added.keys() <= known.keys()):
            yield {**values, **added}
        for name, value in values.items():
            if isinstance(value, dict):
                yield {**values, name: {**value, **{n: value_of(n, None, scope) for n in names}}}
    unexpected = _UNEXPECTED.search(str(error))
    if unexpected and unexpected[1] in values:
        yield {name: value for name, value in values.items() if name != unexpected[1]}
    # Optional arguments that the code cannot do without are named in its complaint.
    for name, parameter in known.items():
        if name not in values and _is_empty(parameter.default) and _is_mentioned(name, error, scope):
            yield {**values, name: value_of(name, parameter.annotation, scope)}


def _unforeseen(
    error: BaseException, values: Values, known: Mapping[str, inspect.Parameter], scope: Scope
) -> Iterator[dict[str, Any]]:
    """An argument that only the message names: the constructor takes any, and hands them on."""
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
        for name in re.findall(r"[`'\"]([a-z]\w+)[`'\"] (?:must|should|is required|needs)", str(error)):
            yield {**values, name: value_of(name, None, scope)}


def _is_empty(default: object) -> bool:
    """None, zero, no text, no items: what stands for `to be given`. A tensor has no truth of its own."""
    return default is None or (isinstance(default, (int, float, str, tuple, list, dict)) and not default)


def _annotation(known: Mapping[str, inspect.Parameter], name: str) -> Any:  # noqa: ANN401 - any annotation
    return known[name].annotation if name in known else None


def _is_mentioned(name: str, error: BaseException, scope: Scope) -> bool:
    return _is_named(name, f"{error} {user_line(error)}", scope)


def _is_named(name: str, text: str, scope: Scope) -> bool:
    """A parameter by its name, or by that of the attribute that it is kept in."""
    names = "|".join(map(re.escape, (name, *scope.use(name).kept)))
    return re.search(rf"\b({names})\b", text) is not None


def _suspects(error: BaseException, values: Values, scope: Scope) -> list[str]:
    """The arguments named in the message, those in the failing line, then the others."""
    mentioned = [name for name in values if _is_named(name, str(error), scope)]
    in_line = [name for name in values if _is_named(name, user_line(error), scope)]
    return list(dict.fromkeys([*mentioned, *in_line, *values]))


def _by_condition(
    error: BaseException, values: Values, known: Mapping[str, inspect.Parameter]
) -> Iterator[dict[str, Any]]:
    """`assert mode in ("a", "b")` and `if kind != "a": raise` say what they want."""
    tests, frame = conditions_at(error)
    for node in (each for test in tests for each in ast.walk(test)):
        if not isinstance(node, ast.Compare) or isinstance(node.ops[0], (ast.Gt, ast.GtE, ast.Lt, ast.LtE)):
            continue
        try:
            wanted = eval(compile(ast.Expression(node.comparators[0]), "", "eval"), frame.f_globals, frame.f_locals)  # type: ignore[union-attr] # noqa: S307
        except Exception:  # noqa: BLE001, S112 - what cannot be evaluated says nothing
            continue
        several = isinstance(node.ops[0], (ast.In, ast.NotIn)) and isinstance(wanted, Collection)
        for other in list(wanted)[:_MOST_CHOICES] if several else [wanted]:
            yield from _with(node.left, other, values, known)


def _with(
    place: ast.expr,
    value: object,
    values: Values,
    known: Mapping[str, inspect.Parameter],
) -> Iterator[dict[str, Any]]:
    """The argument, or the option of a configuration, that an expression names gets a value."""
    if isinstance(place, ast.Name) and (place.id in values or place.id in known):
        yield {**values, place.id: value}
    elif isinstance(place, ast.Call) and isinstance(place.func, ast.Name) and place.func.id == "len":
        name = place.args[0].id if place.args and isinstance(place.args[0], ast.Name) else ""
        if name in values and isinstance(value, int) and 0 < value <= _MOST_CHOICES:
            given = values[name]
            yield {**values, name: [*(given if isinstance(given, (list, tuple)) else [given])][:1] * value}
    elif isinstance(place, (ast.Attribute, ast.Subscript)):
        option_name = place.attr if isinstance(place, ast.Attribute) else getattr(place.slice, "value", None)
        options = (each for each in _places(values, {}) if each.path and each.name == option_name)
        yield from (option.given(values, value) for option in options)


def _by_choices(
    error: BaseException, values: Values, suspects: list[str], known: Mapping[str, inspect.Parameter], scope: Scope
) -> Iterator[dict[str, Any]]:
    """`must be one of 'a', 'b'`: words in quotes are tried for arguments that are text or are named."""
    if "has no attribute" in str(error):
        return
    words = [word for word in _QUOTED.findall(str(error)) if word not in known and word not in _TYPES][:8]
    for name in suspects:
        if isinstance(values[name], str) or _is_mentioned(name, error, scope):
            for word in words:
                yield {**values, name: word}


def _by_divisibility(error: BaseException, values: Values, suspects: list[str]) -> Iterator[dict[str, Any]]:
    text = f"{error} {user_line(error)}".lower()
    if not re.search(r"divisib|multiple|must be|should be|equal|%|//|positive|greater|larger|at least|too small", text):
        return
    for name in suspects:
        if isinstance(values[name], int) and not isinstance(values[name], bool):
            for other in _MULTIPLES:
                yield {**values, name: other}
