"""Rules that are TOML alone: a name called, assigned or imported, with conditions on the arguments.

Also the user's own rules (`extend-rules`), which know no other way.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec.structs import replace

from torchlint.catalogue import Catalogue
from torchlint.catalogue.detection import Pattern
from torchlint.catalogue.values import Kind
from torchlint.catalogue.versions import VersionRange
from torchlint.checks.framework.conditions import Answer, holds
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit, shortened, spelling_of
from torchlint.diagnostics import Confidence, Severity
from torchlint.facts.control.conditions import is_for_some_releases
from torchlint.facts.full_names import Callee
from torchlint.facts.notation import is_result
from torchlint.facts.tree import last_word, targets_of
from torchlint.project.index import Project

_SETATTR = "builtins.setattr"
_RECEIVERS = {"tensor": Kind.TENSOR, "module": Kind.MODULE}


def _codes(catalogue: Catalogue) -> frozenset[str]:
    return frozenset(code for code, rule in catalogue.rules.items() if rule.detect)


def _triggers(catalogue: Catalogue, _: frozenset[str]) -> Triggers:
    patterns = [pattern for rule in catalogue.rules.values() for pattern in rule.detect]
    assigned = frozenset(name for pattern in patterns for name in pattern.assign)
    return Triggers(
        calls=frozenset(name for pattern in patterns for name in pattern.call) | ({_SETATTR} if assigned else set()),
        methods=frozenset(name for pattern in patterns for name in pattern.method),
        assigned=assigned,
        imports=frozenset(name for pattern in patterns for name in pattern.import_),
    )


def _judge(draft: Draft, project: Project) -> Draft | None:
    """A pattern for older releases gives way to one of the same rule and name for the newest."""
    newest = project.target_for(draft.path).newest
    if not draft.torch or newest in VersionRange.parse(draft.torch):
        return draft
    name = draft.values["name"]
    patterns = [p for p in project.catalogue.rules[draft.code].detect if p.torch and name in (*p.assign, *p.call)]
    return None if any(newest in VersionRange.parse(pattern.torch) for pattern in patterns) else draft


@check(codes=_codes, triggers=_triggers, judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """One finding for each rule with a pattern that matches the node, or one for each range of releases."""
    for code in sorted(visit.selected):
        for pattern in visit.catalogue.rules[code].detect:
            match = _shape_matches(visit, pattern)
            is_guarded = pattern.unless_guarded and match and is_for_some_releases(visit.facts, visit.statement)
            if match is not None and not is_guarded:
                name, value, answer = match
                told = visit.node.targets[0] if isinstance(visit.node, ast.Assign) else visit.node
                values = {"name": name, "value": value, "spelling": spelling_of(visit, told)}
                severity = Severity[pattern.severity.upper()] if pattern.severity else None
                confidence = Confidence[pattern.confidence.upper()] if pattern.confidence else None
                confidence = confidence if answer is Answer.YES else Confidence.LOW
                found = Finding(code, visit.node, values, pattern.message, severity, confidence)
                yield replace(found, torch=pattern.torch, devices=pattern.devices)
                if not pattern.torch:
                    break


_Match = tuple[str, str, Answer]
"""The full name that matched, the value as written, and how sure it is."""


def _shape_matches(visit: Visit, pattern: Pattern) -> _Match | None:
    if isinstance(visit.node, ast.Call):
        if pattern.assign:
            # `setattr(torch, "manual_seed", 42)` is an assignment too.
            call = visit.call
            if len(call.args) != 3 or visit.callee() != _SETATTR:
                return None
            attribute = visit.value(call.args[1])
            if not attribute.is_known or not isinstance(attribute.constants[0], str):
                return None
            name = visit.names(ast.Attribute(value=call.args[0], attr=attribute.constants[0], ctx=ast.Load())).only
            return _with_value(visit, call.args[2], pattern, name) if name in pattern.assign else None
        if pattern.method:
            function, wanted = visit.call.func, _RECEIVERS.get(pattern.receiver)
            if not isinstance(function, ast.Attribute) or function.attr not in pattern.method:
                return None
            if wanted is not None and visit.kind(function.value) is not wanted:
                return None
            answer = holds(visit.facts, visit.call, Callee(function.attr), pattern.where, visit.scope)
            return (function.attr, "", answer) if answer else None
        return _called(visit, visit.call, pattern) if pattern.call else None
    if isinstance(visit.node, (ast.Assign, ast.AnnAssign)):
        return _assigned(visit, pattern) if pattern.assign else None
    names = _import_names(visit.node) if pattern.import_ else ()
    found = (n for n in names if any(n == wanted or n.startswith(f"{wanted}.") for wanted in pattern.import_))
    return next(((name, "", Answer.YES) for name in found), None)


def _called(visit: Visit, call: ast.Call, pattern: Pattern) -> _Match | None:
    names = visit.names(call.func)
    relevant = [callee for callee in names.callees if callee.name in pattern.call]
    answer = max((holds(visit.facts, call, c, pattern.where, visit.scope) for c in relevant), default=Answer.NO)
    if not answer:
        return None
    certain = names.complete and len(relevant) == len(names.callees)
    return relevant[0].name, "", answer if certain else Answer.MAYBE


def _assigned(visit: Visit, pattern: Pattern) -> _Match | None:
    assignment = visit.assignment
    for target in targets_of(assignment):
        name = visit.names(target).only if isinstance(target, ast.Attribute) else None
        if name in pattern.assign and assignment.value is not None:
            return _with_value(visit, assignment.value, pattern, name)
    return None


def _with_value(visit: Visit, value: ast.expr, pattern: Pattern, name: str | None) -> _Match | None:
    assert name is not None
    if pattern.unless_callable and _is_a_patch(visit, value):
        return None
    if pattern.value is not None:
        known = visit.value(value)
        if not known.is_known or not all(constant in pattern.value for constant in known.constants):
            return None
    return name, shortened(visit.code(value)), Answer.YES


_PATCHES = re.compile("orig|old|saved|prev|real|func|fn|patch|mock|fake|wrap|impl|hook", re.IGNORECASE)
"""Words in the name of a value that is a function, where nothing else tells."""


def _is_a_patch(visit: Visit, value: ast.expr) -> bool:
    """Whether a value is evidently a function, a class or a mock, which replaces another on purpose."""
    if isinstance(value, ast.Lambda):
        return True
    names = visit.names(value).names
    if isinstance(value, ast.Call):
        makes = visit.names(value.func).names
        if any(name.startswith(("unittest.mock.", "mock.", "functools.partial")) for name in makes):
            return True
        return visit.kind(value) is Kind.UNKNOWN and any(_is_a_patch(visit, argument) for argument in value.args)
    if any(not is_result(name) and not name.rpartition(".")[2].isupper() for name in names):
        return True
    return not visit.value(value).constants and _PATCHES.search(last_word(value)) is not None


def _import_names(statement: ast.AST) -> Iterator[str]:
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom) and statement.module is not None and not statement.level:
        yield statement.module
        yield from (f"{statement.module}.{alias.name}" for alias in statement.names if alias.name != "*")
