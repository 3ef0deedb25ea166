"""One file: bytes → text → facts → candidates → findings → drafts. Pure, and the same for any order of files."""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from torchlint.catalogue import Catalogue
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Check, Finding, ProgramCheck, all_checks, all_program_checks
from torchlint.checks.framework.visit import Visit
from torchlint.checks.operators.operators import operator_calls
from torchlint.config import Settings
from torchlint.diagnostics import InternalError, Location, Note, Related, Severity, Skipped
from torchlint.engine.prefilter import Prefilter, candidates
from torchlint.engine.suppression import Comment, read_comments
from torchlint.errors import OverBudget, Python2Source, SkippedSource, UnreadableSource
from torchlint.facts.exports import exports_of
from torchlint.facts.file import FileFacts
from torchlint.facts.full_names import NameTable
from torchlint.facts.imported import Modules
from torchlint.facts.places import statement_lines
from torchlint.facts.summarising import summarise
from torchlint.facts.summary import Extract, FileSummary
from torchlint.facts.watch import Watch
from torchlint.project.modules import ModuleIndex
from torchlint.source.discovery import SUFFIXES
from torchlint.source.syntax import TOO_DEEP, deep_place, parse_python
from torchlint.source.text import Problem, Source, is_notebook, source_from_text

PYTHON_2 = "python_2"
"""The message about files for Python 2, which are told of together (engine/outcomes.py)."""


class AnalysisContext(msgspec.Struct, frozen=True):
    """What every file of a root is analysed with."""

    catalogue: Catalogue
    settings: Settings
    names: NameTable
    watch: Watch
    prefilter: Prefilter
    extracts: tuple[Extract[Any], ...]


def analysis_context(catalogue: Catalogue, settings: Settings) -> AnalysisContext:
    """The checks that the settings select, and their tables."""
    every = all_checks()
    names, watch = _words(catalogue, every)
    asked = tuple(check for check in every if settings.shows_open or not check.is_open)
    prefilter = _prefilter(catalogue, asked, settings.selected)
    # `audit` asks for itself, too.
    programs = tuple(one for one in all_program_checks() if settings.shows_open or one.codes & settings.selected)
    checks: tuple[Check | ProgramCheck, ...] = (*(every if settings.shows_open else prefilter.checks), *programs)
    extracts = {extract: None for one in checks for extract in one.asks}
    return AnalysisContext(catalogue, settings, names, watch, prefilter, tuple(extracts))


@functools.lru_cache(maxsize=2)
def _words(catalogue: Catalogue, every: tuple[Check, ...]) -> tuple[NameTable, Watch]:
    """What depends on the catalogue alone: the roots of a run share it."""
    # Of all checks: what a star import binds must not depend on which rules run.
    triggers = [check.triggers(catalogue, frozenset(catalogue.rules)) for check in every]
    known = frozenset(name for each in triggers for name in (*each.calls, *each.assigned))
    known |= {f"{home}.{name}" for home in ("torch", "torch.nn") for name in ("nn", "functional", "backends", "cuda")}
    return NameTable(catalogue.names, known, catalogue.programs.starter), Watch.of(catalogue)


@functools.lru_cache(maxsize=16)
def _prefilter(catalogue: Catalogue, every: tuple[Check, ...], selected: frozenset[str]) -> Prefilter:
    """The checks of some rules with their triggers: roots that select the same share it."""
    checks = tuple(check for check in every if check.codes(catalogue) & selected)
    return Prefilter.of(checks, tuple(check.triggers(catalogue, selected) for check in checks))


class Reading(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How far a result of one file holds, and what others have of the file."""

    consulted: tuple[str, ...] = ()
    """The other files that it hangs on: while these and the file stay as they are, so does what it says."""
    exports: bytes = b""
    """Of the other files this alone counts (facts/exports.py); empty for a file that could not be read.

    Neither this nor the other files are told where no cache keeps them.
    """
    gone_through: tuple[str, ...] = ()
    """Those of the other files of which all names count."""
    interface: bytes = b""
    """What others read of the file (facts/exports.py)."""


def reading_of(facts: FileFacts, modules: ModuleIndex, *, is_kept: bool) -> Reading:
    """What whoever keeps the results of a file, or hears of them, needs besides."""
    path, interface = facts.path, modules.interface_of(facts)
    if not is_kept:
        return Reading(interface=interface)
    return Reading(modules.consulted_by(path), exports_of(facts), modules.gone_through_by(path), interface)


class FileResult(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """All that one file yields by itself, as plain data."""

    path: str
    shown: str
    drafts: tuple[Draft, ...] = ()
    comments: tuple[Comment, ...] = ()
    notes: tuple[Note | Skipped, ...] = ()
    internal_errors: tuple[InternalError, ...] = ()
    summary: FileSummary | None = None
    reading: Reading | None = None
    """For whoever keeps the rest; None of a file that could not be read, and once that is done."""

    @property
    def is_skipped(self) -> bool:
        """Whether nothing of the file was checked."""
        return any(isinstance(note, Skipped) and note.cell is None for note in self.notes)


def read_facts(path: str, source: Source, tools: AnalysisContext, modules: Modules) -> FileFacts:
    """Parse a source and read its facts. Raises UnreadableSource."""
    tree = parse_python(source)
    try:
        return FileFacts.read(path, source, tree, tools.names, modules)
    except RecursionError as error:
        raise _given_up(tree, error, 1) from None


def _given_up(tree: ast.Module, error: OverBudget | RecursionError, line: int) -> UnreadableSource:
    """What a file is told by which the analysis ended. Raises the error itself where it is not the file's doing."""
    if isinstance(error, OverBudget):
        return OverBudget(error.reason, line)
    place = deep_place(tree)
    if place is None:
        raise error
    return UnreadableSource(TOO_DEEP, *place)


def analyse(path: str, source: Source, tools: AnalysisContext, modules: ModuleIndex) -> FileResult:
    """Everything one file says by itself."""
    try:
        facts = modules.own(path, lambda: read_facts(path, source, tools, modules.asked_by(path)))
    except UnreadableSource as error:
        return _not_read(path, source, error)
    drafts, errors = _check(facts, tools)
    drafts += _check_settings(facts, tools)
    comments, malformed = read_comments(path, source, facts.tree.body)
    summary = _within_budget(facts, tools, is_notebook=is_notebook(path))
    if summary is None:  # nothing can be judged without it
        told = [draft for draft in drafts if draft.code == "TL001"]
        drafts = told or [_unreadable(path, source, OverBudget("too large or too complex"))]
    begun = _begun(path, source)
    return replace(
        begun,
        drafts=(*begun.drafts, *drafts, *malformed),
        comments=comments,
        internal_errors=tuple(errors),
        summary=summary,
    )


def read_syntax(path: str, source: Source) -> FileResult:
    """What a file of a project without torch says: that it cannot be parsed, and which comments are malformed."""
    try:
        tree = parse_python(source)
    except UnreadableSource as error:
        return _not_read(path, source, error)
    begun = _begun(path, source)
    comments, malformed = read_comments(path, source, tree.body)
    return replace(begun, drafts=(*begun.drafts, *malformed), comments=comments)


def _begun(path: str, source: Source) -> FileResult:
    """What is said of the cells of a file, before anything of it is parsed."""
    problems = tuple(_unreadable_cell(path, source, problem) for problem in source.problems)
    notes = tuple(Skipped(reason, source.path, cell) for cell, reason in source.skipped)
    return FileResult(path, source.path, problems, notes=notes)


def _not_read(path: str, source: Source, error: UnreadableSource) -> FileResult:
    if isinstance(error, SkippedSource):
        return skipped_file(path, source.path, error)
    begun = _begun(path, source)
    return replace(begun, drafts=(*begun.drafts, _unreadable(path, source, error)))


def skipped_file(path: str, shown: str, error: SkippedSource) -> FileResult:
    """A file that is not checked, with the reason."""
    return FileResult(path, shown, notes=(Skipped(error.reason, shown),))


def summary_of(facts: FileFacts, tools: AnalysisContext, *, is_notebook: bool) -> FileSummary:
    """What the file's project may ask about it."""
    return summarise(
        facts, tools.watch, operator_calls(facts, tools.catalogue), tools.extracts, is_notebook=is_notebook
    )


def _within_budget(facts: FileFacts, tools: AnalysisContext, *, is_notebook: bool) -> FileSummary | None:
    """The summary of a file, which its checks may have left no budget for: it has its own."""
    facts.spent = 0
    try:
        return summary_of(facts, tools, is_notebook=is_notebook)
    except (OverBudget, RecursionError) as error:
        _given_up(facts.tree, error, 1)
        return None


def unreadable_file(path: str, shown: str, error: UnreadableSource) -> FileResult:
    """A file that cannot be decoded: one TL001, and nothing else to say."""
    return FileResult(path, shown, (_unreadable(path, source_from_text("", shown), error),))


_SAID = {Python2Source: (PYTHON_2, Severity.INFO), OverBudget: ("partly", Severity.WARNING)}


def _unreadable(path: str, source: Source, error: UnreadableSource) -> Draft:
    line, column = error.line, error.column
    text = source.lines[line - 1] if line <= len(source.lines) else ""
    message, severity = _SAID.get(type(error), ("default", None))
    reason = error.reason
    if message == PYTHON_2 and not _is_named_as_code(path):
        message, severity, reason = "default", None, "does not parse as Python"
    return Draft(
        code="TL001",
        check="engine",
        path=path,
        location=source.locate(line, column, line, column + 1),
        source_line=text,
        lines=(line, line),
        values={"reason": reason, "files": source.path},
        message=message,
        severity=severity,
        confidence=None,
    )


def _is_named_as_code(path: str) -> bool:
    """Whether a file may be for any Python by its name; users name others, too: `README.md`."""
    name = path.rpartition("/")[2]
    return "." not in name or name.lower().endswith(SUFFIXES)


def _unreadable_cell(path: str, source: Source, problem: Problem) -> Draft:
    """A notebook is worked in cell by cell: what one of them holds, a draft or prose, fails no run of the others."""
    draft = _unreadable(path, source, UnreadableSource(problem.reason, problem.line, problem.column))
    return replace(draft, message="cell", severity=Severity.INFO)


def _check(facts: FileFacts, tools: AnalysisContext) -> tuple[list[Draft], list[InternalError]]:
    visit = Visit(facts, tools.catalogue, tools.settings.selected)
    drafts: list[Draft] = []
    errors: list[InternalError] = []
    line = 1
    try:
        for site, checks in candidates(facts, tools.prefilter):
            line = site.node.lineno
            visit.at(site)
            _show(visit, checks, drafts, errors)
    except (OverBudget, RecursionError) as error:
        drafts.append(_unreadable(facts.path, facts.source, _given_up(facts.tree, error, line)))
    return drafts, errors


def _show(visit: Visit, checks: Sequence[Check], drafts: list[Draft], errors: list[InternalError]) -> None:
    """Let checks look at one node."""
    facts = visit.facts
    for check in checks:
        try:
            found = list(check.find(visit))
        except Exception as error:  # one broken check must not take the others down; it is reported
            if isinstance(error, OverBudget) or (isinstance(error, RecursionError) and deep_place(facts.tree)):
                raise
            errors.append(InternalError(check.name, facts.source.path, f"{type(error).__name__}: {error}"))
        else:
            drafts += [_draft(facts, check, one) for one in found if one.code in visit.selected]


def _check_settings(facts: FileFacts, tools: AnalysisContext) -> list[Draft]:
    """What checks say of the variables that a notebook's magics set."""
    drafts = []
    for setting in facts.source.environment:
        text = f"%env {setting.name}={setting.value}"
        for check in tools.prefilter.checks:
            for finding in check.on_setting(setting, facts) if check.on_setting else ():
                draft = Draft(
                    code=finding.code,
                    check=check.name,
                    path=facts.path,
                    location=facts.source.locate(setting.line, 1, setting.line, len(text) + 1),
                    source_line=text,
                    lines=(setting.line, setting.line),
                    values=finding.values,
                    message=finding.message,
                    severity=None,
                    confidence=None,
                )
                drafts.append(draft)
    return drafts


def _draft(facts: FileFacts, check: Check, finding: Finding) -> Draft:
    line = finding.line or finding.node.lineno
    return Draft(
        code=finding.code,
        check=check.name,
        is_open=check.is_open,
        path=facts.path,
        location=facts.locate(finding.node) if finding.line is None else _whole_line(facts, finding.line),
        source_line=facts.source.lines[line - 1],
        lines=facts.cached(statement_lines).get(line, (line, line)),
        values=finding.values,
        message=finding.message,
        severity=finding.severity,
        confidence=finding.confidence,
        related=tuple(Related(facts.locate(node), text) for node, text in finding.related),
        operators=finding.operators,
        passage=finding.passage,
        demands=finding.demands,
        torch=finding.torch,
        devices=finding.devices,
        exits=finding.exits,
        origins=finding.origins,
    )


def _whole_line(facts: FileFacts, line: int) -> Location:
    """The text of a line, without its indentation."""
    text = facts.source.lines[line - 1].rstrip()
    return facts.source.locate(line, len(text) - len(text.lstrip()) + 1, line, len(text) + 1)
