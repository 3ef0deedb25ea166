"""The loaders that a program makes, and the data sets and worker functions behind them."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import torch
from torch.utils.data import DataLoader, IterableDataset
from typing_extensions import Self

from torchlint.recording.errors import CannotRun
from torchlint.recording.loading.standing_in import told
from torchlint.recording.originals import call_users
from torchlint.recording.statements.apart import run_apart
from torchlint.recording.statements.execution import Execution
from torchlint.recording.statements.invented import Invention
from torchlint.recording.statements.invented_folder import LAYOUTS, InventedFolder
from torchlint.recording.statements.places import Place

_TRIAL_SECONDS = 10.0
_MOST_READ = 16
"""Samples of an invented folder, in which one may be of another kind than the next."""


class LoaderWatch:
    """While it is entered, every DataLoader that is made is kept."""

    def __init__(self) -> None:
        self.made: list[DataLoader[Any]] = []
        self._original = DataLoader.__init__

    def __enter__(self) -> Self:
        original, made = self._original, self.made

        @functools.wraps(original)
        def keeping(loader: DataLoader[Any], *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as torch has it
            made.append(loader)
            original(loader, *args, **kwargs)

        DataLoader.__init__ = keeping  # type: ignore[method-assign,assignment]
        return self

    def __exit__(self, *_: object) -> None:
        DataLoader.__init__ = self._original  # type: ignore[method-assign]


def parts_of(dataset: Any) -> Iterator[Any]:  # noqa: ANN401 - whatever a loader was given
    """The data set and those inside it: of a subset, or joined."""
    yield dataset
    inner = getattr(dataset, "datasets", None)
    for part in [getattr(dataset, "dataset", None), *(inner if isinstance(inner, (list, tuple)) else [])]:
        if part is not None:
            yield from parts_of(part)


def find_dataset(
    execution: Execution, place: Place, loaders: list[DataLoader[Any]]
) -> tuple[Any, DataLoader[Any] | None]:
    """An instance of the class that holds the flagged line: of a loader, of the file, or built here."""
    module = execution.module
    if module is None:
        raise CannotRun("load", "its file could not be loaded")
    if place.owner is None:
        raise CannotRun("refused", "the line is not in a class")
    kind = getattr(module, place.owner.name, None)
    if not isinstance(kind, type) or not hasattr(kind, "__getitem__") or issubclass(kind, IterableDataset):
        raise CannotRun("constructor", f"`{place.owner.name}` does not return samples by index")
    for loader in loaders:
        for dataset in parts_of(getattr(loader, "dataset", None)):
            if isinstance(dataset, kind):
                return dataset, loader
    for value in vars(module).values():
        if isinstance(value, kind):
            return value, None
    return _built(execution, kind), None


def _built(execution: Execution, kind: type) -> Any:  # noqa: ANN401 - an object of the user's class
    """With the arguments of the project, else with samples of several kinds, or a folder, until one can be read."""
    assert execution.module is not None
    execution.call, obstacle = kind, ""
    for invention, folder in _inventions(execution.request.code.text):
        execution.invention = invention
        try:
            execution.arguments = execution.arguments_for(execution.module, kind.__name__, kind)
        except CannotRun as error:
            obstacle = obstacle or error.reason
            continue
        if folder is not None and not execution.arguments.has_invented_folder:
            break  # it wants none
        # In a process apart: what is made lazily with the first sample must not be there before the workers are.
        problem = run_apart(functools.partial(_problem_with, execution, folder), str, _TRIAL_SECONDS)
        if not problem:
            _serve(folder)
            return execution.called(execution.arguments)
        obstacle = f"no samples could be invented for `{kind.__name__}`: {problem}"
    raise CannotRun("constructor", obstacle)


def _inventions(text: str) -> Iterator[tuple[Invention, InventedFolder | None]]:
    for items in _samples():
        yield Invention(items=items), None
    path = Path(tempfile.mkdtemp()) / "data"
    for layout in LAYOUTS:
        yield Invention(folder=path), InventedFolder(path, text, layout)


def _problem_with(execution: Execution, folder: InventedFolder | None) -> str:
    try:
        _serve(folder)
        dataset = execution.called(execution.arguments)
        for index in range(1 if folder is None else min(len(dataset), _MOST_READ)):
            call_users(dataset.__getitem__, index)
    except Exception as error:  # noqa: BLE001 - the next kind of sample may suit
        return told(error) if folder is None else folder.without_path(told(error))
    return ""


def _serve(folder: InventedFolder | None) -> None:
    """From here to the end of the process: workers read from it, too."""
    if folder is not None:
        folder.fill()
        folder.serve()


def _samples() -> Iterator[tuple[Any, ...]]:
    pictures = [torch.zeros(64, 64), torch.zeros(3), torch.zeros(3, 64, 64)]
    if importlib.util.find_spec("numpy"):  # it may be missing beside torch
        yield from (tuple(part.numpy() for _ in range(16)) for part in pictures)
    yield from (tuple(part for _ in range(16)) for part in pictures)
    yield (0.0,) * 16
    yield Invention().items


def find_worker_function(
    module: ModuleType | None, place: Place, loaders: list[DataLoader[Any]]
) -> Callable[[int], None] | None:
    """The function that holds the line: as a loader got it, or as the file has it."""
    given = [loader.worker_init_fn for loader in loaders if getattr(loader, "worker_init_fn", None) is not None]
    named = place.function.name if place.function is not None and place.owner is None else ""
    of_file = getattr(module, named, None) if named else None
    for candidate in [*given, of_file]:
        code = _code_of(candidate)
        if code is not None and _holds(code, place.statement.lineno):
            return candidate if _takes_worker_alone(candidate) else None
    return None


def _takes_worker_alone(function: Any) -> bool:  # noqa: ANN401 - whatever a loader was given
    try:
        inspect.signature(function).bind(0)
    except TypeError:
        return False
    return True


def _code_of(function: Any) -> CodeType | None:  # noqa: ANN401 - a function, a method or a partial of one
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None


def _holds(code: CodeType, line: int) -> bool:
    lines = [number for _, _, number in code.co_lines() if number is not None]
    return bool(lines) and min(lines) <= line <= max(lines)
