"""TL506, and calls of other libraries that vary in every run: each a table in `rules/registry/libraries/`."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from msgspec.structs import replace

from torchlint.catalogue import Catalogue
from torchlint.catalogue.libraries import Fact, Library, Use
from torchlint.checks.framework.conditions import Answer, holds
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.programs import is_demonstration, place_leading_to
from torchlint.checks.framework.registration import Finding, ProgramFinding, Triggers, check, program_check
from torchlint.checks.framework.visit import Visit, spelling_of
from torchlint.checks.randomness import given_seeds
from torchlint.diagnostics import Confidence, Related, Severity
from torchlint.facts.constants import holds_call
from torchlint.facts.entries import is_beside_training, is_test
from torchlint.facts.flow.tracker import Flow, Sink, follow
from torchlint.facts.flow.values import Move, Value
from torchlint.facts.full_names import Callee
from torchlint.facts.notation import is_of_project
from torchlint.facts.values import may_be_hidden
from torchlint.project.index import Project
from torchlint.project.programs import Program
from torchlint.project.randomness import ENGINE, SAVED

_POSTING = frozenset({"requests.post", "httpx.post", "requests.Session().post", "httpx.Client().post"})


def _codes(catalogue: Catalogue) -> frozenset[str]:
    return frozenset(fact.rule for library in catalogue.libraries for fact in library.fact if fact.use)


class _Settling(given_seeds.Seeding):
    """Where a result is seeded; what else is kept in its place has the same fact."""

    def beyond(self, _move: Move) -> Iterator[Move | Sink]:
        return iter(())


def _triggers(catalogue: Catalogue, _: frozenset[str]) -> Triggers:
    uses = [use for named in catalogue.library_uses.values() for _, _, use in named]
    return Triggers(
        calls=frozenset(use.call for use in uses if use.call),
        methods=frozenset(use.method for use in uses if use.method),
    )


def _judge(draft: Draft, project: Project) -> Draft | None:
    """In programs that use torch, by the admitted releases, where the result is used and nothing settles it."""
    library, fact = project.catalogue.fact(draft.values["fact"])
    serves_torch = project.uses_torch(draft.path) or (fact.is_prepared and project.has_torch)
    if is_beside_training(draft.path) or not serves_torch:
        return None
    if is_settled(project, fact) or project.flows.sink_of(draft.exits, _Settling) is not None:
        return None
    if not draft.values["use"] and project.flows.sink_of(draft.exits, _use_of(fact)) is None:
        return None
    found = certainty(project, draft.path, library, fact)
    if found is None:
        return None
    return replace(draft, confidence=found) if found is Confidence.LOW else draft


@check(codes=_codes, triggers=_triggers, judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """One finding for each fact that the call meets."""
    found, uses = {}, visit.catalogue.library_uses
    method = visit.call.func.attr if isinstance(visit.call.func, ast.Attribute) else ""
    for library, fact, use in (*uses.get(visit.callee() or "", ()), *uses.get(method, ())):
        if fact.rule in visit.selected and fact.id not in found and (answer := _answer(visit, library, use)):
            found[fact.id] = fact, answer
    for fact, answer in found.values():
        # A call that does it all is its own use.
        made = Value(visit.call)
        used = Flow(Sink("called", visit.call)) if fact.used_by is None else follow(_use_of(fact)(visit.facts), made)
        settled = follow(_Settling(visit.facts), made)
        if settled.sink is not None or not (used.sink is not None or used.exits):
            continue
        where = "" if used.sink is None else used.sink.what
        values = {"spelling": spelling_of(visit), "what": fact.what, "fix": fact.fix, "fact": fact.id, "use": where}
        message = "library" if "library" in visit.catalogue.rules[fact.rule].messages else "default"
        confidence = None if answer is Answer.YES else Confidence.LOW
        severity, exits = Severity.INFO if fact.is_note else None, tuple(settled.exits)
        yield Finding(fact.rule, visit.node, values, message, severity=severity, confidence=confidence, exits=exits)


def _answer(visit: Visit, library: Library, use: Use) -> Answer:
    if use.method and not _is_its_file(visit, library, use):
        return Answer.NO
    if given_seeds.is_fallback(visit) or any(
        may_be_hidden(visit.call, one.position) or given_seeds.is_given(visit, one.argument, one.position)
        for one in use.left_out
    ):
        return Answer.NO
    if use.holding and not holds_call(visit.facts, visit.call, visit.scope, re.compile(use.holding)):
        return Answer.NO
    return holds(visit.facts, visit.call, Callee(use.call or use.method), use.where, visit.scope)


def _is_its_file(visit: Visit, library: Library, use: Use) -> bool:
    """Whether the file imports the library, and no other may have such a method, or evidently such a function."""
    known = visit.callee() or ""
    if known and not is_of_project(known) and known.partition(".")[0] != library.import_name:
        return False
    targets = (target for target, _ in visit.facts.symbols.imports if not target.level)
    imported = {target.module.partition(".")[0] for target in targets}
    return library.import_name in imported and imported.isdisjoint(use.unless_imported)


def _use_of(fact: Fact) -> functools.partial[given_seeds.Use]:
    return functools.partial(given_seeds.Use, methods=fact.used_by or ())


def certainty(project: Project, path: str, library: Library, fact: Fact) -> Confidence | None:
    """None where only releases are admitted that do not vary, low where others are admitted as well."""
    admitted, affected = project.releases_of(library, path), library.affected(fact)
    if not admitted & affected:
        return None
    return Confidence.HIGH if admitted <= affected else Confidence.LOW


def is_settled(project: Project, fact: Fact) -> bool:
    """Whether the project sets, calls or names what ends a fact."""
    is_set = any(project.sets_variable(name, values) for name, values in fact.unless_set.items())
    is_called = bool(fact.unless_called) and project.texts.call(fact.unless_called)
    return is_set or is_called or any(project.texts.say(word, project.summaries) for word in fact.unless_named)


@program_check("TL506", asks=(SAVED,))
def saved_answers(program: Program, project: Project) -> Iterator[ProgramFinding]:
    """The first results of an engine that the program saves."""
    for one in project.saved_by(program):
        if one.draw.generator != ENGINE:
            continue
        known = ((library, fact) for library in project.catalogue.libraries for fact in library.fact)
        library, fact = next(pair for pair in known if one.draw.name in pair[1].gives)
        if is_demonstration(program, one.saved, project) or is_settled(project, fact):
            continue
        found = certainty(project, one.draw.path, library, fact)
        if found is not None and (project.has_torch or not fact.is_prepared):
            draw, saved = one.draw, one.saved
            values = {"call": f"`{draw.name}`", "saved": f"`{saved.name}`", "what": fact.what, "fix": fact.fix}
            place = place_leading_to((draw.path, draw.symbol), draw.place, program, project)
            related = (Related(draw.place.location, "the engine answers"), Related(saved.place.location, "saves it"))
            finding = ProgramFinding(
                "TL506", place, values, severity=Severity.INFO if fact.is_note else None, related=related
            )
            yield replace(finding, confidence=found) if found is Confidence.LOW else finding


# What a program sends while it trains decides what it trains on.
@check(
    codes=("TL506",),
    triggers=Triggers(calls=_POSTING),
    judge=lambda draft, project: draft if not is_test(draft.path) and project.may_train(draft.symbol) else None,
    is_open=True,
)
def asked(visit: Visit) -> Iterator[Finding]:
    """A server that is asked for something: `requests.post(url, json=prompts)`."""
    yield Finding("TL506", visit.node, {"symbol": visit.symbol})
