"""Calls that draw from a library's global random number generator, also as methods of its types."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_generators
from torchlint.catalogue.programs import DrawEntry
from torchlint.facts.classes import attribute_values
from torchlint.facts.control.order import Moment, moment_of
from torchlint.facts.data_loading.kept_generators import GIVEN_AS
from torchlint.facts.definitions import definitions_of, is_given_here, is_none, only_value
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import EVERYWHERE, Definition, End, Field, Parameter, Through
from torchlint.facts.memoizing import memoized
from torchlint.facts.notation import is_of_project, is_result
from torchlint.facts.options.demands import Demand, demands_on
from torchlint.facts.places import Found, place_of
from torchlint.facts.scopes import BindingKind, CallSite
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.tree import last_word, method_called, nodes_in, targets_of, words_in
from torchlint.facts.values import argument_of, may_be_hidden

if TYPE_CHECKING:
    from torchlint.facts.watch import Watch

_INITIALISERS = frozenset({"trunc_normal_", "kaiming_normal_", "xavier_uniform_"})
_INCIDENTAL = re.compile(
    r"port|sleep|wait|delay|backoff|retry|timeout|uuid|suffix|password|colou?r|palette|plot|figure|imshow|print|"
    r"display|visuali|preview|_name|name_|run_id|job_id|exp_id|tmp|temp_|seed|dummy|warmup"
)
"""Words of statements whose draw decides nothing about the result: ports, names, waiting times, what is shown."""
_TRIAL = re.compile(
    r"^_?(?:rand_|random_)|dummy|example|sample_input|trac|profil|bench|test|check|demo|visuali|plot|export|"
    r"flops"
)
"""Words of functions that make something up: an input to trace, test or measure a model with."""


class Draw(Found, frozen=True, array_like=True, gc=False):
    """One call that draws. `generator` is named as in the registry."""

    generator: str
    moment: Moment
    name: str
    """The full name of what is called."""
    makes: str
    """As in the registry: empty for values."""
    is_lasting: bool = False
    """Whether an order is drawn at once, and stays."""
    demands: tuple[Demand, ...] = ()
    """What has to be so for the call to run."""


@memoized
def drawn_calls(facts: FileFacts, watch: Watch) -> Mapping[CallSite, Draw]:
    """The calls of a file that draw for certain."""
    found = ((site, _draw(facts, site, watch)) for site in possible_draws(facts, watch))
    return {site: drawn for site, drawn in found if drawn is not None}


def possible_draws(facts: FileFacts, watch: Watch) -> list[CallSite]:
    """The calls that may draw, by their names, from whatever generator, or are given one."""
    drawing = load_generators().draws | watch.drawing_methods
    words = (word for word in facts.calls.words if word in drawing or _fills(word))
    return facts.calls.find(names=watch.draws.keys(), words=words, keywords=GIVEN_AS)


def _draw(facts: FileFacts, site: CallSite, watch: Watch) -> Draw | None:
    """The draw that a call is for certain; None for one that decides nothing about a run's result."""
    name = facts.names(site.node.func, site.scope).only or _name_by_type(facts, site, watch.drawing_methods)
    entry = next((one for one in watch.draws.get(name or "", ()) if _draws(facts, site, one)), None)
    generator = None if entry is None else entry.generator
    if entry is None and name is None and facts.imports_torch and _fills(method_called(site.node)):
        # `weight.normal_()`, where nothing tells whose method it is
        generator = "torch" if argument_of(site.node, "generator", None) is None else None
    if generator is None or is_incidental(facts, site):
        return None
    makes, is_lasting = (entry.makes, entry.lasting) if entry is not None else ("", False)
    place, moment = place_of(facts, site.node, site.statement), moment_of(facts, site.statement)
    named, demands = name or method_called(site.node), demands_on(facts, site.statement, site.scope)
    return Draw(facts.path, facts.symbol_of(site), place, generator, moment, named, makes, is_lasting, demands)


def _name_by_type(facts: FileFacts, site: CallSite, methods: frozenset[str]) -> str | None:
    """The full name of a method, by the type of its receiver: `self.data.shuffle()`."""
    function = site.node.func
    if not isinstance(function, ast.Attribute) or function.attr not in methods:
        return None
    owner = type_of(facts, function.value, site.scope)
    return None if owner is None else f"{owner}.{function.attr}"


def _fills(name: str) -> bool:
    method = method_named(name)
    return bool(method.draws and method.writes) or name in _INITIALISERS


def _draws(facts: FileFacts, site: CallSite, entry: DrawEntry) -> bool:
    """Whether the arguments leave it to the global state."""
    said = _said(facts, site, entry)
    if said is None or (entry.unless and may_be_hidden(said, None)):
        return False
    place = None if entry.only else entry.position
    if any(_is_given(facts, argument_of(said, name, place), site.scope) for name in entry.unless):
        return False
    if entry.unless_off and facts.value(argument_of(said, entry.unless_off, None), site.scope).only(bool) is False:
        return False
    if entry.with_any and all(argument_of(site.node, name, None) is None for name in entry.with_any):
        return False
    if not entry.only:
        return True
    asked = argument_of(said, entry.only, entry.position)
    return facts.value(asked, site.scope).only(bool) is True or _is_tested(facts, asked, site.scope)


def _is_tested(facts: FileFacts, asked: ast.expr | None, scope: int) -> bool:
    """`shuffle=sampler is None`, `shuffle=not distributed`, also by a name: the usual run is the one where it is so."""
    if isinstance(asked, ast.IfExp) and facts.value(asked.body, scope).only(bool) is True:
        return _is_tested(facts, asked.test, scope)
    if isinstance(asked, (ast.Compare, ast.UnaryOp, ast.BoolOp)):
        return not facts.value(asked, scope).is_known
    bound = facts.bindings(asked, scope)
    kept = attribute_values(facts, asked, scope) if isinstance(asked, ast.Attribute) else None
    made = kept or [(one.value, one.scope) for one in bound if one.kind is BindingKind.ASSIGN and one.value is not None]
    return bool(made) and len(made) >= len(bound) and all(_is_tested(facts, value, where) for value, where in made)


def _is_given(facts: FileFacts, value: ast.expr | None, scope: int) -> bool:
    """`pretrained=False` and `generator=None` give nothing; a seed of 0 does."""
    known = facts.value(value, scope)
    is_refused = known.is_known and all(one is None or one is False for one in known.constants)
    return value is not None and not is_refused


def _said(facts: FileFacts, site: CallSite, entry: DrawEntry) -> ast.Call | None:
    """The call whose arguments decide; None where that is a configuration, and another one or not seen."""
    if entry.configured is None:
        return site.node
    given = argument_of(site.node, entry.configured.argument, entry.configured.position)
    made, scope = only_value(facts, given, site.scope)
    is_meant = isinstance(made, ast.Call) and facts.names(made.func, scope).only == entry.maker
    return made if is_meant else None  # type: ignore[return-value]


def is_incidental(facts: FileFacts, site: CallSite) -> bool:
    """Whether the names around a draw say that it makes a port, a file name, an input to try a model on."""
    if _TRIAL.search(facts.symbol_of(site).rpartition(".")[2].lower()):
        return True
    said, calls = _words_of(facts, site.statement)
    # What the draw is handed by a keyword says how it draws, not what for: `DataLoader(..., worker_init_fn=...)`.
    handed = (node for keyword in site.node.keywords for node in nodes_in(keyword.value))
    return said or (bool(calls) and not calls <= {site.node, *handed})


@memoized
def _words_of(facts: FileFacts, statement: ast.stmt) -> tuple[bool, frozenset[ast.AST]]:  # noqa: ARG001
    """Whether what a simple statement assigns to says so, and its calls of functions that do."""
    targets = targets_of(statement)
    if not targets and not isinstance(statement, (ast.Expr, ast.Return)):
        return False, frozenset()
    calls = (node for node in nodes_in(statement) if isinstance(node, ast.Call))
    said = any(_INCIDENTAL.search(word.lower()) for word in words_in(*targets))
    return said, frozenset(call for call in calls if _INCIDENTAL.search(last_word(call.func).lower()))


_PART = ""
"""The step to a part of a value, among the names of methods."""


@memoized
def type_of(facts: FileFacts, value: ast.expr, scope: int) -> str | None:
    """What everything that an expression may be is, where that is one type of a library.

    `self.raw` after `self.raw = load_dataset(path)` and `self.raw = self.raw.map(f)` is a `datasets.Dataset()`.
    """
    types: set[str] = set()
    steps: set[str] = set()
    waiting, seen = [(value, scope)], {(value, scope)}
    while waiting:
        for end in _ends(facts, *waiting.pop()):
            made, before = _made(facts, end), _before(end)
            parts = end.parts if isinstance(end, Definition) else ()
            fields = [part.name for part in parts if isinstance(part, Field)]
            if made:
                types.add(".".join((made, *fields)))
            elif before is None:
                return None
            else:
                steps.add(before[1])
                waiting += {before[0]} - seen
                seen.add(before[0])
            if len(fields) < len(parts):
                steps.add(_PART)
    only = types.pop() if len(types) == 1 else None
    return only if only is not None and facts.resolver.stays(only, sorted(steps)) else None


def _ends(facts: FileFacts, value: ast.expr, scope: int) -> Iterator[End]:
    """What an expression may be; a parameter is what it is declared as, or else what calls in the file give."""
    if isinstance(value, ast.Subscript) and _declared(facts, value.value, scope) is not None:
        yield Definition(value, scope)
        return
    declared = _declared(facts, value, scope)
    if declared is not None:
        yield declared
        return
    for end in definitions_of(facts, value, scope, EVERYWHERE | Through.CHANGES):
        if not is_none(end) and not is_given_here(facts, end):
            yield end


def _declared(facts: FileFacts, value: ast.expr, scope: int) -> Parameter | None:
    """The parameter with an annotation that a name stands for."""
    variable, bound = facts.variable(value, scope), facts.bindings(value, scope)
    is_declared = len(bound) == 1 and bound[0].kind is BindingKind.PARAMETER and bound[0].annotation is not None
    return Parameter(*variable) if is_declared and variable is not None else None


def _made(facts: FileFacts, end: End) -> str:
    """The type of what a call makes, or of what a parameter is declared as."""
    made = ""
    if isinstance(end, Parameter):
        bound = facts.symbols.scopes[end.function].bindings[end.name][0]
        name = None if bound.annotation is None else facts.names(bound.annotation, bound.scope).only
        made = facts.resolver.table.made(name) if name else ""
    elif isinstance(end, Definition) and isinstance(end.node, ast.Call):
        made = facts.names(end.node, end.scope).only or ""
    return made if is_result(made) and not is_of_project(made) else ""


def _before(end: End) -> tuple[tuple[ast.expr, int], str] | None:
    """The object that a method or a subscript is of, and the step from it: `data` and `map` of `data.map(f)`."""
    if not isinstance(end, Definition):
        return None
    if isinstance(end.node, ast.Call) and isinstance(end.node.func, ast.Attribute):
        return (end.node.func.value, end.scope), end.node.func.attr
    return ((end.node.value, end.scope), _PART) if isinstance(end.node, ast.Subscript) else None
