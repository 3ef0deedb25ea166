"""What a project knows about a target: classes that hold it, its calls, its options and its configurations."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from torchlint.config import Settings
from torchlint.engine.workers import with_large_stack, work_through
from torchlint.errors import ConfigError, UnreadableSource
from torchlint.recording.messages import Holder
from torchlint.verify.call_sites import ProjectFiles, call_sites
from torchlint.verify.configurations import configurations
from torchlint.verify.cutting import Cutter
from torchlint.verify.enclosing import derived_classes, enclosing_classes
from torchlint.verify.holders import Holders
from torchlint.verify.hooks import hooks_for
from torchlint.verify.loading import File, TreeOf
from torchlint.verify.option_values import option_values
from torchlint.verify.plan import Plan
from torchlint.verify.shown_inputs import makers, shown_inputs
from torchlint.verify.slicing import slice_for

_MOST_CONFIGURATIONS = 30
"""That a target is told of: the smallest models run fastest."""


class Surroundings:
    """Completes the plans of one run, each shortly before its process starts: whole projects are read for that.

    `checked` are the files of the run, where calls are looked for first; `files_of` the files of the project that
    begins in a folder.
    """

    def __init__(
        self,
        checked: Sequence[Path],
        settings_of: Callable[[Path], Settings],
        holders: Holders,
        files_of: Callable[[Path], Sequence[Path]],
        cutter: Cutter,
        tree_of: TreeOf,
    ) -> None:
        self._checked = checked
        self._settings_of = settings_of
        self._holders = holders
        self._files_of = files_of
        self._cutter = cutter
        self._project = ProjectFiles(tree_of)
        self._configurations = functools.cache(configurations)
        self._options = functools.cache(lambda root: option_values(files_of(root), self._configurations(root), tree_of))

    def completed(self, plan: Plan) -> Plan:
        """The plan with all that its project tells about its target; as it is where a file of it nests too deeply."""
        try:
            (completed,) = with_large_stack(lambda: work_through(self._completed, [plan]))
        except (UnreadableSource, RecursionError):
            return plan
        return completed

    def _completed(self, plan: Plan) -> Plan:
        target, file = plan.target, plan.file
        root = self._settings_of(file.path).root
        holders = tuple(self._held(plan)) if target.kind == "module" and plan.hooks.is_empty else ()
        is_called = target.kind in ("module", "function")
        called = [*plan.called, *(each.name for each in holders)]
        mentioned = dict.fromkeys([*called, *makers(file.tree, called)])
        files = list(self._project.calling(mentioned, [file.path, *self._checked, *self._files_of(root)]))
        told = msgspec.structs.replace(
            target,
            holders=holders,
            calls=call_sites(called, files),
            inputs=shown_inputs(called, files),
            options=self._options(root) if is_called else {},
            configurations=self._configurations(root)[:_MOST_CONFIGURATIONS] if is_called else (),
        )
        return dataclasses.replace(plan, target=told)

    def _held(self, plan: Plan) -> Iterator[Holder]:
        """Classes of other files that hold a module; where it is asked about by name, first those that derive from it.

        A flagged part shows its gradients inside the outermost; for a class that is named they are the last resort.
        """
        file, name = plan.file, plan.name
        around = list(self._elsewhere(self._holders.of(file.path, [name, *plan.target.enclosing])))
        if plan.is_flagged:
            yield from around
            return
        beside = (*derived_classes(file.tree, name), *reversed(enclosing_classes(file.tree, name)))
        yield from self._holders_in(file, beside)
        yield from self._elsewhere(self._holders.derived(file.path, name))
        yield from reversed(around)

    def _elsewhere(self, classes: Iterable[tuple[Path, str]]) -> Iterator[Holder]:
        for path, name in classes:
            with contextlib.suppress(UnreadableSource):
                yield from self._holders_in(File.read(path), [name])

    def _holders_in(self, file: File, names: Iterable[str]) -> Iterator[Holder]:
        settings = self._settings_of(file.path)
        for name in names:
            with contextlib.suppress(ConfigError):  # its own table is wrong, which is told where it is the target
                hooks = hooks_for(settings, file.module, name)
                cut = slice_for(file.tree, file.source.text, [name])
                yield Holder(name=name, code=self._cutter.code(file, cut), hooks=hooks)
