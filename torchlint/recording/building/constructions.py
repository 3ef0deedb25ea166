"""Ways to construct a class: the user's words, calls in the project, defaults, invented arguments."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from torchlint.recording.building.arguments import invented, required, signature_of
from torchlint.recording.building.names import WIDTH
from torchlint.recording.building.scope import Scope
from torchlint.recording.building.specification import Shown
from torchlint.recording.messages import CallSite, Hooks
from torchlint.recording.options import options
from torchlint.recording.tensors import described

_UNKNOWN: Any = object()
_WIDTHS = (WIDTH, 64, 32, 8, 4)


@dataclass(frozen=True)
class Construction:
    """Arguments, and where they come from."""

    origin: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def source(self, name: str) -> str:
        given = [*map(described, self.args), *(f"{key}={described(value)}" for key, value in self.kwargs.items())]
        return f"{name}({', '.join(given)})"


def constructions(
    made: Callable[..., Any], calls: tuple[CallSite, ...], hooks: Hooks, scope: Scope
) -> Iterator[Construction]:
    """Guesses, the best founded first. Words of the user's own are the only guess."""
    if hooks.args or hooks.kwargs:
        yield Construction("the configuration", tuple(map(options, hooks.args)), options(hooks.kwargs))
        return
    signature = signature_of(made)
    for call in (each for each in calls if each.is_literal):
        with contextlib.suppress(Exception):  # it needs names that are not there: the other ways remain
            yield Construction(f"literal arguments at {call.place}", *Shown(call, scope.namespace).values())
    if not required(signature):
        yield Construction("the constructor's defaults")
    configuration = getattr(made, "config_class", None)
    if isinstance(configuration, type) and [each.name for each in required(signature)] == ["config"]:
        yield Construction("the configuration of its class", (), {"config": configuration()})
    for call in (each for each in calls if not each.is_literal):
        yield from _as_far_as_known(call, signature, scope)
    for width in _WIDTHS:
        wide = replace(scope, width=width)
        yield Construction("invented arguments", (), invented(signature, wide))
        if width == WIDTH:
            yield from _by_options(signature, wide)


def _as_far_as_known(call: CallSite, signature: inspect.Signature | None, scope: Scope) -> Iterator[Construction]:
    """A call with values invented for the arguments that are not known here."""
    try:
        bound = signature.bind(*call.args, **call.kwargs).arguments if signature else {}
    except TypeError:
        return  # a call of something else
    parameters = signature.parameters if signature else {}
    known = {name: _value(source, scope) for name, source in bound.items() if isinstance(source, str)}
    known = {name: value for name, value in known.items() if value is not _UNKNOWN and _is_plain(parameters[name])}
    if known:
        place = f"arguments at {call.place}"
        whole = known.keys() == bound.keys()
        kwargs = known if whole else {**invented(signature, scope), **known}
        yield Construction(place if whole else f"{place}, the others invented", (), kwargs)


def _value(source: str, scope: Scope) -> Any:  # noqa: ANN401 - any value
    """A source that only reads names: of this file, or options of the project."""
    if not source:
        return _UNKNOWN
    try:
        return eval(source, dict(scope.namespace))  # noqa: S307 - names, attributes and arithmetic
    except Exception:  # noqa: BLE001 - then it may be an option
        option = re.fullmatch(r"[\w.]+(?:\.(\w+)|\[['\"](\w+)['\"]\])", source)
        value = scope.option(option[1] or option[2]) if option else None
        return _UNKNOWN if value is None else value


def _is_plain(parameter: inspect.Parameter) -> bool:
    return parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)


def _by_options(signature: inspect.Signature | None, scope: Scope) -> Iterator[Construction]:
    """Parameters that have the name of an option have its default."""
    named = {each.name: scope.option(each.name) for each in required(signature)}
    known = {name: value for name, value in named.items() if value is not None}
    if known:
        yield Construction(
            "the project's options by name, the others invented", (), {**invented(signature, scope), **known}
        )
