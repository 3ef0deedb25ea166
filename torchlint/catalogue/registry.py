"""The typed form of the registry (`rules/registry/`): operators, switches, names and programs.

`under_mode` says what an operator does with `torch.use_deterministic_algorithms(True)`.
"""

from __future__ import annotations

import itertools
from typing import Literal

import msgspec

from torchlint.catalogue.detection import Condition, ConfidenceName, Receiver, Scalar
from torchlint.catalogue.versions import Minor, VersionRange

UnderMode = Literal["raises", "deterministic_alternative", "silent_nondeterministic", "always_deterministic"]
Device = Literal["cpu", "cuda", "mps", "xpu", "*"]


class Spelling(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One public way to reach an operator: a call in full, or a tensor method, with its argument conditions."""

    call: str = ""
    method: str = ""
    receiver: Receiver = "tensor"
    where: tuple[Condition, ...] = ()
    input: str = ""
    """The argument (position 0) whose gradient drives a backward-only function, `self` for a method; empty for a
    module class."""
    takes_signals: bool = False
    """The input is mostly raw data (`torch.stft`): gradients are seen to reach it only in a loss."""

    def __post_init__(self) -> None:
        if bool(self.call) == bool(self.method):
            raise ValueError("a spelling takes exactly one of `call` and `method`")


class OperatorCondition(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """When the operator varies, for readers (`text`) and for machines (the rest; an empty field claims nothing)."""

    text: str
    dtype: tuple[Literal["float", "complex", "integer", "bool"], ...] = ()
    rank: str = ""
    repeated_indices: bool | None = None


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Behaviour on one device over one range of torch releases."""

    device: Device
    torch: str
    under_mode: UnderMode
    confidence: ConfidenceName
    under_warn_only: UnderMode | None = None
    """Only where `warn_only=True` differs from what `under_mode` implies (attention)."""

    def __post_init__(self) -> None:
        VersionRange.parse(self.torch)

    @property
    def range(self) -> VersionRange:
        return VersionRange.parse(self.torch)


class Operator(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One entry of the registry. `rule` is the code that reports it, or `context` when it only explains."""

    id: str
    rule: str
    title: str
    direction: Literal["forward", "backward", "both"]
    condition: OperatorCondition
    spelling: tuple[Spelling, ...]
    row: tuple[Row, ...]
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
        for device in dict.fromkeys(row.device for row in self.row):
            self._check_rows(device)

    def _check_rows(self, device: str) -> None:
        rows = [row.range for row in self.row if row.device == device]
        for earlier, later in itertools.pairwise(rows):
            if earlier.before is None or earlier.before != later.since:
                raise ValueError(f"operator `{self.id}`: the rows for {device} leave a gap or overlap at `{later}`")

    def row_for(self, device: str, minor: Minor) -> Row | None:
        return next((row for row in self.row if row.device in (device, "*") and minor in row.range), None)


class OperatorFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    operator: tuple[Operator, ...]


class SwitchAttribute(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: str
    torch: str = ""
    """Releases that have the attribute; empty means every release checked."""


class SwitchModule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A torch namespace whose attributes are switches, with all real attributes.

    `unknown_name` says what an assignment to a name it does not have does: `silent` (a dead attribute) or `raises`.
    """

    name: str
    unknown_name: Literal["silent", "raises"]
    attribute: tuple[SwitchAttribute, ...]


class SwitchFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    sources: tuple[str, ...]
    missing_namespaces: tuple[str, ...] = ()
    """Namespaces that look like torch's but do not exist (`torch.backend`): every use raises AttributeError."""
    module: tuple[SwitchModule, ...]


class ModeSwitch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A call that sets the determinism mode. `values` maps the argument's value to the mode it gives."""

    call: str
    argument: str
    position: int | None = None
    default: Scalar | msgspec.UnsetType = msgspec.UNSET
    on: tuple[Scalar, ...] = ()
    warn_only: tuple[Scalar, ...] = ()
    off: tuple[Scalar, ...] = ()
    warn_argument: str = ""
    """A keyword that, when true, turns `on` into `warn_only`."""
    sets_cublas_workspace: bool = False
    torch: str = ""


class ProgramFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What makes a file a program, and the calls that matter to one."""

    sources: tuple[str, ...]
    command_decorators: tuple[str, ...]
    training_methods: tuple[str, ...]
    mode: tuple[ModeSwitch, ...]


class NameFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Names and where they really live."""

    libraries: tuple[str, ...]
    """Top-level packages that make a file interesting to torchlint."""
    same: dict[str, str]
    """Prefix → prefix: the private home of a public name (`torch.nn.modules.conv` → `torch.nn`)."""
    reexports: dict[str, dict[str, str]]
    """Modules whose star import binds other libraries' names (`fastai.vision.all`)."""
    tensor_functions: tuple[str, ...]
    """Functions that return a tensor."""
    tensor_annotations: tuple[str, ...]


class TorchFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which torch releases exist, and the newest that the registry was checked against."""

    releases: tuple[str, ...]
    newest_checked: str
