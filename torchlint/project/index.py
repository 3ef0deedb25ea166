"""One project as the checks' judges see it: files, programs, environment, target torch."""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from torchlint.catalogue.versions import FIRST_WITH_MODE
from torchlint.facts.accelerators import CHOSEN, GPUS, devices_named
from torchlint.facts.call_edges import edges_of
from torchlint.facts.entries import is_test
from torchlint.facts.environment import EnvironmentWrite, environment_outside_python
from torchlint.facts.file import FileFacts
from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import memoized
from torchlint.facts.modes import Mode
from torchlint.facts.notation import Symbol
from torchlint.facts.randomness.origins import Drawn
from torchlint.facts.randomness.saved import drawn_results
from torchlint.facts.summary import FileSummary
from torchlint.facts.watch import Watch
from torchlint.project.call_details import KnownDetails
from torchlint.project.configurations import ConfigurationFiles
from torchlint.project.environments import Environments, environments_of
from torchlint.project.flows import Flows
from torchlint.project.gradients import Gradients
from torchlint.project.inputs import ProjectInputs
from torchlint.project.late_seeds import SeedOrder
from torchlint.project.options import fails_by_default, never_draws, option_for_seed
from torchlint.project.programs import ModeVerdict, Program, Programs, Reach, builds_package, console_scripts
from torchlint.project.randomness import RESTORES, Randomness, SavedDraw, randomness_of, saved_draws
from torchlint.project.target import accelerators_of, gpus_of, used_among
from torchlint.project.trainings import may_train, training_in

Answer = TypeVar("Answer")

_MAX_ENVIRONMENT_FILE = 500_000
"""Bytes. What is larger is data, not a script."""

_SHARED = ("summaries", "programs", "environment", "texts", "turns_mode_on", "targets", "gradients", "flows")
"""Answers that cost something: worked out before a copy is made, so that every copy has them."""


@dataclass
class Project(ProjectInputs):
    """Everything about a project that a finding's judgement may ask, computed when first asked."""

    def seen_by(self, program: Program) -> Project:
        """The same project where every file runs under the mode of one program, and no other program starts."""
        for answer in _SHARED:
            getattr(self, answer)
        seen = copy.copy(self)
        seen.program, seen.views = program, {}
        return seen

    def cached(self, question: Callable[[Project], Answer]) -> Answer:
        """The answer to a question about the whole project, worked out when first asked."""
        if question not in self.views:
            self.views[question] = question(self)
        return self.views[question]  # type: ignore[return-value]

    @functools.cached_property
    def programs(self) -> Programs:
        parts, kept = (self.summaries, self.scripts), self.kept_answers
        found = Programs(*parts) if kept is None else kept.made_of("programs", parts, lambda: Programs(*parts))
        found.ask(self.call_details)
        return found

    @functools.cached_property
    def scripts(self) -> tuple[tuple[str, str], ...]:
        """The file and function of each command that the project installs."""
        return tuple(console_scripts(self.requirement_files, self.sources))

    @functools.cached_property
    def is_installed(self) -> bool:
        """Whether the project is a package that others install: who uses its classes may be anywhere.

        So it is where build files say so, and where no program lies outside of packages.
        """
        has_scripts = any(not self.is_in_package(program.path) for program in self.programs.programs)
        return not has_scripts or builds_package(self.requirement_files, self.root)

    @property
    def counted_programs(self) -> list[Program]:
        """The programs that count."""
        return self.programs.programs if self.program is None else [self.program]

    def programs_starting_in(self, path: str) -> list[Program]:
        """Those of them that a file starts."""
        return [program for program in self.counted_programs if program.path == path]

    @memoized
    def randomness_of(self, program: Program) -> Randomness:
        """What a program draws from, and what seeds it."""
        option_for = functools.partial(option_for_seed, program, self)
        is_never = functools.partial(never_draws, program, self)
        return randomness_of(program, self.programs.calls, self.summaries, option_for, is_never)

    @memoized
    def saved_by(self, program: Program) -> tuple[SavedDraw, ...]:
        """What a program writes to files that depends on draws."""
        run = self.programs.calls.run([(program.path, ""), (program.path, program.entry.symbol)])
        return tuple(saved_draws(run, self.summaries, self._drawn_in))

    def _drawn_in(self, path: str) -> tuple[Drawn, ...]:
        """The functions of a file whose results depend on draws: hardly any result that is written hangs on them."""

        def ask(facts: FileFacts) -> tuple[Drawn, ...]:
            return tuple(drawn_results(facts, self.watch, edges_of(facts, self.watch)))

        return self.interview.answer_if_it_can(path, "drawn results", tuple[Drawn, ...], ask) or ()

    @memoized
    def environments_of(self, program: Program) -> Environments:
        """What a program does with reinforcement-learning environments."""
        return environments_of(program, self.programs.calls, self.summaries)

    @memoized
    def reach_of(self, program: Program) -> Reach:
        """Which code may run in a program."""
        return Reach(program, self.summaries)

    @functools.cached_property
    def devices(self) -> tuple[str, ...]:
        """The devices findings are about: the configured ones, else the GPUs of torch's build and what code names."""
        found = self.settings.devices
        return found or (*gpus_of(self.requirement_files), *sorted(self.texts.words & {"mps", "xpu"}))

    def devices_for(self, path: str) -> tuple[str, ...]:
        """The devices that findings about a file are about: those of its programs, where these are known."""
        programs = self.programs.reaching(path) if self.program is None else [self.program]
        known = [devices for program in programs if (devices := self._devices_of(program)) is not None]
        if self.settings.devices or not known:
            return self.devices
        used = frozenset[str]().union(*known)
        return used_among(self.devices, used)

    def has_gpu(self, path: str) -> bool:
        """Whether findings about a file are about a GPU that torch calls `cuda`."""
        return not GPUS.isdisjoint(self.devices_for(path))

    @memoized
    def _devices_of(self, program: Program) -> frozenset[str] | None:
        """None where nothing is known of it: it may train out of sight."""
        files = self.programs.calls.loaded(program.files) & self.summaries.keys()
        found = accelerators_of(program, {path: self.summaries[path].devices for path in files}, self.devices_in)
        return found if found or self.randomness_of(program).training is not None else None

    @memoized
    def devices_in(self, path: str) -> frozenset[str]:
        """The devices that the code of a file names: its text may speak of more. Few files are asked."""
        spoken = self.summaries[path].devices
        ask = functools.partial(devices_named, words=self.watch.devices, spoken_of=spoken)
        found = None if spoken <= {CHOSEN} else self.interview.answer_if_it_can(path, "devices", frozenset[str], ask)
        return spoken if found is None else found

    def mode_for(self, path: str) -> ModeVerdict:
        """The determinism mode of a file; the configuration and `--assume` beat what the code says."""
        if self.settings.assume_deterministic:
            return ModeVerdict(Mode.ON)
        configured = {"on": Mode.ON, "warn": Mode.WARN_ONLY, "off": Mode.OFF}.get(self.settings.determinism or "")
        if configured is not None:
            return ModeVerdict(configured)
        if self.program is not None:
            return self.programs.mode_of(self.program)
        return self.programs.mode_for(path) if "determinis" in self.texts.words else ModeVerdict(Mode.OFF)

    @functools.cached_property
    def flows(self) -> Flows:
        """Values on their way from file to file."""
        return Flows(self)

    def may_train(self, place: Symbol) -> bool:
        """Whether a program that runs this code may train; nothing is known of what none reaches.

        Where no program is seen to run the code, those count that load its file: methods are called on objects.
        """
        loading = self.programs.reaching(place[0]) if self.program is None else [self.program]
        programs = [program for program in loading if place in program.reached] or loading
        return not programs or any(self.is_training(program) for program in programs) or self._trains_out_of_sight

    def is_in_package(self, path: str) -> bool:
        """Whether a file lies beside an `__init__.py`."""
        return f"{path.rpartition('/')[0]}/__init__.py".lstrip("/") in self.sources

    @functools.cached_property
    def has_training(self) -> bool:
        """Whether any program of the project trains."""
        return any(self.is_training(program) for program in self.programs.programs)

    @functools.cached_property
    def trains_anywhere(self) -> bool:
        """Whether any code of the project trains, be it out of sight of its programs."""
        return self.has_training or self._trains_out_of_sight

    @functools.cached_property
    def imports_by_name(self) -> bool:
        """Whether any code imports what a text names."""
        return self.texts.call(("importlib.import_module", "builtins.__import__"))

    @functools.cached_property
    def importers(self) -> Mapping[str, frozenset[str]]:
        """The files that import each file."""
        found = grouped((one.path, path) for path, summary in self.summaries.items() for one in summary.imports)
        return {path: frozenset(others) for path, others in found.items()}

    @functools.cached_property
    def _trains_out_of_sight(self) -> bool:
        """Whether code of the project trains, and no program is seen to reach it: it may be loaded by its name."""
        if self.has_training:
            return False
        everything = frozenset((path, one.symbol) for path, file in self.summaries.items() for one in file.trainings)
        return training_in(frozenset(one for one in everything if not is_test(one[0])), self.summaries) is not None

    @memoized
    def is_training(self, program: Program) -> bool:
        """Whether a program may train."""
        return may_train(program.reached, self.programs.calls, self.summaries, self.texts.name_attribute)

    @functools.cached_property
    def seed_order(self) -> SeedOrder:
        """In which order the programs seed and draw."""
        arguments = {switch.call for switch in self.catalogue.programs.mode if switch.makes_trainer}
        return SeedOrder(self.programs.calls, self.summaries, self.call_details, arguments)

    @functools.cached_property
    def gradients(self) -> Gradients:
        """Where the project's code is differentiated."""
        return Gradients(self)

    @functools.cached_property
    def call_details(self) -> KnownDetails:
        """What single calls hand on."""
        return KnownDetails(self.interview, self.watch)

    @functools.cached_property
    def watch(self) -> Watch:
        return Watch.of(self.catalogue)

    def has_mode(self, path: str) -> bool:
        """Whether the newest torch that a file may run with has the determinism mode."""
        return self.target_for(path).newest >= FIRST_WITH_MODE

    def leaves_mode_off(self, program: Program) -> bool:
        """Whether nothing that may run by default turns the mode on, or tries to."""
        if self.settings.assume_deterministic or self.settings.determinism is not None:
            return False
        files = sorted(program.files & self.summaries.keys())
        if any(self.summaries[path].overwrites_switch for path in files):
            return False
        calls = [(path, call) for path in files for call in self.summaries[path].modes if call.mode is not Mode.OFF]
        return all(fails_by_default(call.demands, path, program, self) is not None for path, call in calls)

    @functools.cached_property
    def environment(self) -> tuple[EnvironmentWrite, ...]:
        """Every write of a watched variable, in Python, notebooks and other files."""
        inside = [write for summary in self.summaries.values() for write in summary.environment]
        found = []
        for path in self.environment_files:
            try:
                if path.stat().st_size > _MAX_ENVIRONMENT_FILE:
                    continue
                text = path.read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue  # a file that cannot be read sets nothing that we could know of
            found += environment_outside_python(path.relative_to(self.root).as_posix(), text, self.catalogue.variables)
        return (*inside, *found)

    @functools.cached_property
    def configuration_files(self) -> ConfigurationFiles:
        """The YAML files, which programs may load."""
        return ConfigurationFiles(self.root, self.environment_files, self.outside)

    @functools.cached_property
    def restores_generators(self) -> bool:
        """Whether any code outside tests sets a random generator to a state that was kept."""
        return any(RESTORES.of(summary) for path, summary in self.summaries.items() if not is_test(path))

    @functools.cached_property
    def turns_mode_on(self) -> bool:
        """Whether any code outside tests turns the determinism mode on, reached or not."""
        calls = (call for path, one in self.summaries.items() if not is_test(path) for call in one.modes)
        return any(call.mode in (Mode.ON, Mode.WARN_ONLY) for call in calls)

    def frameworks_set(self, variable: str) -> bool:
        """Whether a framework that sets the variable itself is asked to turn the mode on."""
        calls = (call for summary in self.summaries.values() for call in summary.modes)
        return any(variable in call.sets and call.mode is not Mode.OFF for call in calls)

    def sets_variable(self, variable: str, values: Sequence[str]) -> bool:
        """Whether something sets the variable: to one of these values (none given: any), or to one not known.

        A list is such a value if all its entries are, whatever they are for: `allreduce:ring,tree;broadcast:ring`.
        """
        wanted = {value.lower() for value in values}
        found = [write.value for write in self.environment if write.name == variable]
        is_set = any(
            value is None
            or not values
            or value.lower() in wanted
            or {entry.rpartition(":")[2] for entry in re.split("[,;]", value.lower())} <= wanted
            for value in found
        )
        return is_set or self.frameworks_set(variable)

    @functools.cached_property
    def torch_files(self) -> frozenset[str]:
        """The files that import a library the catalogue knows."""
        return frozenset(path for path, summary in self.summaries.items() if self._imports_torch(summary))

    def _imports_torch(self, summary: FileSummary) -> bool:
        return not summary.libraries.isdisjoint(self.catalogue.names.libraries)

    @property
    def has_torch(self) -> bool:
        """Whether any file uses torch: what the others make may be prepared for it."""
        return bool(self.torch_files)

    def uses_torch(self, path: str) -> bool:
        """Whether a file imports such a library, or a program that does reaches it."""
        if path in self.known and self._imports_torch(self.known[path]):
            return True
        reaching = (program.files for program in self.programs.programs if path in program.files)
        return any(not files.isdisjoint(self.torch_files) for files in reaching)
