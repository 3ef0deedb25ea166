"""What travels between the command and the process that runs the user's code: plain data, and no torch."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from torchlint.recording.names import ProbeName, VerdictName

TargetKind = Literal["module", "function", "object", "statement"]
"""A class that is an `nn.Module`; a function; a name of the file that holds a module or a loader; lines of a file."""


Passes = Literal["forward and backward", "forward", "forward, no gradient"]
"""What ran: `forward` where nothing trains, `no gradient` where there are parameters and none reaches them."""


class CallSite(msgspec.Struct, frozen=True, kw_only=True):
    """One call in the project, with its arguments as Python source; nothing for one that cannot be known."""

    args: tuple[str, ...] = ()
    kwargs: dict[str, str] = {}
    place: str = ""
    """Where it stands, as `models.py:12`."""
    is_literal: bool = True
    """Whether all arguments are literals: others are evaluated as far as they can be."""
    imports: tuple[str, ...] = ()
    """The statements that the arguments need, as `import torch`."""


class Hooks(msgspec.Struct, frozen=True, kw_only=True):
    """What the user's configuration says about one target (`[tool.torchlint.verify."pkg.models:UNet"]`)."""

    args: tuple[object, ...] = ()
    kwargs: dict[str, object] = {}
    inputs: tuple[str, ...] = ()
    """Such as `float32[2,3,64,64]`, `int64[2]{0..10}` (0 to 9), `mask=bool[2,5]`, or a literal such as `None`."""
    factory: str = ""
    """`package.module:function`, which returns (module, args, kwargs[, loss])."""

    @property
    def is_empty(self) -> bool:
        return not (self.args or self.kwargs or self.inputs or self.factory)


class Code(msgspec.Struct, frozen=True, kw_only=True):
    """What to load.

    `text` is the file with all that the target does not need blanked out, so that lines keep their number.
    """

    path: str
    """The file, in full."""
    module: str
    """Its dotted name within the project, as `pkg.models.unet`."""
    text: str
    search_paths: tuple[str, ...] = ()
    """The folders that its imports are looked up in, after the verifier's own."""
    registering: tuple[str, ...] = ()
    """Modules of the project that put classes into a registry which the file imports."""


class OperatorFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a probe needs of one entry of the registry, for the torch that runs."""

    id: str
    aten: tuple[str, ...]
    """Full names, as `aten.index_add.default`."""
    direction: Literal["forward", "backward", "both"]
    varies_on: tuple[str, ...] = ()
    """The devices on which it varies while the determinism mode is off."""
    raises_on: tuple[str, ...] = ()
    """The devices on which torch refuses it under the determinism mode."""
    alerts: tuple[str, ...] = ()
    """The names by which torch refuses it."""
    dtype: tuple[str, ...] = ()
    """The element types for which it varies: float, complex, integer, bool; none is any."""
    rank: str = ""
    """How many dimensions the input has: `4-D`, or `>=3-D`."""
    repeated_indices: bool = False
    """It varies only where an index is there twice."""
    overlapping_windows: Literal["", "any", "strided", "adaptive", "view"] = ""
    ties: bool = False
    """Only the indices of equal values vary."""
    sums_entries: bool = False
    """It adds up the entries in a row of a sparse operand."""
    exact_below: int = 0
    """It counts in floating point, exactly while the input holds fewer elements than this."""
    steady_if: dict[str, str] = {}
    """By device, the switches that make it steady there: `the determinism mode is on`."""
    when: str = ""
    """The condition in words, where none of the fields above holds it."""
    is_context: bool = False
    """No rule reports it: nearly every program has it, and a switch makes it steady."""
    is_refused: bool = False
    """The program turns the determinism mode on: `varies_on` are the devices on which torch then refuses the call."""
    any_input: bool = False
    """Refused whatever its values are, if its element type and rank fit."""


class ProbedFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One finding, as the process is asked about it. Lines count in the text that is loaded."""

    index: int
    """Its place among the findings of the run."""
    code: str
    line: int
    end_line: int
    probes: tuple[ProbeName, ...]
    variant: str = "default"
    operators: tuple[OperatorFacts, ...] = ()
    snippet: str = ""
    """The flagged expression or statement, as source."""
    mode_on: bool = False
    """The program turns the determinism mode on."""


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """A class of another file that holds the target as a part."""

    name: str
    code: Code
    hooks: Hooks = Hooks()


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """The tables of a file that the project ships."""

    place: str
    """Its path below the root of the project."""
    entries: dict[str, Any]


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What to run."""

    kind: TargetKind
    name: str
    """The class, function or name; for statements, the file's stem."""
    enclosing: tuple[str, ...] = ()
    """Modules of the same file that hold this one as a part; they are tried first, the outermost before the others."""
    applied_by: tuple[str, ...] = ()
    """Where it is a `torch.autograd.Function`: what of the same file applies it."""
    holders: tuple[Holder, ...] = ()
    """Those of other files, which are tried before them."""
    calls: dict[str, tuple[CallSite, ...]] = {}
    """Calls in the project, by the name of the class or function."""
    inputs: dict[str, tuple[CallSite, ...]] = {}
    """What the project calls instances of a class, a method (`Net.encode`) or a function with."""
    options: dict[str, str] = {}
    """What the project's options are by default, as Python source; `{}` for one that holds others."""
    configurations: tuple[Configuration, ...] = ()
    """Those that the project ships, the smallest first."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """All that one process is asked."""

    code: Code
    target: Target
    findings: tuple[ProbedFinding, ...]
    hooks: Hooks = Hooks()
    devices: tuple[str, ...] = ("cpu",)
    runs: int = 10
    threads: int = 2
    seed: int = 0
    seconds: float = 60.0
    """Seconds in which it may work, or sleep, without waiting for a processor; probes plan with a part of them."""
    memory_bytes: int = 0
    """What it may take; 0 where nobody limits it."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What one probe says about one finding."""

    finding: int
    probe: ProbeName
    verdict: VerdictName
    device: str
    reason: str
    """One sentence, without a full stop."""
    evidence: dict[str, object] = {}


class Environment(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Where a verdict was reached: bits depend on all of it."""

    torch: str
    python: str
    platform: str
    cpu: str
    cpu_capability: str
    threads: int
    devices: dict[str, str]
    """Each device's name, such as `{"cpu": "x86_64", "cuda": "NVIDIA H200"}`."""
    variables: dict[str, str]
    seed: int


class Executed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """How the target came to run: said once, before the answers."""

    name: str
    """What was run: the target, or the module that encloses it."""
    path: str = ""
    """The file of that module, where it is another one."""
    built_by: str = ""
    """Such as `literal arguments at models.py:12`, or `invented arguments`."""
    construction: str = ""
    """The call that built it, as source: `UNet(in_channels=3, classes=10)`."""
    inputs: tuple[str, ...] = ()
    """As `float32[2,3,64,64]`."""
    invented_inputs: bool = True
    passes: Passes | None = None
    """How far it came; None of what was told before that was known."""
    stubs: tuple[str, ...] = ()
    """Imports that were missing and stood in for."""
    attempts: int = 1


Message = Answer | Executed | Environment
"""What the process sends back, in this order: one Environment, at most one Executed, any number of Answers."""
