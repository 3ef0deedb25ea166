"""The registry's files about programs: switches, who seeds and who draws, names and releases."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from torchlint.catalogue.detection import Scalar
from torchlint.catalogue.registry import Argument


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
    bears_on_results: bool = True
    """False where no switch changes what is computed: a wrong name is no reason for other numbers."""
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
    sets: tuple[str, ...] = ()
    """Environment variables that it sets to what the mode asks for."""
    makes_trainer: bool = False
    """The call makes a trainer, or its arguments: a program that trains with it can turn the mode on here."""
    since: str = ""
    """Of a call that seeds as well: the release of its library from which it can turn the mode on."""
    torch: str = ""


class ProcessStarters(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Calls that start processes: Python ones (`calls`), or whatever a command names (`commands`)."""

    calls: tuple[str, ...]
    commands: tuple[str, ...]
    other_programs: tuple[str, ...]
    """Programs that are no Python, and start none."""

    @property
    def calls_and_commands(self) -> frozenset[str]:
        return frozenset((*self.calls, *self.commands))


class Starter(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Calls that run a function which they are handed: where it stands, and where what it is given stands."""

    calls: tuple[str, ...]
    function: Argument
    arguments: Argument | None = None
    """Of the tuple of its arguments."""
    keywords: Argument | None = None
    rest: Literal["", "arguments", "elements", "rows"] = ""
    """What the other arguments of the call are: its own, or what it gets an element of (all its parts: `rows`)."""
    rank: bool = False
    """It gets the number of its process before all others."""
    worker: bool = False
    """Each call makes a process or thread of its own."""
    fresh: bool = False
    """It runs in a fresh interpreter, which has none of the parent's generators."""
    reseeds: bool = False
    """It runs in worker processes, where Python seeds `random` anew, forked or not."""
    cached: bool = False
    """What it gives is kept, and a second run on the same machine takes that."""
    only_with: str = ""
    """The keyword without which it runs in this process: `num_proc`."""


class Loading(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What data sets and loaders keep, and run for each sample or batch, maybe in worker processes."""

    arguments: tuple[str, ...]
    """The keywords that such functions are given by."""
    modules: tuple[str, ...]
    """Beginnings of the names of the library's own data sets and loaders."""
    positions: dict[str, int]
    """Of those that take such a function by position."""


class ProgramFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What makes a file a program, and the calls that matter to one."""

    sources: tuple[str, ...]
    command_decorators: tuple[str, ...]
    starter: tuple[Starter, ...]
    training_methods: tuple[str, ...]
    processes: ProcessStarters
    loading: Loading
    mode: tuple[ModeSwitch, ...]


Generator = Literal["torch", "torch.cuda", "numpy", "random", "engine"]
"""A random number generator that a library keeps for everybody; an engine for inference is one that no seed settles."""


class SeederEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Calls that seed generators."""

    calls: tuple[str, ...]
    seeds: tuple[Generator, ...]
    unasked: bool = False
    """They seed whether a program asks for it or not: that they do says nothing of what it wants."""


class DrawEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Calls that draw from a generator: not when one of `unless` is given, and only when `only` is evidently true."""

    calls: tuple[str, ...]
    generator: Generator
    unless: tuple[str, ...] = ()
    unless_off: str = ""
    """An argument that ends it where it is False."""
    only: str = ""
    position: int | None = None
    """Of `only`, or else of what `unless` names."""
    with_any: tuple[str, ...] = ()
    """Arguments of which one must be given: `num_labels` asks for a new head."""
    configured: Argument | None = None
    """An argument that says what is made, `maker()`: then `unless` is asked of that call."""
    maker: str = ""
    makes: Literal["", "model", "split", "rows", "order", "object"] = ""
    """A `model` or a `split`, which are made once and stay, or `rows` that are added to a table of a model; the `order`
    of what is given; an `object` that draws when it is used, such as a layer of dropout. Empty: values."""
    lasting: bool = False
    """Of an `order`: it is drawn at once and stays, where a loader or a sampler draws when it is gone through."""


class SaverEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Calls, or methods of whatever object, that write results to a file."""

    calls: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    writes: Literal["arguments", "receiver"] = "arguments"
    path: Argument | None = None
    """The argument that says where to."""
    of_open_file: bool = False
    """Whether the methods count of an opened file alone."""


class RandomnessFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Who seeds and who draws."""

    sources: tuple[str, ...]
    trainers: tuple[str, ...]
    """Methods that train, of libraries that leave seeding to the program."""
    restorers: tuple[str, ...]
    """Calls that set generators to a state that was kept."""
    seeding_trainers: tuple[str, ...]
    """Those of libraries that seed by themselves."""
    seeder: tuple[SeederEntry, ...]
    draw: tuple[DrawEntry, ...]
    saver: tuple[SaverEntry, ...]
    cpu_draws: tuple[str, ...]
    """Functions that draw from the CPU's generator unless they are given a device or a generator."""
    batch_layers: tuple[str, ...]
    """Layers whose result for a sample depends on the rest of its batch, or on draws."""


class TypeEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What several calls give of one type, which has one name: an object that a class of it would have made."""

    name: str
    made_by: tuple[str, ...] = ()
    matches: str = ""
    """Or whatever has a full name that this regular expression matches from end to end."""
    kept_by: tuple[str, ...] = ()
    """Methods that give another object of the type."""
    subscript: bool = False
    """Whether a part of it is of the type, too."""

    def __post_init__(self) -> None:
        try:
            re.compile(self.matches)
        except re.error as error:
            raise ValueError(f"`matches` of the type `{self.name}`: {error}") from error


class NameFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Names and where they really live."""

    libraries: tuple[str, ...]
    """Top-level packages that make a file interesting to torchlint."""
    same: dict[str, str]
    """Prefix → prefix: the private home of a public name (`torch.nn.modules.conv` → `torch.nn`)."""
    reexports: dict[str, dict[str, str]]
    """Modules whose star import binds other libraries' names (`fastai.vision.all`)."""
    type: tuple[TypeEntry, ...]


class TorchFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The torch releases that the registry was checked against, and the images that hold one."""

    releases: tuple[str, ...]
    sources: tuple[str, ...]
    nvidia_images: dict[str, str]
    """By the tag of the image, the release that the torch in it is, or becomes (`2.1.0a0` is `2.1`)."""
