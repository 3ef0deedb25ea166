"""TL118 uninitialised-memory: memory that is read before anything writes it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from torchlint.checks.framework.drafts import Draft, OperatorUse
from torchlint.checks.framework.operator_verdict import judge_operators
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit, spelling_of
from torchlint.checks.memory.uninitialised.makers import (
    MAKERS,
    METHOD_MAKERS,
    TYPED,
    is_beside_the_point,
    makes_uninitialised,
)
from torchlint.checks.memory.uninitialised.memory import PARAMETER, Memory
from torchlint.diagnostics import Confidence, Related
from torchlint.facts.classes import MODULE_WALKS, heirs, is_module_class, method_of
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.tracker import Flow, follow
from torchlint.facts.flow.values import Field, Value
from torchlint.facts.notation import hangs_on_call
from torchlint.facts.scopes import CallSite
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.tree import is_method_call, is_own, only_target
from torchlint.project.index import Project

_USES = (OperatorUse("uninitialized_memory"),)
_CODE = "TL118"
_READ = "here it is read"
_FILLING = re.compile(r"reset|init|load|from_|copy|set_|update|quant|pack|convert|build|weights?_|_weights?")
"""Methods that may give a parameter its values, by their names."""
_ELSEWHERE = frozenset(
    {
        *("apply", "load_state_dict", "from_pretrained", "load_weights", "load_checkpoint", "init_weights"),
        *("_init_weights", "post_init"),
    }
)
"""Methods that give whole modules their values."""
_LOADED = re.compile(
    r"checkpoint|pretrained|state_dict|torch\.load|load\w*_(?:model|weights)|weight_loader|weights are loaded"
)
"""Words of files, docstrings included, whose parameters come from elsewhere."""


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Newer releases fill such memory while the determinism mode is on: then there is nothing to say."""
    judged = judge_operators(draft, project)
    others = project.flows.contained(draft.exits, Memory) if judged is not None else None
    if judged is None or others is None or any(one.writes for one in others):  # another file may fill it
        return None
    older = judged.values["older"]
    values = {**draft.values, "older": f", {older}" if older else ""}
    found = replace(draft, values=values, severity=judged.severity, confidence=judged.confidence)
    if found.related:
        return found
    reads = ((one.facts, read.node) for one in others if (read := one.exposed) is not None)
    return next((replace(found, related=(Related(facts.locate(node), _READ),)) for facts, node in reads), None)


@check(codes=(_CODE,), triggers=Triggers(calls=MAKERS | TYPED, methods=METHOD_MAKERS | {"new"}), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """The call that makes the memory."""
    found = _exposure(visit.facts, visit.site) if makes_uninitialised(visit.facts, visit.site) else None
    if found is not None:
        values = {**found.values, "spelling": spelling_of(visit), "symbol": visit.symbol}
        yield replace(found, values=values, operators=_USES)


@check(codes=(_CODE,), triggers=Triggers(calls=MAKERS | TYPED), judge=judge_operators, is_open=True)
def left_open(visit: Visit) -> Iterator[Finding]:
    """A parameter whose class is not seen to give it values: `self.bias = nn.Parameter(torch.empty(8))`."""
    made = _parameter_made(visit.facts, visit.site) if makes_uninitialised(visit.facts, visit.site) else None
    if made is not None and not _is_filled_by_class(visit.facts, made):
        yield Finding(_CODE, visit.node, {"symbol": visit.symbol}, "open", operators=_USES)


def _exposure(facts: FileFacts, site: CallSite) -> Finding | None:
    """What a call that makes uninitialised memory exposes in its file.

    `name` is of the parameter, or of the function that returns the memory.
    """
    if is_beside_the_point(facts, site):
        return None
    parameter = _parameter_made(facts, site)
    if parameter is not None:
        reading = _reading_of(facts, parameter)
        if reading is None:
            return None
        doubt = Confidence.LOW if _may_come_from_elsewhere(facts, parameter, site) else Confidence.MEDIUM
        name = f"self.{parameter.name}"
        return Finding(_CODE, site.node, {"name": name}, "parameter", confidence=doubt, related=((reading, _READ),))
    memory = Memory(facts, site.node)
    flow = follow(memory, Value(site.node))
    read = memory.exposed
    if not flow.is_whole or (read is None and memory.writes):
        return None
    if read is None:
        elsewhere = Finding(_CODE, site.node, {"name": ""}, exits=tuple(flow.exits))
        return _returned(facts, site, memory) or elsewhere
    # Unless it is kept, each call of a function that makes it makes memory anew: others have theirs.
    is_kept = any(isinstance(one.port, Field) for one in flow.exits)
    exits = [one for one in flow.exits if is_kept or one.port is not None]
    before = [one for one in exits if memory.reaches_before(one, read)]
    shown = follow(Memory(facts, site.node, read.node), Value(site.node))
    related = (*shown.trace, (read.node, _READ))
    return Finding(_CODE, site.node, {"name": ""}, related=related, exits=tuple(before))


def _returned(facts: FileFacts, site: CallSite, memory: Memory) -> Finding | None:
    """Memory that is neither read nor written here, and that `forward` gives to whoever calls it."""
    function = facts.function_of(site.scope)
    scope = facts.symbols.scopes[function or 0]
    is_returned = any(one.function == function and not one.value.path for one in memory.returned)
    if not is_returned or scope.name != "forward" or not is_module_class(facts, scope.parent):
        return None
    related = ((site.statement, "here it is returned"),)
    return Finding(_CODE, site.node, {"name": scope.name}, "output", related=related)


# -- parameters that a class makes without initial values, and that nothing in sight fills before `forward` reads them


class _OwnParameter(msgspec.Struct, frozen=True):
    """`self.<name> = nn.Parameter(...)`, in the class `owner`."""

    name: str
    owner: int


def _parameter_made(facts: FileFacts, site: CallSite) -> _OwnParameter | None:
    """The parameter whose first content a call makes, where a class keeps it in `self`."""
    owner = facts.class_of(site.scope)
    target, value = only_target(site.statement), getattr(site.statement, "value", None)
    if owner is None or not is_own(target) or not isinstance(value, ast.Call) or len(value.args) != 1:
        return None
    # With `requires_grad=False`, or perhaps so, it is not trained, and filled from elsewhere.
    given = ((one.arg, facts.value(one.value, site.scope).constants) for one in value.keywords)
    if any(one != ("requires_grad", (True,)) for one in given):
        return None
    if facts.names(value.func, site.scope).only != PARAMETER or _unwrapped(value.args[0]) is not site.node:
        return None
    return _OwnParameter(target.attr, owner)


def _unwrapped(content: ast.expr) -> ast.expr:
    """`torch.empty(3)` of `torch.empty(3).to(device)`."""
    while is_method_call(content):
        if not method_named(content.func.attr).carries:
            break
        content = content.func.value
    return content


def _reading_of(facts: FileFacts, parameter: _OwnParameter) -> ast.AST | None:
    """Where `forward` evidently reads a parameter that nothing in this file gives values; else None."""
    scope = facts.symbols.scopes[parameter.owner]
    node = scope.node
    assert isinstance(node, ast.ClassDef)
    bases = [facts.names(base, scope.parent or 0).only for base in node.bases]
    if bases != ["torch.nn.Module"] or node.keywords or node.decorator_list:
        return None
    if any(_FILLING.search(name) for name in scope.bindings if not name.startswith("__")):
        return None
    if facts.cached(_fills_modules) or _is_touched(facts, parameter):
        return None
    memory, flow = _followed(facts, parameter)
    forward = method_of(facts, parameter.owner, "forward")
    is_followed = flow.is_whole and not memory.writes and {one.function for one in memory.returned} <= {forward}
    if not is_followed or any(one.port is not None for one in flow.exits):
        return None
    read = [one.node for one in memory.reads if facts.function_of(facts.index.scope_of(one.node)) == forward]
    return next(iter((*read, *(one.value.node for one in memory.returned))), None)


def _is_filled_by_class(facts: FileFacts, parameter: _OwnParameter) -> bool:
    """Whether code of the class, or of one that derives from it, writes to a parameter or goes through all of them."""
    memory, flow = _followed(facts, parameter)
    walks = (one for word in (*MODULE_WALKS, "apply") for one in facts.index.attributes(word))
    is_walked = any(facts.class_of(facts.index.scope_of(one)) in _related(facts, parameter) for one in walks)
    return bool(memory.writes) or is_walked or not flow.is_whole


def _followed(facts: FileFacts, parameter: _OwnParameter) -> tuple[Memory, Flow]:
    """What becomes of a parameter in its class, and in those that derive from it."""
    memory, related = Memory(facts), _related(facts, parameter)
    own = facts.index.own_attributes(parameter.name)
    reads = (read for read in own if facts.class_of(facts.index.scope_of(read)) in related)
    return memory, follow(memory, *map(Value, reads))


def _related(facts: FileFacts, parameter: _OwnParameter) -> set[int]:
    return {parameter.owner, *heirs(facts, parameter.owner)}


def _may_come_from_elsewhere(facts: FileFacts, parameter: _OwnParameter, site: CallSite) -> bool:
    """Whether whoever wrote `torch.empty` may leave all parameters of the class to a checkpoint.

    `torch.Tensor(n)` does not say that it is empty, and a class that gives other parameters values meant to give all.
    """
    if facts.names(site.node.func, site.scope).only not in MAKERS:
        return False
    others = [call for call in facts.symbols.calls if facts.class_of(call.scope) == parameter.owner and call.node.args]
    return not any(
        facts.names(call.node.func, call.scope).only == PARAMETER
        and isinstance(content := _unwrapped(call.node.args[0]), ast.Call)
        and facts.names(content.func, call.scope).only not in MAKERS
        for call in others
    )


def _fills_modules(facts: FileFacts) -> bool:
    """Whether the file gives whole modules their values: loads a checkpoint, applies a function, walks parameters."""
    if _LOADED.search(facts.code):
        return True
    for node in ast.walk(facts.tree):
        word = node.name if isinstance(node, ast.FunctionDef) else getattr(node, "attr", "")
        walked = ast.walk(node.iter) if isinstance(node, (ast.For, ast.comprehension)) else ()
        if word in _ELSEWHERE or any(getattr(inner, "attr", "") in MODULE_WALKS for inner in walked):
            return True
    return False


def _is_touched(facts: FileFacts, parameter: _OwnParameter) -> bool:
    """Whether code may give the parameter its values: what names it from outside, or binds it again."""
    if any(isinstance(node, ast.Constant) and node.value == parameter.name for node in facts.index.parents):
        return True  # `getattr(self, "weight")`
    attributes = facts.index.attributes(parameter.name)
    read = ((one, facts.names(one, facts.index.scope_of(one)).only or "") for one in attributes)
    # `F.embedding` has nothing to do with `self.embedding`.
    named = [one for one, name in read if is_own(one) or not name.startswith("torch.") or hangs_on_call(name)]
    stored = [one for one in named if not isinstance(one.ctx, ast.Load)]
    return len(stored) != 1 or not all(is_own(one) for one in named)
