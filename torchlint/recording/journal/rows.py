"""The rows of one step: each operator with digests of what it takes and gives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from torchlint.recording.journal.digests import Digest, Digests, bytes_of, digest_of_bytes, kind_of, resolved
from torchlint.recording.journal.interning import Interned
from torchlint.recording.journal.places import Place
from torchlint.recording.journal.records import COLLECTIVES, Direction, Outside, Row, Rows, Tensor, Values
from torchlint.recording.journal.samples import Sample, Samples, fetched

_MOST_ROWS = 200_000
"""Of one step, and after that rows are left out: a program without steps would fill the memory."""
_MOST_BYTES = 256 << 20
"""Of tensors that are kept whole."""
_LARGEST_KEPT = 16 << 20
_PLAIN_ARGUMENTS = (int, float, complex, str, list, tuple)
_OVERWRITE = frozenset({"copy_", "fill_", "zero_", "_foreach_zero_", "_foreach_copy_"})
_UNTOLD = ("profiler.", "prim.", "aten.set_.")
"""What computes nothing: marks, and tensors that get the storage of another one, as those from other processes do."""
_ALLOCATE = ("empty", "new_empty", "resize_")


class OpenTensor:
    """A tensor whose digest may still lie on the device."""

    __slots__ = ("digest", "is_parameter", "is_unwritten", "kind", "offset", "sample", "storage", "writer")

    def __init__(self, digest: Digest, kind: int, storage: int, writer: int = -1) -> None:
        self.digest = digest
        self.storage = storage
        self.kind = kind
        self.writer = writer
        self.sample: Sample = ()
        self.is_unwritten = False
        self.offset = 0
        """Where it begins in a storage that was written in this step."""

    def closed(self, parameters: set[int]) -> Tensor:
        is_parameter = self.storage in parameters
        return Tensor(
            resolved(self.digest), self.kind, self.writer, is_parameter, self.is_unwritten, fetched(self.sample)
        )


class OpenRow:
    """An operator whose digests may still lie on the device."""

    __slots__ = (
        *("arguments", "direction", "generator", "module", "number", "operands", "operator", "place", "results"),
        "thread",
    )

    def __init__(self, number: int, operator: int, direction: Direction, place: int, module: int, thread: int) -> None:
        self.number = number
        self.operator = operator
        self.direction: Direction = direction
        self.place = place
        self.module = module
        self.thread = thread
        self.operands: list[OpenTensor] = []
        self.results: list[OpenTensor] = []
        self.arguments = 0
        self.generator: Digest = 0

    def closed(self, parameters: set[int]) -> Row:
        """The row with all digests fetched; `parameters` are the storages of the program's parameters."""
        return Row(
            operator=self.operator,
            direction=self.direction,
            place=self.place,
            module=self.module,
            operands=tuple(each.closed(parameters) for each in self.operands),
            results=tuple(each.closed(parameters) for each in self.results),
            arguments=self.arguments,
            generator=resolved(self.generator),
            thread=self.thread,
        )


class StepRows:
    """Collects the rows of the step that runs."""

    def __init__(self, digests: Digests, samples: Samples, interned: Interned) -> None:
        self._digests = digests
        self._samples = samples
        self.interned = interned
        self.keeps_values = False
        """Whether tensors of this step are kept whole."""
        self._kept = 0
        self._parameters: set[int] = set()
        self.clear()

    def clear(self) -> None:
        self._rows: list[OpenRow] = []
        self._writers: dict[int, int] = {}
        self._unwritten: dict[int, int] = {}
        """The sizes of storages that were only allocated, in bytes."""
        self._known: dict[int, StorageWeakRef] = {}
        """Storages that were written: as long as they are referred to, no other one gets their address."""
        self.outside: list[Outside] = []
        self._values: list[tuple[int, int, torch.Tensor]] = []

    @property
    def is_full(self) -> bool:
        return len(self._rows) >= _MOST_ROWS

    @property
    def count(self) -> int:
        return len(self._rows)

    def begin_row(self, operator: str, direction: Direction, place: Place, thread: int) -> OpenRow:
        """A new row, without tensors."""
        interned = self.interned
        where, module = interned.place(place), interned.text(place.module)
        row = OpenRow(len(self._rows), interned.text(operator), direction, where, module, thread)
        self._rows.append(row)
        return row

    def add_operands(self, row: OpenRow, operands: list[torch.Tensor]) -> None:
        """What the operator takes, looked at before it runs."""
        for position, tensor in enumerate(operands):
            taken = self._taken(tensor)
            row.operands.append(taken)
            if self.keeps_values and taken.writer < 0:
                self._keep(row.number, -1 - position, tensor)

    def _taken(self, tensor: torch.Tensor) -> OpenTensor:
        storage = _storage(tensor)
        kind = self.interned.text(kind_of(tensor))
        taken = OpenTensor(self._digests.of(tensor), kind, storage, self._writers.get(storage, -1))
        taken.sample = self._samples.of(tensor)
        taken.is_unwritten = storage in self._unwritten
        if taken.writer >= 0 and tensor.layout is torch.strided:
            taken.offset = int(tensor.storage_offset())
        if type(tensor) is torch.nn.Parameter:
            self._parameters.add(storage)
        return taken

    def add_parameters(self, parameters: Iterable[torch.Tensor]) -> None:
        """What an optimizer updates."""
        self._parameters.update(map(_storage, parameters))

    def end_row(
        self, row: OpenRow, written: list[torch.Tensor], *, allocates: bool = False, is_exchange: bool = False
    ) -> None:
        """Add what the operator wrote: results that are no views, and operands that it writes in place.

        Memory that is only allocated has no content yet, and what other ranks send comes later.
        """
        for position, tensor in enumerate(written):
            storage = _storage(tensor)
            size = tensor.numel() * tensor.element_size()
            digest = 0 if allocates or is_exchange else self._digests.of(tensor)
            result = OpenTensor(digest, self.interned.text(kind_of(tensor)), storage)
            row.results.append(result)
            self._writers[storage] = row.number
            if storage not in self._known and storage != id(tensor):
                self._known[storage] = StorageWeakRef(tensor.untyped_storage())
            if allocates:
                self._unwritten[storage] = size
                continue
            result.sample = () if is_exchange else self._samples.of(tensor)
            if size >= self._unwritten.get(storage, 0):
                self._unwritten.pop(storage, None)
            if self.keeps_values and digest:
                self._keep(row.number, position, tensor)

    def digest_of_state(self, generator: torch.Generator | None, device: torch.device | str | None) -> Digest:
        """The digest of the state that an operator draws from: its own generator's, or the one of its device."""
        if generator is not None:
            return self._digests.of(generator.get_state())
        kind = torch.device(device or "cpu").type
        if kind == "cpu":
            return self._digests.of(torch.get_rng_state())
        module = getattr(torch, kind, None)
        return self._digests.of(module.get_rng_state()) if module is not None else 0

    def _keep(self, row: int, place: int, tensor: torch.Tensor) -> None:
        size = tensor.numel() * tensor.element_size()
        if size <= _LARGEST_KEPT and self._kept + size <= _MOST_BYTES:
            self._kept += size
            self._values.append((row, place, tensor.detach().clone()))

    def closed(self) -> list[Rows | Values]:
        """The frames of the step: this waits for the device."""
        rows = Rows(tuple(each.closed(self._parameters) for each in self._rows), tuple(self.outside), self.is_full)
        values = [
            Values(row, place, str(tensor.dtype).removeprefix("torch."), bytes_of(tensor))
            for row, place, tensor in self._values
        ]
        return [rows, *values]


def _storage(tensor: torch.Tensor) -> int:
    try:
        address: int = tensor.untyped_storage()._cdata  # noqa: SLF001 - the address of its bytes may be none yet
        return address
    except (NotImplementedError, RuntimeError):  # a tensor without storage: sparse, wrapped, traced
        return id(tensor)


def _has_objects(values: list[Any] | tuple[Any, ...]) -> bool:
    return any(not isinstance(each, (bool, int, float, complex, str, type(None))) for each in values)


class Schema:
    """Which arguments of an operator are tensors, which it writes, and which of its results are new."""

    def __init__(self, called: Any) -> None:  # noqa: ANN401 - an operator
        schema = getattr(called, "_schema", None)
        arguments = schema.arguments if schema is not None else []
        results = schema.returns if schema is not None else []
        self.called = called  # it is known by its address, which no other one may get
        self.name = str(called)
        self.draws = torch.Tag.nondeterministic_seeded in getattr(called, "tags", ())
        self.written = frozenset(
            key
            for place, each in enumerate(arguments)
            if each.alias_info is not None and each.alias_info.is_write
            for key in (place, each.name)
        )
        self.overwritten = self.written if self.draws or self.name.split(".")[1] in _OVERWRITE else frozenset()
        """The arguments of which it is of no consequence what stood in their memory."""
        if self.name.startswith("aten.rrelu_with_noise_."):
            self.overwritten -= {0, "self"}  # it draws the noise, and reads what it writes itself to
        is_lifted = self.name.startswith("aten.lift")
        self.new_results = [is_lifted or each.alias_info is None for each in results] or [True]
        self.allocates = self.name.partition(".")[2].startswith(_ALLOCATE)
        self.is_exchange = self.name.startswith(COLLECTIVES) and ".wait_" not in self.name
        """Whether what it writes comes from other ranks, and is not there yet when it returns."""
        self.reads = self.name == "aten._local_scalar_dense.default"
        """Whether it takes a number out of a tensor, as `loss.item()` does."""

        self.is_told = any(self.new_results) or bool(self.written)
        """Whether it gets a row: what only makes another view of the same bytes gets none."""
        if self.name.startswith(_UNTOLD):
            self.is_told = False

    def arguments_digest(self, args: tuple[Any, ...], kwargs: dict[str, Any], offsets: list[int]) -> int:
        """The digest of what is no tensor: numbers, words and lists of them; and of where the operands begin."""
        plain = [each for each in (*args, *kwargs.values()) if isinstance(each, _PLAIN_ARGUMENTS)]
        plain = [each for each in plain if not (isinstance(each, (list, tuple)) and _has_objects(each))]
        return digest_of_bytes(repr((plain, offsets)).encode()) if plain or any(offsets) else 0

    def read_by(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
        """The tensors whose bytes a call may read."""
        found: list[torch.Tensor] = []
        for place, each in (*enumerate(args), *kwargs.items()):
            if place != "out" and place not in self.overwritten:
                tensors_of(each, found)
        return found

    def written_by(self, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> list[torch.Tensor]:  # noqa: ANN401
        """The tensors whose bytes a call changed or made."""
        in_place: list[torch.Tensor] = []
        if self.written:
            for place, each in enumerate(args):
                if place in self.written:
                    tensors_of(each, in_place)
            for name, each in kwargs.items():
                if name in self.written:
                    tensors_of(each, in_place)
        results = result if isinstance(result, (tuple, list)) and len(self.new_results) > 1 else (result,)
        new = [*in_place]
        for is_new, each in zip(self.new_results, results, strict=False):
            if is_new:
                tensors_of(each, new)
        return new


def tensors_of(value: Any, found: list[torch.Tensor]) -> list[torch.Tensor]:  # noqa: ANN401 - an argument
    """Add the tensors in an argument or a result of an operator: itself, or those of a list."""
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif isinstance(value, (list, tuple)):
        found.extend(each for each in value if isinstance(each, torch.Tensor))
    return found
