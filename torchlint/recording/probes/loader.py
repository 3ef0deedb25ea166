"""The loader probe: two epochs with no and with two workers, and which of their draws are the same."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import torch

from torchlint.recording.errors import CannotRun
from torchlint.recording.global_state.randomness import seed_everything
from torchlint.recording.loading.standing_in import told
from torchlint.recording.messages import Answer, ProbedFinding
from torchlint.recording.names import VerdictName
from torchlint.recording.probe_context import ProbeContext, answer
from torchlint.recording.statements.apart import NoReply, run_apart
from torchlint.recording.statements.execution import Execution
from torchlint.recording.statements.invented_folder import InventedFolder
from torchlint.recording.statements.line_watch import TimeOver
from torchlint.recording.statements.loaders import LoaderWatch, find_dataset, find_worker_function
from torchlint.recording.statements.observing import place_of
from torchlint.recording.statements.outcomes import SourceWatch
from torchlint.recording.statements.places import Place
from torchlint.recording.statements.worker_draws import GlobalDraws, is_global, is_of_module, record_draws

_SECONDS = 15.0
_WORKERS = 2


class _Said(msgspec.Struct, frozen=True):
    """What the process found; it becomes the answer."""

    verdict: VerdictName
    reason: str
    evidence: dict[str, object] = {}


def probe(context: ProbeContext, finding: ProbedFinding) -> Answer:
    work = _WORK.get(finding.code)
    if work is None:
        return answer(context, finding, "loader", "SKIPPED", f"no loader is known for {finding.code}")
    try:
        place = place_of(context.request, finding)
        said = run_apart(lambda: _tried(work, context, finding, place), _Said, context.request.seconds)
    except CannotRun as error:
        return answer(context, finding, "loader", "SKIPPED", error.reason, skipped=error.kind)
    except NoReply as error:
        return answer(context, finding, "loader", "SKIPPED", str(error), skipped="time")
    return answer(context, finding, "loader", said.verdict, said.reason, line=finding.line, **said.evidence)


class _Scene:
    """The file loaded, and what it made."""

    def __init__(self, context: ProbeContext, finding: ProbedFinding, place: Place) -> None:
        self.context = context
        self.finding = finding
        self.place = place
        self.execution = Execution(context.request, place)
        self.problem = ""
        self._watch = SourceWatch(context.request.code.path, place, _SECONDS)
        seed_everything(0)
        with LoaderWatch() as loaders:
            self._run()
            if self.execution.module is None:
                self._run_in_invented_folder()
        self.loaders = loaders.made
        self.reached = self._watch.reached

    def _run_in_invented_folder(self) -> None:
        """Once more with data to be found: a file that makes its data set when it is loaded fails without."""
        folder = InventedFolder(Path(tempfile.mkdtemp()) / "data", self.context.request.code.text)
        folder.fill()
        folder.serve()
        os.chdir(folder.path)
        self._run()
        self.problem = folder.without_path(self.problem)

    def _run(self) -> None:
        """A line inside a data set runs in the workers: for it, the file is only loaded."""
        is_of_dataset = self.place.owner is not None and self.finding.code != "TL306"
        try:
            self.problem = ""
            with self._watch.watch:
                self.execution.run(lambda: self._watch.reached or is_of_dataset)
        except (CannotRun, TimeOver, SystemExit, Exception) as error:  # noqa: BLE001 - the loaders may be made by then
            self.problem = told(error)


def _tried(work: Callable[[_Scene], _Said], context: ProbeContext, finding: ProbedFinding, place: Place) -> _Said:
    scene = _Scene(context, finding, place)
    try:
        return work(scene)
    except CannotRun as error:
        because = f" ({scene.problem})" if scene.problem else ""
        return _Said("SKIPPED", error.reason + because, {"skipped": error.kind, "stubs": list(scene.execution.stubs)})


def _judge_kept_generator(scene: _Scene) -> _Said:
    """TL307: a generator on the data set, or in its file, of which each worker has a copy."""
    dataset, loader = find_dataset(scene.execution, scene.place, scene.loaders)
    is_persistent = bool(getattr(loader, "persistent_workers", False))
    init = getattr(loader, "worker_init_fn", None)
    module = scene.execution.module
    try:
        # The workers first: they are forks, and leave the data set of this process as it was.
        shared = record_draws(dataset, module, _WORKERS, init, is_persistent=is_persistent)
        alone = record_draws(dataset, module, 0)
    except Exception as error:  # noqa: BLE001 - whatever the user's data set raises
        return _Said("NOT REPRODUCED", f"the samples could not be read: {_why(scene, error)}")
    values = _facts(scene) | {"loader": "of the program" if loader is not None else "made for this"}
    names = [name for name in shared.names() if not is_global(name)]
    if not names:
        return _Said("NOT REPRODUCED", "no draw from a generator of the data set or its file was seen", values)
    name = max(names, key=lambda name: shared.repeated_between_workers(name) + shared.repeated_by_epochs(name))
    values |= _counts(name, shared.count(name), shared.repeated_between_workers(name), shared.repeated_by_epochs(name))
    values["repeated_without_workers"] = alone.repeated_by_epochs(name)
    if is_of_module(name) and multiprocessing.get_context().get_start_method() != "fork":
        return _Said(
            "NOT REPRODUCED", f"`{name}` is copied only where workers are forked, which is not the default here"
        )
    repeated, again = shared.repeated_between_workers(name), shared.repeated_by_epochs(name)
    if alone.repeated_by_epochs(name):
        reason = f"`{name}` is set again by the samples themselves: without workers its draws are repeated too"
        return _Said("NOT REPRODUCED", reason, values)
    if repeated == 0 and again == 0:
        return _Said("REFUTED", f"{_WORKERS} workers drew from `{name}`, and no draw was repeated", values)
    reason = f"{repeated} of {shared.count(name)} draws from `{name}` were made by both of {_WORKERS} workers"
    epochs = f", and {again} of {shared.count(name, 1)} draws of epoch 2 were those of epoch 1"
    return _Said("CONFIRMED", reason + epochs, values)


def _judge_legacy_seeding(scene: _Scene) -> _Said:
    """TL308: NumPy's global generator, which torch seeds in workers since 1.9."""
    dataset, loader = find_dataset(scene.execution, scene.place, scene.loaders)
    try:
        shared = record_draws(dataset, scene.execution.module, _WORKERS, getattr(loader, "worker_init_fn", None))
    except Exception as error:  # noqa: BLE001 - whatever the user's data set raises
        return _Said("NOT REPRODUCED", f"the samples could not be read: {_why(scene, error)}")
    repeated, again = shared.repeated_between_workers("numpy"), shared.repeated_by_epochs("numpy")
    values = _facts(scene) | _counts("numpy", shared.count("numpy"), repeated, again)
    if not shared.count("numpy"):
        return _Said("NOT REPRODUCED", "nothing was drawn from NumPy's global generator", values)
    if repeated == 0:
        reason = f"torch {torch.__version__} seeds NumPy in each worker; the finding is about torch < 1.9"
        return _Said("NOT REPRODUCED", reason, values)
    return _Said(
        "CONFIRMED", f"{repeated} of {shared.count('numpy')} draws from NumPy were made by both workers", values
    )


def _judge_worker_function(scene: _Scene) -> _Said:
    """TL306: a `worker_init_fn` that seeds all workers alike, cannot be called, or was called at once."""
    finding = scene.finding
    if finding.variant == "called":
        return _judge_called(scene)
    if finding.variant == "signature":
        function = next((given for loader in scene.loaders if (given := getattr(loader, "worker_init_fn", None))), None)
    else:
        function = find_worker_function(scene.execution.module, scene.place, scene.loaders)
    if function is None:
        because = f": {scene.problem}" if scene.problem else ""
        return _Said("SKIPPED", f"no worker function was made that contains line {finding.line}{because}")
    if finding.variant == "signature":
        return _judge_signature(function)
    before = record_draws(GlobalDraws(), None, _WORKERS)
    try:
        seeded = record_draws(GlobalDraws(), None, _WORKERS, function)
    except Exception as error:  # noqa: BLE001 - whatever the user's function raises
        return _Said("NOT REPRODUCED", f"the workers could not start: {_last_line(error)}")
    alike = [name for name in seeded.names() if seeded.repeated_between_workers(name)]
    alike = [name for name in alike if not before.repeated_between_workers(name)]
    if not alike:
        epochs = [name for name in seeded.names() if seeded.repeated_by_epochs(name)]
        facts: dict[str, object] = {"generators": seeded.names(), "epochs_repeat": epochs}
        return _Said("REFUTED", f"{_WORKERS} workers that it prepared did not repeat each other's draws", facts)
    name = alike[0]
    repeated, again = seeded.repeated_between_workers(name), seeded.repeated_by_epochs(name)
    values = _counts(", ".join(alike), seeded.count(name), repeated, again)
    reason = f"{repeated} of {seeded.count(name)} draws from {', '.join(alike)} were made by both of {_WORKERS} workers"
    return _Said(
        "CONFIRMED", f"{reason}, and {again} of {seeded.count(name, 1)} of epoch 2 were those of epoch 1", values
    )


def _judge_signature(function: Callable[[int], None]) -> _Said:
    try:
        record_draws(GlobalDraws(), None, _WORKERS, function)
    except TypeError as error:
        return _Said("CONFIRMED", f"the workers fail: {_last_line(error)}")
    except Exception as error:  # noqa: BLE001 - it could be called, and failed for another reason
        return _Said("NOT REPRODUCED", f"the workers fail in another way: {_last_line(error)}")
    return _Said("REFUTED", "the workers could call it")


def _judge_called(scene: _Scene) -> _Said:
    if not scene.loaders or not scene.reached:
        because = f": {scene.problem}" if scene.problem else ""
        return _Said("SKIPPED", f"no loader was made here{because}")
    given = getattr(scene.loaders[-1], "worker_init_fn", None)
    if given is None:
        return _Said("CONFIRMED", "the loader got None for its `worker_init_fn`: the function had run already")
    return _Said("REFUTED", "the loader got a function for its `worker_init_fn`")


def _facts(scene: _Scene) -> dict[str, object]:
    built_by = scene.execution.arguments.built_by if scene.execution.call is not None else "the program"
    if scene.execution.arguments.has_invented_folder:
        built_by += " and an invented folder"
    return {"workers": _WORKERS, "start_method": "fork", "built_by": built_by, "stubs": list(scene.execution.stubs)}


def _counts(name: str, draws: int, between: int, epochs: int) -> dict[str, object]:
    return {"generator": name, "draws": draws, "repeated_between_workers": between, "repeated_by_epochs": epochs}


def _why(scene: _Scene, error: Exception) -> str:
    words = _last_line(error) if "Original Traceback" in str(error) else told(error)
    return words.replace(str(scene.execution.invention.folder), "FOLDER")


def _last_line(error: Exception) -> str:
    """What a worker raised comes wrapped in the whole of its trace."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[-1].strip() if lines else type(error).__name__


_WORK: dict[str, Callable[[_Scene], _Said]] = {
    "TL306": _judge_worker_function,
    "TL307": _judge_kept_generator,
    "TL308": _judge_legacy_seeding,
}
