"""Reads an error of a constructor for what the arguments should have been."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from torchlint.recording.building.arguments import Scope, alternatives, value_of
from torchlint.recording.building.failures import condition_at, user_line

Values = Mapping[str, Any]

_MISSING = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: (.+)")
_UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")
_QUOTED = re.compile(r"""['"`]([\w./-]{1,24})['"`]""")
_TYPES = {"int", "float", "str", "list", "tuple", "dict", "bool", "NoneType", "Tensor", "type", "function"}
_MULTIPLES = (1, 2, 4, 8, 32, 48, 64, 128)


def repaired(
    error: BaseException, values: Values, signature: inspect.Signature | None, scope: Scope
) -> Iterator[dict[str, Any]]:
    """Other arguments, the best founded first."""
    known = signature.parameters if signature else {}
    yield from _without_weights(error, values, known)
    yield from _by_names(error, values, known, scope)
    yield from _unforeseen(error, values, known, scope)
    yield from _by_condition(error, values, known)
    suspects = _suspects(error, values)
    if "mapping" in str(error):
        yield from ({**values, name: {}} for name in suspects)
    yield from _by_choices(error, values, suspects, known)
    yield from _by_divisibility(error, values, suspects)
    for name in suspects:
        for other in alternatives(name, values[name], scope):
            yield {**values, name: other}


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
    test, frame = condition_at(error)
    for node in ast.walk(test) if test is not None else ():
        if not isinstance(node, ast.Compare) or not isinstance(node.left, ast.Name):
            continue
        name = node.left.id
        try:
            wanted = eval(compile(ast.Expression(node.comparators[0]), "", "eval"), frame.f_globals, frame.f_locals)  # type: ignore[union-attr] # noqa: S307
        except Exception:  # noqa: BLE001, S112 - what cannot be evaluated says nothing
            continue
        if isinstance(node.ops[0], (ast.Gt, ast.GtE, ast.Lt, ast.LtE)):
            continue
        if name in values or name in known:
            several = isinstance(node.ops[0], (ast.In, ast.NotIn)) and isinstance(wanted, Collection)
            for other in list(wanted)[:6] if several else [wanted]:
                yield {**values, name: other}


def _by_choices(
    error: BaseException, values: Values, suspects: list[str], known: Mapping[str, inspect.Parameter]
) -> Iterator[dict[str, Any]]:
    """`must be one of 'a', 'b'`: words in quotes are tried for arguments that are text or are named."""
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
