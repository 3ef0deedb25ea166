"""TL311 reseed-in-loop, its opposite: folds that can be run one by one, and go on with what the last one drew."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.diagnostics import Fix, Severity
from torchlint.facts.calls import called_functions
from torchlint.facts.control.blocks import enclosing
from torchlint.facts.definitions import seen_values
from torchlint.facts.entries import is_test
from torchlint.facts.flow.values import Through
from torchlint.facts.options.declared import Option, options_in
from torchlint.facts.scopes import CallSite, Site
from torchlint.facts.training.steps import is_optimizer_class
from torchlint.facts.tree import is_method_call, last_word
from torchlint.project.index import Project

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_CODE = "TL311"
_FOLD = re.compile(r"(?:^|_)folds?(?:_|$)", re.IGNORECASE)
_DEPTH = 3
"""Functions that a fold runs for one another."""


_FIX = Fix("seed folds", "seed at the start of each fold", "seed at the start of each fold in {count} places")


def _judge(draft: Draft, project: Project) -> Draft | None:
    return replace(draft, fix=_FIX) if project.uses_torch(draft.path) and not is_test(draft.path) else None


def _loops(facts: FileFacts) -> Iterator[Site]:
    """Loops over folds that an option picks, in a file that seeds and does so in no fold."""
    if not facts.source.mentions("fold") or not facts.source.mentions("seed"):
        return
    for statement, scope in facts.symbols.scope_of.items():
        if (
            isinstance(statement, ast.For)
            and isinstance(statement.target, ast.Name)
            and _FOLD.search(statement.target.id)
        ):
            option = _picked_by(facts, statement, scope)
            own = [one for one in facts.symbols.calls if statement in enclosing(facts, one.statement)]
            run = [one for site in own for one in _run_by(facts, site)]
            seeded = any(map(_seeds, facts.symbols.calls)) and not any(map(_seeds, run))
            if option is not None and seeded and _trains_anew(facts, run):
                yield Site(statement.iter, scope, statement)


@check(codes=(_CODE,), triggers=Triggers(sites=_loops), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """A loop whose folds are trained one behind the other, or one alone where the option says so."""
    loop = visit.statement
    option = _picked_by(visit.facts, loop, visit.scope) if isinstance(loop, ast.For) else None
    if option is not None and isinstance(loop, ast.For):
        values = {"spelling": ast.unparse(loop.target), "option": option.shown}
        yield Finding(_CODE, loop.iter, values, "carried", severity=Severity.INFO)


def _picked_by(facts: FileFacts, loop: ast.For, scope: int) -> Option | None:
    """The option that says which folds are run: it is gone through, or compared with the fold."""
    declared = {one.name: one for one in facts.cached(options_in) if one.shown and _FOLD.search(one.name)}
    values = [(loop.iter, scope), *seen_values(facts, loop.iter, scope, Through.PARAMETERS)]
    asked = [value for value, _ in values if not _is_number(value)]
    name = last_word(loop.target)
    tests = [one.test for one in ast.walk(loop) if isinstance(one, ast.If)]
    asked += [one for one in tests if any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(one))]
    read = (node.attr for one in asked for node in ast.walk(one) if isinstance(node, ast.Attribute))
    return next((declared[attribute] for attribute in read if attribute in declared), None)


def _is_number(value: ast.expr) -> bool:
    """`range(args.folds)`: how many there are, which all runs have."""
    return isinstance(value, ast.Call) and last_word(value.func) == "range" and len(value.args) == 1


def _run_by(facts: FileFacts, site: CallSite, depth: int = _DEPTH) -> Iterator[CallSite]:
    """A call, and those of the functions of the file that it runs."""
    yield site
    for function in called_functions(facts, site.node, site.scope) if depth else ():
        for inner in facts.calls_in(function):
            yield from _run_by(facts, inner, depth - 1)


def _seeds(site: CallSite) -> bool:
    return "seed" in last_word(site.node.func).lower()


def _trains_anew(facts: FileFacts, run: list[CallSite]) -> bool:
    made = any(is_optimizer_class(facts.names(one.node.func, one.scope).only or "") for one in run)
    return made and any(is_method_call(one.node, "backward") for one in run)
