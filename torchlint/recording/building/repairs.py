"""Reads an error of a constructor for what the arguments should have been."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from torchlint.recording.building.arguments import alternatives, value_of
from torchlint.recording.building.failures import conditions_at, user_line
from torchlint.recording.building.scope import InventedConfig, Scope

Values = Mapping[str, Any]

_MISSING = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: (.+)")
_UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")
_QUOTED = re.compile(r"""['"`]([\w./-]{1,24})['"`]""")
_TYPES = {"int", "float", "str", "list", "tuple", "dict", "bool", "NoneType", "Tensor", "type", "function"}
_MOST_CHOICES, _LAST_READ = 6, 3
_NUMBER = re.compile(r"(?<![\w.])\d{1,5}(?![\w.]*\d)")
_PAIR = re.compile(
    r"\(\d+x(\d+) and (\d+)x\d+\)|tensor a \((\d+)\) must match the size of tensor b \((\d+)\)"
    r"|to have (\d+) channels, but got (\d+)|[Ee]xpected (\d+),? (?:but )?got (\d+)"
)
_LARGE, _LARGEST_SIZE = 64, 4096
_MULTIPLES = (1, 2, 4, 8, 32, 48, 64, 128)


def repaired(
    error: BaseException, values: Values, signature: inspect.Signature | None, scope: Scope
) -> Iterator[dict[str, Any]]:
    """Other arguments, the best founded first."""
    known = signature.parameters if signature else {}
    yield from _without_weights(error, values, known)
    yield from _by_names(error, values, known, scope)
    yield from _by_types(error, values, scope)
    yield from _unforeseen(error, values, known, scope)
    yield from _by_condition(error, values, known)
    suspects = _suspects(error, values)
    if "mapping" in str(error):
        yield from ({**values, name: {}} for name in suspects)
    yield from _by_choices(error, values, suspects, known)
    yield from _by_divisibility(error, values, suspects)
    yield from _by_use(values, suspects, scope)
    named = [name for name in suspects if _is_mentioned(name, error)]
    yield from _others(named, values, scope)
    yield from _by_options(error, values, scope)
    yield from _others([name for name in suspects if name not in named], values, scope)


def _others(names: Iterable[str], values: Values, scope: Scope) -> Iterator[dict[str, Any]]:
    for name in names:
        for other in alternatives(name, values[name], scope):
            yield {**values, name: other}


def by_sizes(
    complaints: Iterable[BaseException], values: Values, signature: inspect.Signature | None
) -> Iterator[dict[str, Any]]:
    """Arguments that a forward could not do with: one that is one of the sizes in its complaint becomes another.

    The sizes of residuals and of what attention multiplies have to agree.
    """
    defaults = {name: each.default for name, each in signature.parameters.items()} if signature else {}
    known = {name: value for name, value in {**defaults, **values}.items() if type(value) is int and value > 0}
    for error in complaints:
        pair = _PAIR.search(str(error))
        sizes = [int(size) for size in pair.groups() if size] if pair else []
        for one, other in (sizes, sizes[::-1]) if len(sizes) == 2 else ():
            yield from ({**values, name: other} for name, value in known.items() if value == one and other > 1)
        numbers = list(dict.fromkeys(int(number) for number in _NUMBER.findall(str(error))))
        for name, value in known.items() if numbers else ():
            larger = [_LARGE] if value < _LARGE and value in numbers else []
            for other in [number for number in numbers if 0 < number <= _LARGEST_SIZE] + larger:
                if value in numbers and other != value:
                    yield {**values, name: other}


def _by_use(values: Values, suspects: list[str], scope: Scope) -> Iterator[dict[str, Any]]:
    """The constants that the code compares an argument to."""
    for name in suspects:
        for other in scope.use(name).compared[:_MOST_CHOICES]:
            if other is not None and other != values[name]:
                yield {**values, name: other}


def _by_options(error: BaseException, values: Values, scope: Scope) -> Iterator[dict[str, Any]]:
    """One option of an invented configuration is another: one that is named, else one of those that were read last."""
    wanted = re.search(r"'(\w+)' object has no attribute '\w+'", str(error))
    for name, config in values.items():
        read = list(config.read()) if isinstance(config, InventedConfig) else []
        named = [(path, value) for path, value in read if _is_mentioned(path[-1], error)]
        for path, value in (*named, *reversed(read[-_LAST_READ:])):
            if wanted and type(value).__name__ == wanted[1]:
                yield {**values, name: config.changed(path, InventedConfig(scope))}
        for path, value in (*named, *reversed(read[-_LAST_READ:])):
            others = () if isinstance(value, InventedConfig) else alternatives(path[-1], value, scope)
            for other in others[:_MOST_CHOICES]:
                yield {**values, name: config.changed(path, other)}


def _by_types(error: BaseException, values: Values, scope: Scope) -> Iterator[dict[str, Any]]:
    """`not supported between instances of 'Linear' and 'int'`: a value that is of the one type becomes a number."""
    types = re.findall(r"'(\w+)'", str(error)) if "not supported" in str(error) or "unsupported" in str(error) else []
    if {"int", "float"} & set(types):
        for name, value in values.items():
            if type(value).__name__ in types and not isinstance(value, (int, float)):
                number = scope.number(name)
                yield {**values, name: number if type(number) is int else scope.width}


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
        if name not in values and _is_empty(parameter.default) and _is_mentioned(name, error):
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


def _is_mentioned(name: str, error: BaseException) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", f"{error} {user_line(error)}") is not None


def _suspects(error: BaseException, values: Values) -> list[str]:
    """The arguments named in the message, those in the failing line, then the others."""
    mentioned = [name for name in values if re.search(rf"\b{re.escape(name)}\b", str(error))]
    in_line = [name for name in values if re.search(rf"\b{re.escape(name)}\b", user_line(error))]
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
    elif isinstance(place, ast.Attribute):
        for name, config in values.items():
            for path, _ in config.read() if isinstance(config, InventedConfig) else ():
                if path[-1] == place.attr:
                    yield {**values, name: config.changed(path, value)}


def _by_choices(
    error: BaseException, values: Values, suspects: list[str], known: Mapping[str, inspect.Parameter]
) -> Iterator[dict[str, Any]]:
    """`must be one of 'a', 'b'`: words in quotes are tried for arguments that are text or are named."""
    if "has no attribute" in str(error):
        return
    words = [word for word in _QUOTED.findall(str(error)) if word not in known and word not in _TYPES][:8]
    for name in suspects:
        if isinstance(values[name], str) or _is_mentioned(name, error):
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
