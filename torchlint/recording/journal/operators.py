"""Each operator that is dispatched: counted always, and written as a row where that is asked for."""

from __future__ import annotations

from types import FrameType
from typing import Any

import torch

from torchlint.recording.factors.memory import FreshMemory
from torchlint.recording.in_command.mode import current_node
from torchlint.recording.journal.aside import Aside
from torchlint.recording.journal.places import Place, Places
from torchlint.recording.journal.records import Direction
from torchlint.recording.journal.rows import OpenRow, Schema, StepRows
from torchlint.recording.journal.steps import Hooks, StepValues
from torchlint.recording.tracing.anomaly import trace_of

COMPILED_BACKWARD = "CompiledFunctionBackward"
"""The node by which a compiled region runs its backward pass: one row stands for all in it."""


class Operators:
    def __init__(self, rows: StepRows, values: StepValues, places: Places, hooks: Hooks, aside: Aside) -> None:
        self.aside = aside
        self.writes_rows = False
        self.total = 0
        """Operators so far, without those of optimizers."""
        self.memory: FreshMemory | None = None
        """What fills memory that an operator hands out unwritten."""
        self._rows = rows
        self._values = values
        self._places = places
        self._hooks = hooks
        self._schemas: dict[int, Schema] = {}

    def counted(self, called: Any) -> Schema:  # noqa: ANN401 - an operator
        """Count an operator that is about to run."""
        schema = self._schemas.get(id(called))  # the hash of an operator is computed in Python, each time
        if schema is None:
            schema = self._schemas[id(called)] = Schema(called)
        if not self._hooks.in_optimizer:
            self.total += 1
        return schema

    def begin(
        self,
        schema: Schema,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: FrameType | None,
        thread: int,
    ) -> OpenRow | None:
        """The row of an operator that is about to run."""
        if self._rows.is_full or not schema.is_told:
            return None
        node = current_node()
        direction: Direction = "forward"
        if node is not None:
            if node.name().startswith(COMPILED_BACKWARD):
                return None
            direction, place = "backward", self._places.backward(frame, trace_of(node, Place))
        else:
            place = self._places.forward(frame)
            if self._hooks.in_optimizer:
                direction = "update"
        row = self._rows.begin_row(schema.name, direction, place, thread)
        self._rows.add_operands(row, schema.read_by(args, kwargs))
        row.arguments = schema.arguments_digest(args, kwargs, [each.offset for each in row.operands])
        if schema.draws:
            device = args[0].device if args and isinstance(args[0], torch.Tensor) else kwargs.get("device")
            row.generator = self._rows.digest_of_state(kwargs.get("generator"), device)
        return row

    def end(
        self,
        schema: Schema,
        row: OpenRow | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,  # noqa: ANN401
    ) -> None:
        """Look at what an operator did."""
        if schema.reads:
            self._values.add_read(result)
        if row is not None:
            written = schema.written_by(args, kwargs, result)
            allocates = schema.allocates and self.memory is None
            self._rows.end_row(row, written, allocates=allocates, is_exchange=schema.is_exchange)
