"""From findings to targets: which class, function or statement has to run, and what of the file that takes."""

from __future__ import annotations

import ast
import contextlib
import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from torchlint.catalogue import Catalogue
from torchlint.catalogue.versions import Minor
from torchlint.config import OWN_FILE, Settings
from torchlint.diagnostics import Confidence, Diagnostic, Severity
from torchlint.engine.workers import with_large_stack
from torchlint.errors import TorchlintError, UnreadableSource
from torchlint.project.shown import shown_path
from torchlint.recording.messages import Code, Holder, Hooks, ProbedFinding, Target, TargetKind
from torchlint.recording.names import ProbeName
from torchlint.source.syntax import parse_text
from torchlint.source.text import Source
from torchlint.verify.call_sites import call_sites
from torchlint.verify.configurations import configurations
from torchlint.verify.enclosing import applied_by, classes_for_parameters, derived_classes, enclosing_classes
from torchlint.verify.hoisting import slice_before
from torchlint.verify.holders import Holders
from torchlint.verify.hooks import Table, hooks_for
from torchlint.verify.import_roots import import_roots
from torchlint.verify.loading import File, code_of
from torchlint.verify.names import bound_names
from torchlint.verify.operator_facts import operator_facts
from torchlint.verify.option_values import option_values
from torchlint.verify.registries import Registrations
from torchlint.verify.slicing import Slice, names_to_import, slice_around, slice_for
from torchlint.verify.top_level import holding, target_at

_ABOUT_STATEMENTS = frozenset({"config", "loader", "order", "draws"})
"""Probes that run statements as they stand, and no forward pass."""
_MOST_CONFIGURATIONS = 30
"""That a target is told of: the smallest models run fastest."""
_ABOUT_PROGRAMS = frozenset({"TL301", "TL303"})
"""Rules about what a start of the whole program does."""


@dataclass(frozen=True)
class Plan:
    """One process to start: what it loads, what it runs, and the findings that it is asked about."""

    code: Code
    target: Target
    findings: tuple[ProbedFinding, ...]
    shown: str
    """The file, as the user calls it."""
    hooks: Hooks
    source: Source
    table: Table | None = None
    """How the user can say what it is built with; None where no words help."""
    moved: tuple[str, str] | None = None
    """The copy that it runs from, and what that is a copy of."""

    def original(self, path: str) -> str:
        """A path that the process tells, as it is outside the copy."""
        return path if self.moved is None else path.replace(*self.moved)

    def shown_path(self, path: str) -> str:
        """A path that the process tells, as the user sees it."""
        return shown_path(Path(), self.original(path))

    @property
    def name(self) -> str:
        return self.target.name


class Planner:
    """Plans what to run for the findings of one run.

    `checked` are its files, where calls are looked for; `probes` are the only ones wanted (none: all). `holders` finds
    the classes of other files that a target is a part of, `files_of` the files of the project that begins in a folder.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        torch: Minor,
        checked: Sequence[Path],
        settings_of: Callable[[Path], Settings],
        probes: Sequence[ProbeName] = (),
        holders: Holders | None = None,
        files_of: Callable[[Path], Sequence[Path]] | None = None,
    ) -> None:
        self.catalogue = catalogue
        self.only = frozenset(probes)
        self.torch = torch
        self.checked = checked
        self.settings_of = settings_of
        self.holders = holders
        self._files_of = functools.cache(files_of) if files_of else None
        self._configurations = functools.cache(configurations)
        self._options = functools.cache(lambda files, root: option_values(files, self._configurations(root)))
        self._registrations = functools.cache(Registrations)
        self._import_roots = functools.cache(import_roots)

    def probes_of(self, finding: Diagnostic) -> tuple[ProbeName, ...]:
        """The probes that the rule names, or those of them that the user wants."""
        rule = self.catalogue.rules.get(finding.code)
        probes: tuple[ProbeName, ...] = rule.probe if rule else ()
        return tuple(probe for probe in probes if not self.only or probe in self.only)

    def plans(self, findings: Mapping[int, Diagnostic]) -> list[Plan]:
        """One plan for each target, in the order of the files. Findings are numbered; the numbers come back."""
        by_file: dict[str, dict[int, Diagnostic]] = defaultdict(dict)
        for index, finding in findings.items():
            by_file[finding.location.path][index] = finding
        files = sorted(by_file.items())
        return with_large_stack(lambda: [plan for file in files for plan in self._of_file_if_readable(*file)])

    def named(self, path: Path, name: str, probes: Mapping[int, ProbeName]) -> Plan:
        """A plan for a class or function that the user names; each probe is asked about all of its file.

        Raises TorchlintError for a file that cannot be read or has no such name.
        """
        try:
            file = File.read(path)
        except UnreadableSource as error:
            raise TorchlintError(f"{path}: {error.reason}") from error
        statement = next((each for each in file.tree.body if name in bound_names(each)), None)
        if statement is None:
            raise TorchlintError(f"{path}: nothing is called `{name}` at the top level")
        kinds: dict[type[ast.stmt], TargetKind] = {ast.ClassDef: "module", ast.FunctionDef: "function"}
        traced = {rule.code for rule in self.catalogue.rules.values() if "trace" in rule.probe}
        operators = operator_facts(
            (each for each in self.catalogue.operators if each.is_context or each.rule in traced), self.torch
        )
        last = len(file.source.lines)
        probed = tuple(
            ProbedFinding(index=index, code="", line=1, end_line=last, probes=(probe,), operators=operators)
            for index, probe in probes.items()
        )
        return self._planned(file, kinds.get(type(statement), "object"), name, probed)

    def _of_file_if_readable(self, path: str, findings: Mapping[int, Diagnostic]) -> list[Plan]:
        """None where the file changed since, or nests too deeply to be cut: the findings come back as skipped."""
        try:
            return self._of_file(Path(path), findings)
        except (UnreadableSource, RecursionError):
            return []

    def _of_file(self, path: Path, findings: Mapping[int, Diagnostic]) -> list[Plan]:
        file = File.read(path)
        groups: dict[tuple[TargetKind, str], dict[int, Diagnostic]] = defaultdict(dict)
        for index, finding in findings.items():
            groups[self._target_of(file, finding)][index] = finding
        return [self._plan(file, kind, name, found) for (kind, name), found in groups.items()]

    def _target_of(self, file: File, finding: Diagnostic) -> tuple[TargetKind, str]:
        place = finding.location
        line = file.line_in_text(place.cell, place.line)
        probes = self.catalogue.rules[finding.code].probe
        if _ABOUT_STATEMENTS & set(probes):
            return "statement", f"line {line}"
        return target_at(file.tree, line)

    def _plan(self, file: File, kind: TargetKind, name: str, findings: Mapping[int, Diagnostic]) -> Plan:
        probed = tuple(self._probed(file, index, finding) for index, finding in sorted(findings.items()))
        return self._planned(file, kind, name, probed)

    def _planned(self, file: File, kind: TargetKind, name: str, probed: tuple[ProbedFinding, ...]) -> Plan:
        is_flagged = any(each.code for each in probed)
        enclosing = enclosing_classes(file.tree, name) if kind == "module" and is_flagged else ()
        names = (name, *enclosing) if kind in ("module", "function") else holding(file.tree, probed)
        told = name if kind != "statement" else next(iter(holding(file.tree, probed)), "")
        root, hooks = self.settings_of(file.path).root, self._hooks(file, told)
        appliers = applied_by(file.tree, name) if kind == "module" else ()
        wanted = {name, *enclosing, *appliers, *(names_to_import(file.tree) if hooks.factory else ())}
        wanted |= classes_for_parameters(file.tree, name) if kind == "module" else frozenset()
        cut = self._cut(file, kind, wanted, probed)
        is_held = kind == "module" and hooks.is_empty
        holders = tuple(self._holders_of(file, [name, *enclosing])) if is_held else ()
        if is_held and not is_flagged:
            holders = (*self._holders_beside(file, name), *self._derived_from(file, name), *reversed(holders))
        project = tuple(self._files_of(root)) if self._files_of else ()
        is_called = bool(project) and kind in ("module", "function")
        called = [*names, *appliers, *(each.name for each in holders)]
        return Plan(
            code=self._code(file, cut),
            target=Target(
                kind=kind,
                name=name,
                enclosing=enclosing,
                applied_by=appliers,
                holders=holders,
                calls=call_sites(called, [file.path, *self.checked, *project]),
                options=self._options(project, root) if is_called else {},
                configurations=self._configurations(root)[:_MOST_CONFIGURATIONS] if is_called else (),
            ),
            findings=probed,
            shown=file.source.path,
            hooks=hooks,
            source=file.source,
            table=self._table(file, kind, told) if told else None,
        )

    def _table(self, file: File, kind: TargetKind, name: str) -> Table:
        config = self.settings_of(file.path).config_file
        is_own_file = config is not None and config.name == OWN_FILE
        return Table(module=file.module, name=name, kind=kind, tree=file.tree, is_own_file=is_own_file)

    def _holders_of(self, file: File, names: Sequence[str]) -> Iterator[Holder]:
        yield from self._elsewhere(self.holders.of(file.path, names) if self.holders is not None else ())

    def _derived_from(self, file: File, name: str) -> Iterator[Holder]:
        yield from self._elsewhere(self.holders.derived(file.path, name) if self.holders is not None else ())

    def _elsewhere(self, classes: Iterable[tuple[Path, str]]) -> Iterator[Holder]:
        for path, name in classes:
            with contextlib.suppress(UnreadableSource):
                other = File.read(path)
                cut = slice_for(other.tree, other.source.text, [name])
                yield Holder(name=name, code=self._code(other, cut), hooks=self._hooks(other, name))

    def _holders_beside(self, file: File, name: str) -> Iterator[Holder]:
        """Classes of the same file that hold one or derive from it, the smallest first: they may know how it is run."""
        for other in (*derived_classes(file.tree, name), *reversed(enclosing_classes(file.tree, name))):
            cut = slice_for(file.tree, file.source.text, [other])
            yield Holder(name=other, code=self._code(file, cut), hooks=self._hooks(file, other))

    def _code(self, file: File, cut: Slice) -> Code:
        root = self.settings_of(file.path).root
        files = tuple(self._files_of(root)) if self._files_of else ()
        folders = self._import_roots(files, root) if files else ()
        return code_of(file, cut, root, folders, self._registrations(files).into_those_of(file, cut.text))

    def _hooks(self, file: File, name: str) -> Hooks:
        settings = self.settings_of(file.path)
        return hooks_for(settings.verify, file.module, name, settings.root)

    def _cut(self, file: File, kind: TargetKind, names: Iterable[str], probed: Sequence[ProbedFinding]) -> Slice:
        text, line = file.source.text, probed[0].line
        probes = {probe for each in probed for probe in each.probes}
        if kind != "statement":
            return slice_for(file.tree, text, names)
        if "draws" in probes:
            return slice_before(file.tree, text, line)
        is_about_program = bool(_ABOUT_PROGRAMS & {each.code for each in probed})
        return slice_around(file.tree, text, line, surroundings="config" in probes, program=is_about_program)

    def _probed(self, file: File, index: int, finding: Diagnostic) -> ProbedFinding:
        place = finding.location
        start = file.line_in_text(place.cell, place.line)
        operators = [self.catalogue.operator(identity) for identity in finding.operators]
        lines = file.source.lines[start - 1 : start + place.end_line - place.line]
        return ProbedFinding(
            index=index,
            code=finding.code,
            line=start,
            end_line=start + place.end_line - place.line,
            probes=self.probes_of(finding),
            variant=finding.variant,
            operators=operator_facts(operators, self.torch, is_refused=finding.variant.startswith("raises_on")),
            mode_on=finding.variant.startswith(("raises_on", "warn_only")),
            snippet=_cut_out(lines, place.column, place.end_column),
        )


def asked_for(plan: Plan, probe: ProbeName) -> Diagnostic:
    """What stands for a finding where the user names the target."""
    tree = parse_text(plan.source.text)
    statement = next(each for each in tree.body if plan.name in bound_names(each))
    line = statement.lineno
    return Diagnostic(
        code="",
        name=probe,
        severity=Severity.INFO,
        confidence=Confidence.HIGH,
        message=f"`{plan.name}` was asked for by name",
        location=plan.source.locate(line, statement.col_offset + 1, line, statement.col_offset + 1),
        url="",
        advice="",
        source_line=plan.source.lines[line - 1],
    )


def _cut_out(lines: Sequence[str], column: int, end_column: int) -> str:
    """The flagged expression of the lines that hold it; columns count from 1."""
    if not lines:
        return ""
    if len(lines) == 1:
        return lines[0][column - 1 : end_column - 1]
    return "\n".join([lines[0][column - 1 :], *lines[1:-1], lines[-1][: end_column - 1]])
