"""Which tensors some lines of the user's code compare for equality, and how far apart these are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from torchlint.recording.comparison.differences import Difference, difference
from torchlint.recording.originals import Judging
from torchlint.recording.subject import Subject
from torchlint.recording.tracing.dispatch_mode import PlainMode
from torchlint.recording.tracing.lines import user_line

_COMPARING = frozenset({"aten::equal", "aten::eq", "aten::ne", "aten::isclose", "aten::allclose"})


class _Watching(PlainMode):
    def __init__(self, path: str, first: int, last: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.path = Path(path).resolve()
        self.lines = range(first, last + 1)
        self.sides: list[Difference] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        with Judging():
            if func._schema.name in _COMPARING and len(args) > 1 and _are_floats(*args[:2]):  # noqa: SLF001 - its plain name
                file, line = user_line()
                if line in self.lines and Path(file).resolve() == self.path:
                    self.sides.append(difference(args[0], args[1]))
        return func(*args, **(kwargs or {}))


def _are_floats(one: object, two: object) -> bool:
    return (
        isinstance(one, torch.Tensor)
        and isinstance(two, torch.Tensor)
        and one.is_floating_point()
        and two.is_floating_point()
        and one.shape == two.shape
    )


def sides_compared(subject: Subject, path: str, first: int, last: int) -> list[Difference]:
    """What the two sides of each comparison on these lines differ in, in one run; none where none is reached."""
    watching = _Watching(path, first, last)
    copied = subject.fresh()
    try:
        with watching:
            copied.forward()
    except AssertionError:
        # A comparison that fails is what these lines are there to say, and the next ones are not reached then.
        return watching.sides
    return watching.sides
