"""Each operator that is dispatched: counted always, and written as a row where that is asked for."""

from __future__ import annotations

from types import FrameType
from typing import Any

import torch

from torchlint.recording.factors.memory import FreshMemory
from torchlint.recording.in_command.mode import current_node
from torchlint.recording.journal.aside import Aside
from torchlint.recording.journal.digests import digest_of_bytes
from torchlint.recording.journal.places import Place, Places
from torchlint.recording.journal.records import Direction
from torchlint.recording.journal.rows import OpenRow, Schema, StepRows
from torchlint.recording.journal.steps import Hooks, StepValues
from torchlint.recording.tracing.anomaly import trace_of

COMPILED_BACKWARD = "CompiledFunctionBackward"
"""The node by which a compiled region runs its backward pass: one row stands for all in it."""
_MASK = (1 << 64) - 1
_MIX = 0x9E3779B97F4A7C15


class Operators:
    def __init__(self, rows: StepRows, values: StepValues, places: Places, hooks: Hooks, aside: Aside) -> None:
        self.aside = aside
        self.writes_rows = False
        self.total = 0
        self.calls = 0
        """The digest of the names of this step's operators in their order."""
        self.memory: FreshMemory | None = None
        """What fills memory that an operator hands out unwritten."""
        self._rows = rows
        self._values = values
        self._places = places
        self._hooks = hooks
        self._schemas: dict[Any, tuple[Schema, int]] = {}

    def begin_step(self) -> None:
        self.calls = 0

    def count(self, called: Any) -> None:  # noqa: ANN401 - an operator
        known = self._schemas.get(called)
        if known is None:
            schema = Schema(called)
            known = self._schemas[called] = (schema, digest_of_bytes(schema.name.encode()))
        self._add(known[1])

    def count_region(self, name: str) -> None:
        """Count a region that was compiled as one operator."""
        self._add(digest_of_bytes(name.encode()))

    def _add(self, digest: int) -> None:
        self.total += 1
        self.calls = (self.calls * _MIX + digest) & _MASK

    def looks_at(self, called: Any) -> bool:  # noqa: ANN401 - an operator
        """Whether the result matters although no row is written."""
        return self._schemas[called][0].reads

    def begin(
        self,
        called: Any,  # noqa: ANN401 - an operator
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: FrameType,
        thread: int,
    ) -> OpenRow | None:
        """The row of an operator that is about to run."""
        schema = self._schemas[called][0]
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
        called: Any,  # noqa: ANN401 - an operator
        row: OpenRow | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,  # noqa: ANN401
    ) -> None:
        """Look at what an operator did."""
        schema = self._schemas[called][0]
        if schema.reads:
            self._values.add_read(result)
        if row is not None:
            written = schema.written_by(args, kwargs, result)
            allocates = schema.allocates and self.memory is None
            self._rows.end_row(row, written, allocates=allocates, is_exchange=schema.is_exchange)
