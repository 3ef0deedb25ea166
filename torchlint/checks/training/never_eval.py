"""TL314 never-eval: loaded weights predict with dropout, or batch statistics, still in training mode."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from msgspec.structs import replace

from torchlint.catalogue.load import load_values
from torchlint.catalogue.values import Kind
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.facts.classes import attribute_values, bases_of
from torchlint.facts.control.order import precedes
from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.facts.full_names import public_name
from torchlint.facts.notation import is_of_project, qualname_of
from torchlint.facts.scopes import BindingKind, CallSite, ScopeKind, Variable
from torchlint.facts.training.training_mode import LOADERS
from torchlint.facts.tree import is_literal_none, is_method_call, is_own, method_called, only_target
from torchlint.facts.values import all_given
from torchlint.facts.words import says
from torchlint.project.call_graph import is_reached
from torchlint.project.index import Project
from torchlint.project.trainings import MODES, sets_modes_beside, stays_in_training_mode, varying_layer

_CODE = "TL314"
_KEEPING = load_values().methods[Kind.MODULE] - {"eval", "train"} | {"module"}
"""What returns the model itself, in the mode that it was in."""
_WRAPPERS = load_values().wrapping | {"torch.nn.Sequential"}
_HARMLESS = frozenset(
    [
        *("torch.save", "builtins.print", "builtins.isinstance", "builtins.type", "builtins.len", "builtins.id"),
        *("builtins.hasattr", "builtins.getattr", "builtins.setattr", "builtins.sum"),
    ]
)
"""What a model may be given to without that setting its mode."""
_MADE_UP = frozenset(f"torch.{name}" for name in ("randn", "rand", "ones", "zeros", "empty", "randint", "full"))
_OTHERWISE = re.compile(
    r"onnx|jit\.trace|jit\.script|torch\.export|monte.?carlo|mc_?dropout|mc_?samples|uncertain|bayes|ensemble|"
    r"\.training\s*=|quantiz",
    re.IGNORECASE,
)
"""Words of code that exports a model, or leaves it in training mode on purpose."""
_GENERATOR = re.compile(r"gan|generator|^net_?g$|^g$", re.IGNORECASE)
"""Names of models whose dropout may be wanted when they are used."""
_TRIAL = re.compile(r"dummy|example|trac|profil|bench|check|demo|export|flops|convert|warm_?up|summar", re.IGNORECASE)
"""Words of functions that try a model out, measure or translate it."""


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Whether the model varies in training mode, and no program that reaches it leaves that mode."""
    if is_test(draft.path) or says(draft.path, "measurement", "trial", "translation"):
        return None
    layer = varying_layer(draft.values["model"], project.summaries)
    if layer is None or (draft.values["is_global"] and sets_modes_beside(draft.path, project.summaries)):
        return None
    reached = [program.reached for program in project.programs.reaching(draft.path)]
    starts = [one for one in reached if is_reached(draft.symbol, one, project.summaries)]
    calls = project.programs.calls
    if not draft.values["symbol"]:  # what stands at the top of a script runs, whatever else the project starts
        starts.append(calls.reached([draft.symbol]))
    if not starts or not all(stays_in_training_mode(one, calls, project.summaries) for one in starts):
        return None
    noise = "drops values at random" if "ropout" in layer else "normalises by each batch"
    values = {**draft.values, "layer": layer, "noise": noise, "model": public_name(draft.values["model"])}
    return replace(draft, values=values)


@check(codes=(_CODE,), triggers=Triggers(methods=LOADERS), judge=_judge, asks=(MODES,))
def find(visit: Visit) -> Iterator[Finding]:
    """Weights that are loaded into a model which then predicts."""
    facts, site = visit.facts, visit.site
    model = _loaded(site) if method_called(site.node) in LOADERS else None
    if model is None or _TRIAL.search(facts.symbol_of(site)):
        return
    # What a module keeps follows its mode, and a class with bases may be one, or have its mode set by a framework.
    keeper = facts.class_of(site.scope) if is_own(model) else None
    has_bases = keeper is not None and bool(bases_of(facts, facts.symbols.scopes[keeper]))
    kept_in = None if has_bases else facts.variable(model, site.scope)
    if kept_in is None:
        return
    owner, name = facts.symbols.scopes[kept_in[0]], kept_in[1]
    # Its name, or the function, class or script that keeps it, says that its mode is meant.
    if _GENERATOR.search(name) or _OTHERWISE.search(ast.unparse(owner.node)):
        return
    made = _class_of(facts, model, site.scope)
    if made is None or _GENERATOR.search(qualname_of(made)) or _is_handed_out(facts, kept_in):
        return
    calls = (call for call in _calls_of(facts, kept_in) if not _TRIAL.search(facts.symbol_of(call)))
    after = (one.node for one in calls if owner.kind is ScopeKind.CLASS or precedes(facts, site.node, one.node))
    for call in itertools.islice(after, 1):
        # Where a module holds it, every function of the project may set its mode.
        is_global = "yes" if owner.kind is ScopeKind.MODULE else ""
        values = {"model": made, "name": ast.unparse(model), "is_global": is_global, "symbol": visit.symbol}
        yield Finding(_CODE, visit.node, values, related=((call, "predicts here"),))


def _loaded(site: CallSite) -> ast.expr | None:
    """`model` in `model.load_state_dict(...)`, `model = Net.load_from_checkpoint(...)`."""
    if is_method_call(site.node, "load_state_dict"):
        value = site.node.func.value
        return value.value if isinstance(value, ast.Attribute) and value.attr == "module" else value
    return only_target(site.statement)


def _class_of(facts: FileFacts, model: ast.expr, scope: int) -> str | None:
    """The project class that is kept an instance of, and nothing else."""
    kept = attribute_values(facts, model, scope)
    bound = [(b.value if b.kind is BindingKind.ASSIGN else None, b.scope) for b in facts.bindings(model, scope)]
    found: set[str | None] = set()
    for value, where in bound if kept is None else kept:
        if value is None:
            return None
        root = _root(facts, value, where)
        if not is_literal_none(value) and facts.variable(root, where) != facts.variable(model, scope):
            found.add(_made(facts, root, where))
    return found.pop() if len(found) == 1 else None


def _root(facts: FileFacts, value: ast.expr, scope: int) -> ast.expr:
    """`Net()` in `nn.DataParallel(Net()).to(device)`."""
    if not isinstance(value, ast.Call):
        return value
    if is_method_call(value, *_KEEPING):
        return _root(facts, value.func.value, scope)
    if value.args and facts.names(value.func, scope).only in _WRAPPERS:
        return _root(facts, value.args[0], scope)
    return value


def _made(facts: FileFacts, root: ast.expr, scope: int) -> str | None:
    if not isinstance(root, ast.Call):
        return None
    name = facts.names(root.func, scope).only or ""
    return name.removesuffix(".load_from_checkpoint") if is_of_project(name) else None


def _is_handed_out(facts: FileFacts, model: Variable) -> bool:
    """Whether code that cannot be looked into gets the model: it may set its mode."""
    for site in facts.symbols.calls:
        if any(_holds(facts, value, model, site.scope) for value in all_given(site.node)):
            callee = facts.names(site.node.func, site.scope).only
            if callee is None or not (is_of_project(callee) or callee in _HARMLESS or callee in _WRAPPERS):
                return True
    return False


def _holds(facts: FileFacts, value: ast.expr, model: Variable, scope: int) -> bool:
    if isinstance(value, ast.Starred):
        value = value.value
    inner = value.elts if isinstance(value, (ast.List, ast.Tuple)) else ()
    return facts.variable(value, scope) == model or any(_holds(facts, one, model, scope) for one in inner)


def _calls_of(facts: FileFacts, model: Variable) -> Iterator[CallSite]:
    """Calls of the model itself, whose result is used and whose input is not made up."""
    for site in facts.symbols.calls:
        is_used = facts.variable(site.node.func, site.scope) == model and not site.is_alone and bool(site.node.args)
        # Not with an input that only tries the model.
        if is_used and not any(
            isinstance(value, ast.Starred)
            or any(name.startswith(tuple(_MADE_UP)) for name in facts.names(value, site.scope).names)
            for value in site.node.args
        ):
            yield site
