"""One run of a statement whose result may depend on an order: what it made, and what the order came from."""

from __future__ import annotations

import builtins
import contextlib
import os
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import msgspec
import torch

from torchlint.recording.global_state.randomness import seed_everything
from torchlint.recording.messages import ProbedFinding, Request
from torchlint.recording.statements.completions import OrderedCompletions
from torchlint.recording.statements.execution import Execution
from torchlint.recording.statements.flattened import GENERATOR, Flattened, flattened, joined
from torchlint.recording.statements.invented import WORDS, Invention
from torchlint.recording.statements.invented_folder import InventedFolder
from torchlint.recording.statements.line_watch import TIME_OVER, LineWatch
from torchlint.recording.statements.listings import OrderedListings
from torchlint.recording.statements.observing import place_of
from torchlint.recording.statements.places import Place, following_names, makes_set, read_names

_SHOWN_MEMBERS = 12
_TASKS = 4


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    reached: bool = False
    ended_by: str = ""
    ended_kind: str = ""
    stubs: tuple[str, ...] = ()
    entered: str = ""
    built_by: str = ""
    made: str = ""
    """What is compared, in words."""
    result: Flattened = Flattened({})
    listed: dict[str, int] = {}
    sets: dict[str, list[str]] = {}
    """The members of sets that the statement could see, in the order in which they came."""
    set_types: tuple[str, ...] = ()
    hashed_types: tuple[str, ...] = ()
    taken: int = 0
    has_single_worker: bool = False
    is_invented: bool = False
    makes_set: bool = False
    """The statement makes a set of its own, which `sets` may not show."""
    has_invented_folder: bool = False
    folder_holds: tuple[str, ...] = ()
    """Some of the files in it."""


class SourceWatch:
    """Whether the flagged lines ran, which sets they could see, and what their function held at its end."""

    def __init__(self, path: str, place: Place, seconds: float) -> None:
        self.reached = False
        self.variables: dict[str, Any] = {}
        self.sets: dict[str, list[str]] = {}
        self.set_types: set[str] = set()
        self.path = path
        self.lines = place.lines
        self._named = read_names(place.statement)
        self.watch = LineWatch(path, self._step, seconds)

    def _step(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name == "<module>":
            # The loader begins again, now that it has stood in for an import.
            self.reached = False
            self.variables, self.sets, self.set_types = {}, {}, set()
        if frame.f_lineno in self.lines and event == "line":
            self.reached = True
        if not self.reached or event == TIME_OVER:
            return
        if event in {"line", "return"}:
            self._note_sets(frame)
        if event == "return" and not frame.f_code.co_name.startswith("<"):
            self.variables.update(frame.f_locals)

    def _note_sets(self, frame: FrameType) -> None:
        for name, value in list(frame.f_locals.items()):
            is_seen = name in self.sets or name not in self._named
            if not is_seen and isinstance(value, (set, frozenset)) and len(value) > 1:
                self.sets[name] = [repr(member) for member in list(value)[:_SHOWN_MEMBERS]]
                self.set_types.update(type(member).__name__ for member in value)


def outcome(
    request: Request, finding: ProbedFinding, seconds: float, order: int = 0, folder: InventedFolder | None = None
) -> Outcome:
    """Run the statement once, with what is here or, where one is given, in an invented folder."""
    place = place_of(request, finding)
    watch, completions = SourceWatch(request.code.path, place, seconds), OrderedCompletions(order)
    execution = Execution(request, place, _invention(finding, folder))
    listings = OrderedListings(order, request.code.path, watch.lines)
    serving = folder.served() if folder else contextlib.nullcontext()
    hashed = set[str]()
    seed_everything(0)
    with serving, listings, completions, _noted_hashes(watch, hashed), watch.watch:
        result, ended_by, kind = execution.ended(lambda: _result(execution, finding, watch), seconds)
    made, flat_result = _made(execution, watch, place, result)
    return Outcome(
        reached=watch.reached,
        ended_by=_without_path(folder, ended_by),
        ended_kind=kind,
        stubs=execution.stubs,
        entered=execution.entered,
        built_by=execution.arguments.built_by if execution.call is not None else "",
        made=made,
        result=_without(folder, flat_result),
        listed=listings.listed,
        sets=watch.sets,
        set_types=tuple(sorted(watch.set_types)),
        hashed_types=tuple(sorted(hashed)),
        taken=completions.taken,
        has_single_worker=completions.has_single_worker,
        is_invented=execution.arguments.is_invented,
        has_invented_folder=folder is not None and (folder.was_asked or execution.arguments.has_invented_folder),
        folder_holds=tuple(folder.holds()) if folder is not None else (),
        makes_set=makes_set(place.statement),
    )


def _invention(finding: ProbedFinding, folder: InventedFolder | None) -> Invention:
    if finding.code == "TL404":
        return Invention(items=tuple(torch.tensor([float(number)]) for number in range(_TASKS)))
    if folder is None:
        return Invention()
    # The same path in every run, since paths may be part of the result.
    folder.fill()
    os.chdir(folder.path)
    return Invention(folder=folder.path)


def _result(execution: Execution, finding: ProbedFinding, watch: SourceWatch) -> Any:  # noqa: ANN401 - of the user's
    """What the call gives; for a hash of one invented text, what it gives for each of many."""
    execution.run(lambda: watch.reached)
    arguments = execution.arguments
    if finding.code != "TL403" or execution.call is None or not arguments.texts:
        return execution.result
    calls = (arguments.with_text(word) for word in WORDS)
    return {word: execution.called(call) for word, call in zip(WORDS, calls, strict=True)}


def _made(execution: Execution, watch: SourceWatch, place: Place, result: Any) -> tuple[str, Flattened]:  # noqa: ANN401
    if result is not None:
        is_class = isinstance(execution.call, type)
        made = f"what {execution.entered} {'makes' if is_class else 'returns'}"
        return made, flattened(result, "object" if is_class else "result")
    text = execution.request.code.text
    scope = {**(vars(execution.module) if execution.module else {}), **watch.variables}
    names = [name for name in following_names(text, place) if name in scope and _is_data(scope[name])]
    values = joined(flattened(scope[name], name) for name in names)
    return ", ".join(f"`{name}`" for name in names), values


def _without(folder: InventedFolder | None, found: Flattened) -> Flattened:
    """States of generators are left out: those without a seed differ in any two runs, and no order decides them."""
    kept = {place: shown for place, shown in found.by_place.items() if not place.endswith(GENERATOR)}
    return Flattened({place: _without_path(folder, shown) for place, shown in kept.items()}, found.is_whole)


def _without_path(folder: InventedFolder | None, words: str) -> str:
    """An invented folder's own path says nothing."""
    return words if folder is None else folder.without_path(words)


def _is_data(value: object) -> bool:
    return not isinstance(value, type(os)) and not callable(value)


@contextlib.contextmanager
def _noted_hashes(watch: SourceWatch, found: set[str]) -> Iterator[None]:
    """The types that the flagged lines hand to `hash`."""
    original = builtins.hash

    def noting(value: object) -> int:
        caller = sys._getframe(1)  # noqa: SLF001 - the interpreter's one way to see the caller
        if caller.f_code.co_filename == watch.path and caller.f_lineno in watch.lines:
            found.add(type(value).__name__)
        return original(value)

    builtins.hash = noting
    try:
        yield
    finally:
        builtins.hash = original
