"""How a check says what it looks at, and what it answers with.

A check is one function in one module of a family, found by name: no list to edit. It names its `Triggers`: what a
node must be for the check to be asked about it. What its triggers do not show it, a check never sees.
"""

from __future__ import annotations

import ast
import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

import torchlint.checks
from torchlint.diagnostics import Confidence, Fix, Related, Severity

if TYPE_CHECKING:
    from torchlint.catalogue import Catalogue
    from torchlint.checks.framework.drafts import Draft, OperatorUse
    from torchlint.checks.framework.visit import Visit
    from torchlint.facts.differentiation import Passage
    from torchlint.facts.file import FileFacts
    from torchlint.facts.flow.tracker import Analysis
    from torchlint.facts.flow.values import Exit
    from torchlint.facts.options.demands import Demand
    from torchlint.facts.origins import Origin
    from torchlint.facts.places import Place
    from torchlint.facts.scopes import CallSite, Site
    from torchlint.facts.summary import Extract
    from torchlint.project.index import Project
    from torchlint.project.programs import Program
    from torchlint.source.text import EnvironmentSetting


class Triggers(msgspec.Struct, frozen=True):
    """Which nodes of a file a check is shown.

    `calls`, `assigned` and `imports` are full names; `assigned_under` are prefixes of full names; `methods` are
    attribute names called on anything; `keys` are constant subscripts assigned to. `sites` are nodes that the facts
    point at, each with where it stands.
    """

    calls: frozenset[str] = frozenset()
    methods: frozenset[str] = frozenset()
    assigned: frozenset[str] = frozenset()
    assigned_under: tuple[str, ...] = ()
    keys: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()
    sites: Callable[[FileFacts], Iterable[Site | CallSite]] | None = None


class Finding(msgspec.Struct, frozen=True):
    """What a check answers with: a node and the words that fill the rule's message.

    `message` names the variant of the rule's message. Left-out severity and confidence are the rule's own. `operators`
    are the registry entries whose rows decide, `passage` the function that a gradient has to come back through,
    `demands` what parameters have to be for the node to run. `related` are places of the same file, as `ast` nodes.
    `line` is where the finding stands when that is not at the node: a line inside a string that the node uses, the loop
    around the node. `exits` are where the value at hand leaves the file, `origins` where it comes into it: what becomes
    of it there, or what it is there, decides.
    """

    code: str
    node: ast.stmt | ast.expr | ast.arg
    values: Mapping[str, str] = msgspec.field(default_factory=dict)
    message: str = "default"
    severity: Severity | None = None
    confidence: Confidence | None = None
    operators: tuple[OperatorUse, ...] = ()
    passage: Passage | None = None
    demands: tuple[Demand, ...] = ()
    torch: str = ""
    devices: tuple[str, ...] = ()
    related: tuple[tuple[ast.AST, str], ...] = ()
    line: int | None = None
    exits: tuple[Exit, ...] = ()
    origins: tuple[Origin, ...] = ()


class SettingFinding(msgspec.Struct, frozen=True):
    """What a check says of a variable that a notebook sets by magic, where there is no syntax tree to point into."""

    code: str
    values: Mapping[str, str] = msgspec.field(default_factory=dict)
    message: str = "default"


OnSetting = Callable[["EnvironmentSetting", "FileFacts"], Iterator[SettingFinding]]
Find = Callable[["Visit"], Iterator[Finding]]
Judge = Callable[["Draft", "Project"], "Draft | None"]


class Check(msgspec.Struct, frozen=True):
    """A registered check. `codes` are the rules it can report; `judge` has the last word, with the whole project.

    `triggers` may depend on the catalogue and on the selected rules. What `is_open` are no findings but points that
    their rule leaves open: nothing was shown to be wrong there, nor to be harmless. `audit` alone asks for them.
    `asks` are the extracts that the judge reads of the project's files.
    """

    name: str
    codes: Callable[[Catalogue], frozenset[str]]
    triggers: Callable[[Catalogue, frozenset[str]], Triggers]
    find: Find
    judge: Judge | None = None
    on_setting: OnSetting | None = None
    is_open: bool = False
    asks: tuple[Extract[Any], ...] = ()


class ProgramFinding(msgspec.Struct, frozen=True):
    """What a check of programs answers with: it stands in the file that starts the program."""

    code: str
    place: Place
    values: Mapping[str, str] = msgspec.field(default_factory=dict)
    message: str = "default"
    severity: Severity | None = None
    confidence: Confidence | None = None
    related: tuple[Related, ...] = ()
    fix: Fix | None = None


FindInProgram = Callable[["Program", "Project"], Iterator[ProgramFinding]]


class ProgramCheck(msgspec.Struct, frozen=True):
    """A check that looks at no code but at what a whole program does; `asks` are the extracts that it reads."""

    name: str
    codes: frozenset[str]
    find: FindInProgram
    asks: tuple[Extract[Any], ...] = ()


def program_check(*codes: str, asks: tuple[Extract[Any], ...] = ()) -> Callable[[FindInProgram], ProgramCheck]:
    """Register a function as a check of programs, named for its module."""

    def register(find: FindInProgram) -> ProgramCheck:
        return ProgramCheck(_name_of(find), frozenset(codes), find, asks)

    return register


def check(
    *,
    codes: tuple[str, ...] | Callable[[Catalogue], frozenset[str]],
    triggers: Triggers | Callable[[Catalogue, frozenset[str]], Triggers],
    judge: Judge | None = None,
    on_setting: OnSetting | None = None,
    is_open: bool = False,
    asks: tuple[Extract[Any], ...] = (),
) -> Callable[[Find], Check]:
    """Register a function as a check, named for its module."""

    def register(find: Find) -> Check:
        codes_of = codes if callable(codes) else lambda _: frozenset(codes)
        triggers_of = triggers if callable(triggers) else lambda _catalogue, _selected: triggers
        return Check(_name_of(find), codes_of, triggers_of, find, judge, on_setting, is_open, asks)

    return register


def sites_of(find: Callable[[FileFacts], Mapping[Any, Any]]) -> Callable[[FileFacts], Iterable[Site | CallSite]]:
    """Where all stands that is found in a file, as `Triggers.sites`."""
    return lambda facts: [found.site for found in facts.cached(find).values()]


def judged_by_sink(analysis: Callable[[FileFacts], Analysis], text: str) -> Judge:
    """The judge of a value whose sink is told as a related place: where this file has none, another one may."""

    def judge(draft: Draft, project: Project) -> Draft | None:
        sink = None if draft.related else project.flows.sink_of(draft.exits, analysis)
        if sink is not None:
            return replace(draft, related=sink.told(text))
        return draft if draft.related else None

    return judge


def _name_of(find: Find | FindInProgram) -> str:
    """The module's name, and the function's where it is not `find`: a draft is judged by the check it names."""
    module, function = find.__module__.rpartition(".")[2], find.__name__
    return module if function == "find" else f"{module}.{function}"


@functools.cache
def all_checks() -> tuple[Check, ...]:
    """Every check of this package, by module name, then in the order of their definition."""
    return tuple(member for member in _members() if isinstance(member, Check))


@functools.cache
def all_program_checks() -> tuple[ProgramCheck, ...]:
    """Every check of programs, in the same order."""
    return tuple(member for member in _members() if isinstance(member, ProgramCheck))


def _members() -> Iterator[object]:
    found = pkgutil.walk_packages(torchlint.checks.__path__, "torchlint.checks.")
    for name in sorted((module.name for module in found), key=lambda name: name.rpartition(".")[2]):
        yield from vars(importlib.import_module(name)).values()
