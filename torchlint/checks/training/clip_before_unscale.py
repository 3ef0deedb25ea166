"""TL603 clip-before-unscale: gradients clipped while they are still multiplied by the scale."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import msgspec

from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.diagnostics import Confidence
from torchlint.facts.classes import MODULE_WALKS
from torchlint.facts.control.conditions import conditions_on, mutually_exclusive
from torchlint.facts.control.order import position_of, precedes
from torchlint.facts.definitions import seen_values
from torchlint.facts.file import FileFacts
from torchlint.facts.full_names import dotted
from torchlint.facts.notation import is_of_project
from torchlint.facts.scopes import CallSite
from torchlint.facts.tree import is_method_call, is_own, last_word, words_in
from torchlint.facts.values import all_given, argument_of

_CODE = "TL603"
CLIPS = frozenset(
    f"torch.nn.utils.{home}clip_grad_{kind}" for home in ("", "clip_grad.") for kind in ("norm_", "norm", "value_")
)
_PRECISION = ("amp", "16", "scaler", "half", "mixed", "precision", "float32", "fp32", "apex")
"""Words of a condition that may say whether gradients are scaled at all."""
_ENDLESS = frozenset({"math.inf", "numpy.inf", "torch.inf", "builtins.float()"})
SCALERS = frozenset(
    {
        *(f"torch{home}.GradScaler" for home in ("", ".amp", ".amp.grad_scaler", ".cpu.amp")),
        *(f"torch.cuda.amp.{home}GradScaler" for home in ("", "grad_scaler.")),
        "torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler",
    }
)


@check(codes=(_CODE,), triggers=Triggers(calls=CLIPS))
def find(visit: Visit) -> Iterator[Finding]:
    """The clip, with the backward pass that scaled and the step that unscales too late."""
    found = visit.facts.cached(scaled_clips).get(id(visit.call))
    if found is None:
        return
    values = {"function": ast.unparse(visit.call.func), "scaler": found.scaler, "optimizer": found.optimizer}
    scales = (found.backward, "here the gradients are multiplied by the scale")
    related = (scales, (found.late or found.step, "here they are divided again"))
    confidence = Confidence.HIGH if found.is_known else None
    message = "late" if found.late else "default"
    yield Finding(_CODE, visit.node, values, message, confidence=confidence, related=related)


class _ScaledClip(msgspec.Struct, frozen=True):
    """A clip of gradients that are still multiplied by the scale."""

    scaler: str
    optimizer: str
    backward: ast.Call
    step: ast.Call
    late: ast.Call | None
    """`unscale_`, where it comes after the clip."""
    is_known: bool
    """Whether the file shows that the scaler is one."""


def scaled_clips(facts: FileFacts) -> dict[int, _ScaledClip]:
    """By the id of the clipping call."""
    clips = [site for site in facts.symbols.calls if facts.names(site.node.func, site.scope).only in CLIPS]
    own = {function: _Function.of(facts, function) for function in {facts.function_of(site.scope) for site in clips}}
    found = ((site.node, own[facts.function_of(site.scope)].scaled_clip(site)) for site in clips)
    return {id(call): clip for call, clip in found if clip is not None}


class _Function(msgspec.Struct, frozen=True):
    """The calls of one function, or of the module's own code, in source order."""

    facts: FileFacts
    calls: list[CallSite]
    steps: list[CallSite]
    """`scaler.step(optimizer)`, of what scales in this function."""

    @classmethod
    def of(cls, facts: FileFacts, own: int | None) -> _Function:
        calls = facts.calls_in(own)
        scaling = {_receiver(site.node, "scale") for site in calls} - {None}
        stepping = (site for site in calls if _receiver(site.node, "step") in scaling and dotted(site.node.func))
        return cls(facts, calls, [one for one in stepping if len(one.node.args) == 1 and not one.node.keywords])

    def scaled_clip(self, clip: CallSite) -> _ScaledClip | None:
        # `clip_grad_norm_(parameters, float("inf"))` only asks for the norm.
        limit = argument_of(clip.node, "max_norm", 1)
        is_float = isinstance(limit, ast.Call) and isinstance(limit.func, ast.Name) and limit.func.id == "float"
        if is_float or (limit is not None and self.facts.names(limit, clip.scope).only in _ENDLESS):
            return None
        # The limit is multiplied by the scale, or the gradients come from apex: it says so in the arguments.
        if any("scale" in name or name == "master_params" for name in words_in(*all_given(clip.node))):
            return None
        later = (step for step in self.steps if precedes(self.facts, clip.node, step.node))
        return next(filter(None, (self._between(clip, step) for step in later)), None)

    def _between(self, clip: CallSite, step: CallSite) -> _ScaledClip | None:
        """The clip that a step follows, when the same scaler has scaled the gradients before."""
        assert isinstance(step.node.func, ast.Attribute)
        receiver = step.node.func.value
        scaler = ast.unparse(receiver)
        sites = [site for site in self.calls if precedes(self.facts, site.node, clip.node)]
        backward = next((site for site in reversed(sites) if self._goes_backward(site, scaler, clip)), None)
        if backward is None or mutually_exclusive(self.facts, backward.statement, step.statement):
            return None
        values = seen_values(self.facts, receiver, step.scope)
        made = [self.facts.names(value.func, where) for value, where in values if isinstance(value, ast.Call)]
        is_own = bool(made) and all(is_of_project(names.only or "") for names in made)
        if is_own or self._may_be_unscaled(clip, backward, scaler):
            return None
        first, last = position_of(clip.node), position_of(step.node)
        unscaling = (site.node for site in self.calls if _calls(site.node, "unscale_", scaler))
        late = next((call for call in unscaling if first < position_of(call) < last), None)
        is_known = any(names.names & SCALERS for names in made)
        return _ScaledClip(scaler, ast.unparse(step.node.args[0]), backward.node, step.node, late, is_known)

    def _goes_backward(self, site: CallSite, scaler: str, clip: CallSite) -> bool:
        """`scaler.scale(loss).backward()`, `backward(scaler.scale(loss))`, or by a name in between."""
        if not last_word(site.node.func).endswith("backward"):
            return False
        function = site.node.func
        given = all_given(site.node)
        losses = [function.value, *given] if isinstance(function, ast.Attribute) else given
        names = {loss.id for loss in losses if isinstance(loss, ast.Name)}
        return any(_calls(loss, "scale", scaler) for loss in losses) or any(
            _calls(scaled.node, "scale", scaler)
            and isinstance(scaled.statement, ast.Assign)
            and scaled.statement.value is scaled.node
            and any(isinstance(target, ast.Name) and target.id in names for target in scaled.statement.targets)
            and not mutually_exclusive(self.facts, scaled.statement, clip.statement)
            for scaled in self.calls
            if position_of(scaled.node) < position_of(site.node)
        )

    def _may_be_unscaled(self, clip: CallSite, backward: CallSite, scaler: str) -> bool:
        """Whether something before the clip divides the gradients, or the clip is of gradients never multiplied."""
        # A condition of its own that speaks of the precision.
        shared = conditions_on(self.facts, backward.statement)
        conditions = conditions_on(self.facts, clip.statement).items()
        own = (test.lower() for test, answer in conditions if shared.get(test) != answer)
        if any(word in test for test in own for word in _PRECISION):
            return True
        for site in self.calls:
            if not precedes(self.facts, site.node, clip.node):
                continue
            if _calls(site.node, "unscale_"):
                return True
            if position_of(site.node) > position_of(backward.node) and self._interferes(site, backward, scaler):
                return True
        return False

    def _interferes(self, site: CallSite, backward: CallSite, scaler: str) -> bool:
        """Whether a call between the backward pass and the clip may unscale, or makes gradients of its own."""
        called = last_word(site.node.func)
        if "unscale" in called.lower() or "get_scale" in called or _calls(site.node, "step", scaler):
            return True
        if called.endswith("backward") and not mutually_exclusive(self.facts, site.statement, backward.statement):
            return not self._goes_backward(site, scaler, site)
        if any(ast.unparse(argument) == scaler for argument in site.node.args):
            return True
        # A hook such as `self.before_clip()` that this class inherits, or that is kept in an attribute.
        function, owner = site.node.func, self.facts.class_of(site.scope)
        is_unseen = (
            owner is not None
            and is_own(function)
            and function.attr not in MODULE_WALKS
            and function.attr not in self.facts.symbols.scopes[owner].bindings
        )
        return is_unseen or called in self.facts.cached(_unscaling_functions)


def _receiver(expression: ast.expr, method: str) -> str | None:
    """The text of `scaler`, where an expression is `scaler.method(...)`."""
    return ast.unparse(expression.func.value) if is_method_call(expression, method) else None


def _calls(expression: ast.expr, method: str, receiver: str = "") -> bool:
    """Whether an expression is `receiver.method(...)`; any receiver where none is named."""
    found = _receiver(expression, method)
    return found is not None and receiver in ("", found)


def _unscaling_functions(facts: FileFacts) -> set[str]:
    """The names of functions that unscale: of several that share a name, one is enough to leave a clip alone."""
    return {
        scope.name
        for scope in facts.symbols.scopes[1:]
        if isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and any(isinstance(node, ast.Call) and last_word(node.func) == "unscale_" for node in ast.walk(scope.node))
    }
