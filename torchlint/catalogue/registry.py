"""The typed form of the registry (`rules/registry/`): operators, switches, names and programs.

`under_mode` says what an operator does with `torch.use_deterministic_algorithms(True)`.
"""

from __future__ import annotations

import itertools
import re
from typing import Literal

import msgspec

from torchlint.catalogue.detection import Condition, ConfidenceName, Receiver
from torchlint.catalogue.libraries import Releases
from torchlint.catalogue.versions import FIRST_WITH_MODE, Minor, VersionRange, format_minor

UnderMode = Literal["raises", "deterministic_alternative", "silent_nondeterministic", "always_deterministic"]
Device = Literal["cpu", "cuda", "rocm", "mps", "xpu", "*"]
"""An operator without a row for `rocm` is there what it is on `cuda`: torch runs the same sources on both."""


class Argument(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One argument of a spelling; `position` counts as in a condition."""

    argument: str
    position: int


class Spelling(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One public way to reach an operator, with its argument conditions.

    A call in full (`call`), a tensor method (`method`; `__matmul__` is `@`), or `subscript`: `read` is `x[i]`, `store`
    is `x[i] = v` and `add` is `x[i] += v` (and the other operations of that kind).
    """

    call: str = ""
    method: str = ""
    subscript: Literal["", "read", "store", "add"] = ""
    receiver: Receiver = "tensor"
    where: tuple[Condition, ...] = ()
    made_with: tuple[Condition, ...] = ()
    """Of an instance that is called (`torch.nn.CTCLoss()`), or a function of it: conditions on its making."""
    input: str = ""
    """The argument (position 0) whose element type counts and whose gradient drives a backward-only function, `self`
    for a method or a subscript; empty for a module class."""
    source: Argument | None = None
    """A second argument whose element type counts: the values that are added or stored."""
    index: Argument | None = None
    """The argument that holds the indices."""
    window: Argument | None = None
    step: Argument | None = None
    """The kernel size of a pooling and its stride (left out: the kernel size), or its output size."""
    target: Argument | None = None
    """The argument that has one dimension less than the input: the class of each of its places."""
    dimensions: int = 0
    """How many dimensions the input has by this name alone, where the code shows nothing: `NLLLoss2d` is for planes."""
    steady: Argument | None = None
    """A second tensor whose gradient alone also runs the backward pass, and does not vary (`grid` of `grid_sample`)."""
    takes_signals: bool = False
    """The input is mostly raw data (`torch.stft`): gradients are seen to reach it only in a loss."""

    def __post_init__(self) -> None:
        if sum(map(bool, (self.call, self.method, self.subscript))) != 1:
            raise ValueError("a spelling takes exactly one of `call`, `method` and `subscript`")
        if self.subscript and (self.where or self.index or self.source):
            raise ValueError("a `subscript` has no arguments: leave out `where`, `index` and `source`")

    @property
    def key(self) -> str:
        """The name in full, `.method`, or `[subscript]`."""
        return self.call or (f".{self.method}" if self.method else f"[{self.subscript}]")


ElementType = Literal["float", "complex", "integer", "bool"]


class OperatorCondition(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """When the operator varies, for readers (`text`) and for machines (the rest; an empty field claims nothing).

    What the code evidently contradicts is not reported. What it leaves open is reported, unless `unknown` says to give
    only a hint (info, with the words of `hint`) or to keep silent.
    """

    text: str
    dtype: tuple[ElementType, ...] = ()
    evident_dtype: bool = False
    """An element type that the code does not show is taken for another one: most such calls are about integers."""
    rank: str = ""
    """How many dimensions the input has: `4-D`, or `>=3-D`."""
    repeated_indices: bool | None = None
    overwrites: bool = False
    """At a repeated index the last write wins. Code seldom means that, so an index's name alone is no evidence."""
    overlapping_windows: Literal["", "any", "strided", "adaptive", "view"] = ""
    """Pooling windows share elements: the stride is below the kernel size (`strided` excepts a stride of 1 without
    padding), or the output size, unless it is 1, does not divide the input evenly (`adaptive`). Or the strides of a
    view lead to one place twice (`view`)."""
    sums_entries: bool = False
    """It adds up the entries in a row of a sparse operand: one that is diagonal, or holds one entry, adds nothing."""
    exact_below: int = 0
    """It counts in floating point: sums are exact while the input holds fewer elements than this."""
    result: Literal["", "indices", "used"] = ""
    """Only this part of the result varies; `used`: the result does, for whoever makes something of it."""
    only_refused: bool = False
    """Nothing varies: the mode refuses such calls all the same, where a row says `any_input`."""
    unknown: Literal["report", "hint", "silence"] = "report"
    hint: str = ""
    """What is left open, as the end of the sentence "varies between runs on CUDA ...": `where indices repeat`."""

    def __post_init__(self) -> None:
        if self.rank and not re.fullmatch(r"(>=)?[1-9]-D", self.rank):
            raise ValueError(f"`rank`: `{self.rank}` is neither like `4-D` nor like `>=3-D`")
        if self.unknown == "hint" and not self.hint:
            raise ValueError('`unknown = "hint"` needs the words of `hint`')

    @property
    def is_always_open(self) -> bool:
        """No machine field can tell whether it holds; `unknown` says what to do."""
        return bool(self.hint) and not (self.rank or self.repeated_indices or self.overlapping_windows or self.result)


class Row(Releases, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Behaviour on one device over one range of torch releases, in some releases of the operator's library."""

    device: Device
    torch: str
    under_mode: UnderMode
    confidence: ConfidenceName
    under_warn_only: UnderMode | None = None
    """Only where `warn_only=True` differs from what `under_mode` implies (attention)."""
    any_input: bool = False
    """The mode raises whatever the condition says: the call is refused, not the case that varies."""
    any_type: bool = False
    """It raises for element types, too, for which nothing varies."""

    def __post_init__(self) -> None:
        VersionRange.parse(self.torch)
        if (self.any_input or self.any_type) and self.under_mode != "raises":
            raise ValueError("`any_input` and `any_type` are about rows that say `raises`")

    @property
    def range(self) -> VersionRange:
        return VersionRange.parse(self.torch)

    def without_mode(self) -> Row:
        """What the row lets one guess of older releases: what the mode would change or refuse, varied before it."""
        varies = self.under_mode != "always_deterministic"
        status: UnderMode = "silent_nondeterministic" if varies else "always_deterministic"
        return Row(device=self.device, torch=f"<{format_minor(FIRST_WITH_MODE)}", under_mode=status, confidence="low")


class Surroundings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`with sdpa_kernel(SDPBackend.MATH):`, a context manager by its full name and what its arguments must be."""

    call: str
    where: tuple[Condition, ...] = ()


class Operator(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One entry of the registry. `rule` is the code that reports it, or `context` when it only explains."""

    id: str
    rule: str
    title: str
    library: str = "torch"
    """The package that brings the operator."""
    releases: tuple[str, ...] = ()
    """The releases of `library` that were looked at, oldest first, where rows differ between them."""
    direction: Literal["forward", "backward", "both"]
    varies: str = ""
    """What varies, where it is not the result of the whole pass: `the indices of equal values`."""
    condition: OperatorCondition
    spelling: tuple[Spelling, ...]
    row: tuple[Row, ...]
    models: tuple[str, ...] = ()
    """Of an operator that only explains: modules and functions of other libraries that make networks with it.

    They count for what was not measured (`rules/registry/models/`), such as `timm.create_model(name)`.
    """
    unless_within: tuple[Surroundings, ...] = ()
    """Context managers inside which it is steady."""
    unless_set: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """Environment variables that make it steady, and the values that do (none: any value).

    With `releases`: in those where the determinism mode makes it so, too.
    """
    unless_switched: dict[str, bool] = msgspec.field(default_factory=dict)
    """Switches of torch that make it steady, and the value that does."""
    aten: tuple[str, ...] = ()
    alerts: tuple[str, ...] = ()
    advice: str
    sources: tuple[str, ...]
    confidence: ConfidenceName
    notes: str = ""
    doc_mismatch: str = ""
    verified_at: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.sources:
            raise ValueError(f"operator `{self.id}` names no source")
        for release in self.releases or ("",):
            rows = self._rows_of(release)
            for device in dict.fromkeys(row.device for row in rows):
                self._check_rows([row.range for row in rows if row.device == device], device)

    def _check_rows(self, ranges: list[VersionRange], device: str) -> None:
        for earlier, later in itertools.pairwise(ranges):
            if earlier.before is None or earlier.before != later.since:
                raise ValueError(f"operator `{self.id}`: the rows for {device} leave a gap or overlap at `{later}`")

    def _rows_of(self, release: str) -> list[Row]:
        try:
            return [row for row in self.row if not release or release in row.among(self.releases)]
        except ValueError as error:
            raise ValueError(f"operator `{self.id}`: {error}") from error

    def within(self, release: str) -> Operator:
        """The same operator, as a release of its library has it; one without `releases` is the same in all."""
        if not self.releases:
            return self
        rows = (msgspec.structs.replace(row, since="", before="") for row in self._rows_of(release))
        return msgspec.structs.replace(self, releases=(release,), row=tuple(rows))

    @property
    def is_context(self) -> bool:
        """Whether no rule reports it: it only explains."""
        return self.rule == "context"

    @property
    def has_alternative(self) -> bool:
        """Whether the determinism mode has another kernel for it, on some device in some release."""
        return any(row.under_mode == "deterministic_alternative" for row in self.row)

    def row_for(self, device: str, minor: Minor) -> Row | None:
        """The row of a release; before the mode began, where nobody read the kernel, a guess from the mode's first.

        Of several releases of the library the newest is meant.
        """
        rows = [row for row in self.row if not row.before]
        if device == "rocm" and not any(row.device == device for row in rows):
            device = "cuda"
        found = next((row for row in rows if row.device in (device, "*") and minor in row.range), None)
        if found is None and minor < FIRST_WITH_MODE:
            first = self.row_for(device, FIRST_WITH_MODE)
            return None if first is None else first.without_mode()
        return found


class OperatorFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    operator: tuple[Operator, ...]


class OperatorTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What rules of the registry say, by status and mode; a rule may have words of its own."""

    mode: str
    """What the determinism mode costs: closes the remedy of rules whose operators have an alternative under it."""
    messages: dict[str, str]
    advice: dict[str, str]
    newer: str
    """The fix of what concerns older releases alone, with `{newer}`: the package and the release to require."""
