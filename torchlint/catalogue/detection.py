"""The declarative vocabulary: what a rule can look for without any Python.

The same tables describe registry operators and, through `extend-rules`, a team's own rules.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from torchlint.catalogue.versions import VersionRange

Scalar = str | int | float | bool | None
SeverityName = Literal["error", "warning", "info"]
ConfidenceName = Literal["high", "medium", "low"]
Receiver = Literal["tensor", "module", "any"]


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A claim about one argument of a call. An argument whose value is unknown satisfies no condition.

    `position` is the index among positional arguments (the receiver of a method is not counted). `options.mode` is the
    entry `"mode"` of a dictionary that the argument is.
    `default` is the value the callee uses when the argument is left out; without it a left-out argument fails.
    """

    argument: str
    position: int | None = None
    equals: tuple[Scalar, ...] | None = None
    not_equals: tuple[Scalar, ...] | None = None
    excludes: tuple[Scalar, ...] | None = None
    """The argument is none of these. It narrows: one that is unknown passes."""
    matches: str | None = None
    given: bool | None = None
    length: int | None = None
    """The argument is a tuple or list of this many elements. It narrows: one of unknown length passes."""
    not_all: Scalar = None
    """The argument is neither this value nor a tuple or list of nothing else. One that is unknown may be."""
    not_named: tuple[str, ...] | None = None
    """The argument is none of these, by their full names. It narrows: one that is left out or unknown passes."""
    named: tuple[str, ...] | None = None
    """The argument is one of these, by their full names, or a tuple or list of nothing else."""
    kind: Literal["tensor", "sparse"] | None = None
    """What the argument (`self`: a method's receiver) is. One that is unknown may be a tensor, and is not sparse."""
    element: Literal["integer"] | None = None
    """The element type of the argument. It narrows: one that is unknown passes."""
    default: Scalar | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        tests = (
            self.equals,
            self.not_equals,
            self.excludes,
            self.matches,
            self.given,
            self.length,
            self.not_all,
            self.not_named,
            self.named,
            self.kind,
            self.element,
        )
        if sum(test is not None for test in tests) != 1:
            raise ValueError(
                "a condition takes exactly one of `equals`, `not_equals`, `excludes`, `matches`, `given`, `length`, "
                "`not_all`, `not_named`, `named`, `kind` and `element`"
            )
        if self.matches is not None:
            re.compile(self.matches)

    @property
    def is_of_constants(self) -> bool:
        """Whether it is a claim about the constant that the argument is."""
        return any(one is not None for one in (self.equals, self.not_equals, self.matches))


class Pattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One shape of code that a rule reports.

    Names are written in full (`torch.nn.Conv2d`), however the code imports them.
    """

    call: tuple[str, ...] = ()
    """These functions or classes are called."""
    method: tuple[str, ...] = ()
    """A method of one of these names is called on a receiver of the kind `receiver`."""
    receiver: Receiver = "tensor"
    assign: tuple[str, ...] = ()
    """A value is assigned to one of these names, also through `setattr`."""
    value: tuple[Scalar, ...] | None = None
    """Only assignments of one of these values count."""
    unless_callable: bool = False
    """Assignments of a function, class or mock do not count: that is a replacement on purpose."""
    import_: tuple[str, ...] = msgspec.field(name="import", default=())
    """One of these modules or names is imported."""
    where: tuple[Condition, ...] = ()
    """All of these hold for the arguments of the call."""
    unless_guarded: bool = False
    """Not behind `hasattr`, a version test or `except AttributeError`."""
    torch: str = ""
    """Only for these torch releases, such as `>=1.11`."""
    devices: tuple[str, ...] = ()
    """Only when the project runs on one of these devices."""
    message: str = "default"
    """Which of the rule's messages is shown."""
    severity: SeverityName | None = None
    confidence: ConfidenceName | None = None

    def __post_init__(self) -> None:
        shapes = [bool(self.call), bool(self.method), bool(self.assign), bool(self.import_)]
        if sum(shapes) != 1:
            raise ValueError("a pattern takes exactly one of `call`, `method`, `assign` and `import`")
        if self.where and not (self.call or self.method):
            raise ValueError("`where` needs a `call` or a `method`")
        if self.value is not None and not self.assign:
            raise ValueError("`value` needs an `assign`")
        VersionRange.parse(self.torch)
