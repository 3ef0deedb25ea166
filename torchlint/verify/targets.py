"""From findings to targets: which class, function or statement has to run, and what of the file that takes."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from torchlint.catalogue import Catalogue
from torchlint.catalogue.registry import Operator
from torchlint.catalogue.versions import Minor
from torchlint.config import OWN_FILE, Settings
from torchlint.diagnostics import Confidence, Diagnostic, Severity
from torchlint.engine.workers import with_large_stack, work_through
from torchlint.errors import ConfigError, TorchlintError, UnreadableSource
from torchlint.recording.messages import ProbedFinding, Target, TargetKind
from torchlint.recording.names import ProbeName
from torchlint.verify.cutting import Cutter
from torchlint.verify.enclosing import applied_by, classes_for_parameters, enclosing_classes
from torchlint.verify.hooks import Table, hooks_for
from torchlint.verify.judging import Refused
from torchlint.verify.loading import File
from torchlint.verify.names import bound_names
from torchlint.verify.operator_facts import operator_facts
from torchlint.verify.plan import Plan
from torchlint.verify.slicing import names_to_import
from torchlint.verify.top_level import holding, target_at

_ABOUT_STATEMENTS = frozenset({"config", "loader", "order", "draws"})
"""Probes that run statements as they stand, and no forward pass."""


class Planner:
    """Plans what to run for the findings of one run.

    `probes` are the only ones wanted (none: all). `refused` holds the findings whose target the configuration describes
    in a way that is not understood, by their numbers.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        torch: Minor,
        settings_of: Callable[[Path], Settings],
        probes: Sequence[ProbeName] = (),
        cutter: Cutter | None = None,
    ) -> None:
        self.catalogue = catalogue
        self.only = frozenset(probes)
        self.torch = torch
        self.settings_of = settings_of
        self.refused: dict[int, Refused] = {}
        self._cutter = cutter or Cutter(settings_of, None)

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
        of_files = with_large_stack(lambda: work_through(lambda file: self._of_file_if_readable(*file), files))
        return [plan for plans in of_files for plan in plans]

    def named(self, path: Path, name: str, probes: Mapping[int, ProbeName]) -> tuple[list[Plan], dict[int, Diagnostic]]:
        """A plan for a class or function that the user names, and what stands for the findings.

        Each probe is asked about all of the file. There is no plan where the table of the target is not understood.
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
        operators = operator_facts(self._traced(), self.torch)
        last = len(file.source.lines)
        probed = {
            index: ProbedFinding(index=index, code="", line=1, end_line=last, probes=(probe,), operators=operators)
            for index, probe in probes.items()
        }
        asked = {index: _asked_for(file, name, statement, probe) for index, probe in probes.items()}
        return self._planned_together(file, [(kinds.get(type(statement), "object"), name, probed)]), asked

    def _traced(self) -> list[Operator]:
        """What a run shows: operators of rules, and those that no rule reports as nearly every program has them."""
        traced = {code for code, rule in self.catalogue.rules.items() if "trace" in rule.probe}
        return [each for each in self.catalogue.operators if each.is_context or each.rule in traced]

    def _of_file_if_readable(self, path: str, findings: Mapping[int, Diagnostic]) -> list[Plan]:
        """None where the file changed since, or nests too deeply to be cut: the findings come back as skipped."""
        try:
            return self._of_file(Path(path), findings)
        except (UnreadableSource, RecursionError):
            return []

    def _of_file(self, path: Path, findings: Mapping[int, Diagnostic]) -> list[Plan]:
        file = File.read(path)
        groups: dict[tuple[TargetKind, str], dict[int, ProbedFinding]] = defaultdict(dict)
        for index, finding in sorted(findings.items()):
            groups[self._target_of(file, finding)][index] = self._probed(file, index, finding)
        return self._planned_together(file, [(*target, probed) for target, probed in groups.items()])

    def _planned_together(
        self, file: File, targets: Iterable[tuple[TargetKind, str, Mapping[int, ProbedFinding]]]
    ) -> list[Plan]:
        """The plans for targets of one file; those whose table is not understood are refused."""
        plans = []
        for kind, name, probed in targets:
            try:
                plans.append(self._planned(file, kind, name, tuple(probed.values())))
            except ConfigError as error:
                self.refused |= {i: Refused(name, each.probes[0], str(error)) for i, each in probed.items()}
        return plans

    def _target_of(self, file: File, finding: Diagnostic) -> tuple[TargetKind, str]:
        place = finding.location
        line = file.line_in_text(place.cell, place.line)
        probes = self.catalogue.rules[finding.code].probe
        if _ABOUT_STATEMENTS & set(probes):
            return "statement", f"line {line}"
        return target_at(file.tree, line)

    def _planned(self, file: File, kind: TargetKind, name: str, probed: tuple[ProbedFinding, ...]) -> Plan:
        """Raises ConfigError where the table of the target is not understood."""
        is_flagged = any(each.code for each in probed)
        enclosing = enclosing_classes(file.tree, name) if kind == "module" and is_flagged else ()
        names = (name, *enclosing) if kind in ("module", "function") else holding(file.tree, probed)
        told = name if kind != "statement" else next(iter(holding(file.tree, probed)), "")
        hooks = hooks_for(self.settings_of(file.path), file.module, told)
        appliers = applied_by(file.tree, name) if kind == "module" else ()
        wanted = {name, *enclosing, *appliers, *(names_to_import(file.tree) if hooks.factory else ())}
        wanted |= classes_for_parameters(file.tree, name) if kind == "module" else frozenset()
        return Plan(
            code=self._cutter.code(file, self._cutter.cut(file, kind, wanted, probed)),
            target=Target(kind=kind, name=name, enclosing=enclosing, applied_by=appliers),
            findings=probed,
            file=file,
            hooks=hooks,
            called=(*names, *appliers),
            table=self._table(file, kind, told) if told else None,
        )

    def _table(self, file: File, kind: TargetKind, name: str) -> Table:
        config = self.settings_of(file.path).config_file
        is_own_file = config is not None and config.name == OWN_FILE
        return Table(module=file.module, name=name, kind=kind, tree=file.tree, is_own_file=is_own_file)

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


def _asked_for(file: File, name: str, statement: ast.stmt, probe: ProbeName) -> Diagnostic:
    """What stands for a finding where the user names the target."""
    line, column = statement.lineno, statement.col_offset + 1
    return Diagnostic(
        code="",
        name=probe,
        severity=Severity.INFO,
        confidence=Confidence.HIGH,
        message=f"`{name}` was asked for by name",
        location=file.source.locate(line, column, line, column),
        url="",
        advice="",
        source_line=file.source.lines[line - 1],
    )


def _cut_out(lines: Sequence[str], column: int, end_column: int) -> str:
    """The flagged expression of the lines that hold it; columns count from 1."""
    if not lines:
        return ""
    if len(lines) == 1:
        return lines[0][column - 1 : end_column - 1]
    return "\n".join([lines[0][column - 1 :], *lines[1:-1], lines[-1][: end_column - 1]])
