"""A finding on its way to a diagnostic: positions known, the project's word still out."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

import msgspec

from torchlint.catalogue.detection import Condition
from torchlint.diagnostics import Confidence, Fix, Location, Related, Severity
from torchlint.facts.differentiation import Passage
from torchlint.facts.flow.values import Exit
from torchlint.facts.options.configurations import ConfiguredValue
from torchlint.facts.options.demands import Demand
from torchlint.facts.origins import Origin


class GivenByCalls(msgspec.Struct, frozen=True, array_like=True, gc=False, tag=True):
    """What calls of the project give a function for a parameter."""

    symbol: str
    """The function; of a constructor, the class."""
    parameter: str
    position: int | None
    """Among the arguments of a call."""


class Asked(msgspec.Struct, frozen=True, array_like=True, gc=False, tag=True):
    """What a value that the file does not show must be for a use to count."""

    source: GivenByCalls | ConfiguredValue | Origin
    condition: Condition
    is_usual: bool = False
    """The parameter meets it unless a caller says otherwise: the use counts unless all calls do."""


class AskedTensor(msgspec.Struct, frozen=True, array_like=True, gc=False, tag=True):
    """What a tensor that other files have must be for a use to count."""

    sources: tuple[Origin, ...]
    elements: tuple[str, ...]
    """Empty: any."""
    rank: int
    or_more: bool = False
    """It may have more dimensions."""
    is_usual: bool = False

    def is_met_by(self, element: str | None, ranks: AbstractSet[int]) -> bool:
        """Whether a tensor of these elements, and one of these numbers of dimensions, makes the use count."""
        fits = bool(ranks) and min(ranks) >= self.rank if self.or_more else ranks == {self.rank}
        return fits and (not self.elements or element in self.elements)


class AskedCallee(msgspec.Struct, frozen=True, array_like=True, gc=False, tag=True):
    """What some file must hand to a function for its call to be a use: `criterion` of `train(net, criterion)`."""

    source: Origin
    spelling: str
    """The entry's name for it, in full."""
    tensor: AskedTensor | None = None
    """What it must be given, where only other files say what that is."""
    is_usual: bool = False


class OperatorUse(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A registry entry that a call reaches.

    `holds` says whether what the code shows meets the entry's condition: `yes` (or it is open, and the entry says to
    report), `hint` (it is open, and the entry says to hint), `no` (it evidently does not: all that is left is that the
    mode may refuse the call), `never` (the element type leads elsewhere: the mode may refuse that as well).
    """

    id: str
    holds: str = "yes"
    asked: Asked | AskedTensor | AskedCallee | None = None


class Draft(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Plain data, so that it travels between processes. `path` is the file's path inside its project."""

    code: str
    check: str
    path: str
    location: Location
    source_line: str
    lines: tuple[int, int]
    """First and last line in the joined source, for suppressions."""
    values: Mapping[str, str]
    message: str
    severity: Severity | None
    confidence: Confidence | None
    related: tuple[Related, ...] = ()
    operators: tuple[OperatorUse, ...] = ()
    """Registry entries whose rows decide."""
    passage: Passage | None = None
    """The finding counts in full only where a gradient is seen to come back through this."""
    demands: tuple[Demand, ...] = ()
    """What parameters have to be for the code to run."""
    torch: str = ""
    """The releases the finding is about; empty for all."""
    devices: tuple[str, ...] = ()
    """The devices the finding is about; empty for all."""
    exits: tuple[Exit, ...] = ()
    """The finding counts only where something is made of the value beyond one of them."""
    origins: tuple[Origin, ...] = ()
    """Where the value comes from that decides."""
    fix: Fix | None = None
    """Instead of the rule's own fix."""
    is_open: bool = False
    """It is a point that its rule leaves open, and no finding."""

    @property
    def symbol(self) -> tuple[str, str]:
        """The file and the part of it that runs the code at hand, where the check has told that."""
        return self.path, self.values["symbol"]
