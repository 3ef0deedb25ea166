"""The mode that every operator passes while the user's program runs."""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

from torch.utils import _python_dispatch as dispatch

from torchlint.recording.in_command.numbers import as_tensors
from torchlint.recording.tracing.dispatch_mode import PlainMode

if TYPE_CHECKING:
    from torchlint.recording.journal.operators import Operators
    from torchlint.recording.journal.rows import Schema


class JournalMode(PlainMode):
    """Entered once for each thread that is recorded."""

    def __init__(self, operators: Operators, thread: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._operators = operators
        self.thread = thread

    def __torch_dispatch__(
        self,
        called: Any,  # noqa: ANN401 - torch's own signature, here and below
        types: Any,  # noqa: ANN401
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        del types
        kwargs = kwargs or {}
        args = as_tensors(called, args)
        operators = self._operators
        if operators.aside.is_at_work:
            return called(*args, **kwargs)
        schema = operators.counted(called)
        if operators.writes_rows or schema.reads or operators.memory is not None:
            # Nobody called where the engine works for a GPU, on a thread of its own: there is no frame behind this one.
            frame = sys._getframe().f_back  # noqa: SLF001 - the line is told
            return self._look(schema, called, args, kwargs, frame)
        return called(*args, **kwargs)

    def _look(
        self,
        schema: Schema,
        called: Any,  # noqa: ANN401
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: FrameType | None,
    ) -> Any:  # noqa: ANN401
        """Run an operator whose arguments or result matter."""
        operators = self._operators
        do = operators.aside.do
        row = do(operators.begin, schema, args, kwargs, frame, self.thread) if operators.writes_rows else None
        memory = operators.memory
        written = 0 if memory is None else do(memory.written, called, args)
        result = called(*args, **kwargs)
        if memory is not None:
            do(memory.fill, called, result, written)
        if row is not None or schema.reads:
            do(operators.end, schema, row, args, kwargs, result)
        return result


def only_mode() -> JournalMode | None:
    """The mode of this thread, where no other one lies on it: below one of the user's own torch compiles nothing."""
    stack = dispatch._get_current_dispatch_mode_stack()  # noqa: SLF001 - nothing public tells it
    return stack[0] if len(stack) == 1 and isinstance(stack[0], JournalMode) else None
