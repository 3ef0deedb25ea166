"""Ways to construct a class: the user's words, calls in the project, defaults, invented arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from torchlint.recording.building.arguments import Scope, invented, required, signature_of
from torchlint.recording.building.names import WIDTH
from torchlint.recording.messages import CallSite, Hooks
from torchlint.recording.options import options
from torchlint.recording.tensors import described

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


def constructions(cls: type, calls: tuple[CallSite, ...], hooks: Hooks, scope: Scope) -> Iterator[Construction]:
    """Guesses, the best founded first. Words of the user's own are the only guess."""
    if hooks.args or hooks.kwargs:
        yield Construction("the configuration", tuple(map(options, hooks.args)), options(hooks.kwargs))
        return
    for call in calls:
        evaluated = _evaluated(call, scope.namespace)
        if evaluated is not None:
            yield evaluated
    signature = signature_of(cls)
    if not required(signature):
        yield Construction("the constructor's defaults")
    for width in _WIDTHS:
        yield Construction("invented arguments", (), invented(signature, replace(scope, width=width)))


def _evaluated(call: CallSite, namespace: Mapping[str, Any]) -> Construction | None:
    """The arguments of a call that stands in the project; None where they need names that are not there."""
    try:
        args = tuple(eval(text, dict(namespace)) for text in call.args)  # noqa: S307 - literals of the user's own
        kwargs = {name: eval(text, dict(namespace)) for name, text in call.kwargs.items()}  # noqa: S307 - likewise
    except Exception:  # noqa: BLE001 - the other ways remain
        return None
    return Construction(f"literal arguments at {call.place}", args, kwargs)
