"""What the rest of a project needs to know about one file: plain data that outlives its syntax tree.

Code that runs is named by symbols: a function's qualified name, `<main>` for what stands under the main guard, and the
empty string for what runs at import.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from torchlint.diagnostics import Location
from torchlint.facts.call_edges import Edge
from torchlint.facts.data_loading.loaders import Workers
from torchlint.facts.differentiation import Passage
from torchlint.facts.entries import Entry
from torchlint.facts.environment import EnvironmentWrite
from torchlint.facts.modes import ModeCall, SwitchWrite
from torchlint.facts.objects import GivenObject
from torchlint.facts.options.configurations import Configuration
from torchlint.facts.options.declared import Option
from torchlint.facts.options.demands import Demand
from torchlint.facts.places import Place
from torchlint.facts.randomness.draws import Draw
from torchlint.facts.randomness.seeding import SeedCall
from torchlint.facts.registries import Registration, TableUse
from torchlint.facts.training.steps import Training
from torchlint.facts.values import Constant

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.watch import Watch

Told = TypeVar("Told")


class Parameters(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A function's parameters in order, and the literal defaults among them."""

    names: tuple[str, ...]
    defaults: tuple[tuple[str, Constant], ...]


class OperatorCall(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One call of an operator of the registry, or a store that reaches it."""

    operator: str
    name: str
    """What is called, as it is written."""
    symbol: str
    location: Location
    passage: Passage | None = None
    """Of what varies only backward: the function that a gradient has to come back through."""
    demands: tuple[Demand, ...] = ()
    """What parameters have to be for it to run: `if self.use_softmax:`."""


class Import(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A symbol imports a project file; `name` is what it asks of that file, empty where it may ask anything."""

    symbol: str
    path: str
    name: str


class FileSummary(msgspec.Struct, frozen=True, array_like=True, gc=False):
    path: str
    start: Place
    """The beginning of the file."""
    libraries: frozenset[str]
    """Top-level packages from outside the project that the file imports anywhere."""
    imports: tuple[Import, ...]
    entries: tuple[Entry, ...]
    edges: tuple[Edge, ...]
    modes: tuple[ModeCall, ...]
    environment: tuple[EnvironmentWrite, ...]
    parameters: tuple[tuple[str, Parameters], ...]
    """Of the functions that set the mode on a parameter's word."""
    registrations: tuple[Registration, ...]
    tables: tuple[TableUse, ...]
    """Those that functions of the file fill with what they are given."""
    functions: frozenset[str]
    """The qualified names of all functions and methods."""
    bases: tuple[tuple[str, str], ...]
    """Pairs of a class and a base class, by its full name."""
    results: tuple[GivenObject, ...]
    """The objects of the project that functions of the file give."""
    seeds: tuple[SeedCall, ...]
    draws: tuple[Draw, ...]
    """The first draw of each symbol from each generator, for each thing that draws make."""
    trainings: tuple[Training, ...]
    """The first call of each symbol that does a part of a training."""
    workers: tuple[Workers, ...]
    """Of the data loaders that are made."""
    worker_inits: tuple[str, ...]
    """The project's functions that are given to loaders as `worker_init_fn`."""
    switches: tuple[SwitchWrite, ...]
    operators: tuple[OperatorCall, ...]
    """Those that vary for certain, as the check of operators finds them; with a passage, if a gradient comes there."""
    overwrites_switch: bool
    """Whether a function that sets the mode is assigned to, which destroys it (TL201)."""
    forwards: frozenset[str]
    losses: frozenset[str]
    """Symbols where gradients are seen to flow by themselves."""
    options: tuple[Option, ...]
    """Those that the file declares, and those that its code settles."""
    configurations: tuple[Configuration, ...]
    """Those that the file loads, where all that becomes of them is seen."""
    loads_weights: frozenset[str]
    """Symbols that load weights into a model, whatever is asked."""
    devices: frozenset[str]
    """Those that its text speaks of, and its code may name: `Project.devices_in` tells."""
    extracts: dict[str, Any]
    """What single rules asked besides, by the names of their questions: `Extract.of` reads it."""


class Extract(Generic[Told]):
    """What single rules ask of every file besides: a name of its own, the kind of plain data, and how it is taken.

    It stands beside the rule, or the question, that reads it, and is taken only if a selected rule asks for it: with
    `_STARTS = Extract("starts", tuple[ProcessStart, ...], process_starts)` and `@check(..., asks=(_STARTS,))` a judge
    reads `_STARTS.of(project.summaries[path])`.
    """

    def __init__(self, name: str, kind: type[Told], take: Callable[[FileFacts, Watch], Told]) -> None:
        self.name = name
        self._kind = kind
        self.take = take

    def of(self, summary: FileSummary) -> Told:
        """What a file told. Raises LookupError if no selected rule asks for it: a check that reads it has to say so."""
        try:
            told = summary.extracts[self.name]
        except KeyError:
            raise LookupError(f"no selected rule asks for {self.name}") from None
        if isinstance(told, list):  # as it comes from a cache
            told = summary.extracts[self.name] = msgspec.convert(told, self._kind)
        found: Told = told
        return found
