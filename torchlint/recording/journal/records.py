"""What a recording (`a.tlrec`) holds, frame by frame. docs/diverge.md describes the file for other readers."""

from __future__ import annotations

from typing import Literal

import msgspec

from torchlint.recording.journal.names import Level

REQUEST = "journal.json"
"""The file, in the folder of a run, by which the driver says what to record."""
VERSION = 1
COLLECTIVES = ("c10d.", "c10d_functional.", "_c10d_functional.")
"""How the names of operators begin that exchange tensors among ranks."""

Direction = Literal["forward", "backward", "update"]
"""An update is what an optimizer's step runs."""
EventKind = Literal["listing", "read", "write", "seed", "draw", "entropy", "sample"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the recorder is asked for."""

    level: Level = "step"
    first_rows: int = 1
    """The first step of which operators are written."""
    last_rows: int | None = None
    """And the last one."""
    kept_step: int | None = None
    """The step of which tensors are kept whole."""
    last_step: int | None = None
    """The program is ended after this step."""
    seconds: float | None = None
    """The program is ended at the first step that ends later."""
    held: tuple[str, ...] = ()
    varied: tuple[str, ...] = ()
    folder: str = ""
    """Where the command was started: paths are told relative to it."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """First frame: what process this is, and all around it that bits depend on."""

    version: int = VERSION
    pid: int
    parent: int
    role: str
    """`main`, `rank 3`, `worker 0 of rank 3`."""
    argv: tuple[str, ...]
    folder: str
    level: Level
    seconds: float
    """Since the epoch, when the recording began."""
    software: dict[str, str]
    """Releases by name: `python`, `torch`, `numpy`."""
    machine: dict[str, str]
    """`platform`, `cpu`, `cpu capability`, `threads`, and a line for each device."""
    variables: dict[str, str]
    switches: dict[str, str] = {}
    held: tuple[str, ...] = ()
    varied: tuple[str, ...] = ()


class Names(msgspec.Struct, frozen=True, array_like=True):
    """Texts and places that later frames mean by their number: each frame of this kind goes on counting."""

    texts: tuple[str, ...]
    places: tuple[tuple[tuple[str, int], ...], ...]
    """Stacks of (file, line) outside torch, innermost first."""


class Tensor(msgspec.Struct, array_like=True, gc=False):
    """The content of one tensor: `digest` depends on the order of elements; 0 where there is nothing to hash."""

    digest: int
    kind: int
    """The text `float32[64,3,32,32] cpu`, by its number."""
    writer: int = -1
    """For an operand, the row of this step that wrote its storage last; -1 for none."""
    is_parameter: bool = False
    is_unwritten: bool = False
    """Whether it lies in memory of `torch.empty` or its like that was not written as a whole since."""
    sample: tuple[float, ...] = ()
    """A few elements at even distances, to compare runs on two devices."""


class Row(msgspec.Struct, array_like=True, gc=False):
    """One operator, or one call of a module at that level."""

    operator: int
    direction: Direction
    place: int
    module: int
    operands: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    arguments: int = 0
    """The digest of numbers and words among the arguments, which Python gave, and of where operands begin that were
    written in this step: another part of one storage is another index."""
    generator: int = 0
    """The digest of the generator's state before it is drawn from; 0 for operators that draw nothing."""
    thread: int = 0
    """0 for the main thread; others are numbered in the order in which they come."""


class Outside(msgspec.Struct, array_like=True, gc=False):
    """Something that entered from outside torch: a listing, a file that is read or written, a seed, a first draw."""

    kind: EventKind
    what: str
    digest: int
    """Of the names in their order, of the file, of the seed; 0 where nothing is to be compared."""
    place: int
    row: int = 0
    """How many rows of the step were there before."""


class Step(msgspec.Struct, kw_only=True, gc=False):
    """All up to the end of an optimizer's step; the tail behind the last one is a step of its own."""

    number: int
    ends_with: str
    """`optimizer 1`, `module`, `fetch` in a worker of a loader, `end`."""
    operators: int
    """Since the program began."""
    losses: tuple[float, ...] = ()
    values: dict[str, int] = {}
    """What two runs are held to be equal by: digests of `loss`, `gradients`, `parameters`, `buffers`, `outputs`,
    `reads` (numbers that Python takes out of tensors)."""
    generators: dict[str, int] = {}
    """Digests of their states: `python`, `numpy`, `torch cpu`, `torch cuda:0`."""
    draws: dict[str, int] = {}
    """How often Python's and NumPy's global generators were drawn from."""
    sample: tuple[float, ...] = ()
    """Some parameters, always the same ones, to tell how far runs are apart."""
    seconds: float = 0.0


class Rows(msgspec.Struct, array_like=True, gc=False):
    """The rows of a step, written before it; `is_cut` where the recording had grown too large for them."""

    rows: tuple[Row, ...]
    outside: tuple[Outside, ...]
    is_cut: bool = False


class Values(msgspec.Struct, frozen=True, array_like=True):
    """The bytes of one tensor: of operand (`-1 - place`) or result (`place`) of a row."""

    row: int
    place: int
    dtype: str
    data: bytes


class End(msgspec.Struct, frozen=True, kw_only=True):
    """Last frame, which a process that is killed leaves out."""

    reason: str
    """`exit`, or `steps` and `seconds` where the recorder ended the program."""
    seconds: float
    troubles: tuple[str, ...] = ()
    """What broke in the recorder, and what could not be held."""


Frame = Header | Names | Step | Rows | Values | End
KINDS: dict[bytes, type[Frame]] = {b"H": Header, b"N": Names, b"S": Step, b"R": Rows, b"V": Values, b"E": End}
LETTERS = {kind: letter for letter, kind in KINDS.items()}
PACKED = frozenset({b"R", b"V"})
"""Frames whose payload is compressed with zlib."""
