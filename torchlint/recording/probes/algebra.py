"""A bias before BatchNorm: in train mode the norm subtracts it again, which double precision shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from torch import nn

from torchlint.recording.bias.effects import change_in_eval, effects_of_biases
from torchlint.recording.bias.perturbation import Effect
from torchlint.recording.clock import Deadline
from torchlint.recording.global_state.switches import restored_switches
from torchlint.recording.messages import Answer, ProbedFinding
from torchlint.recording.names import VerdictName
from torchlint.recording.probe_context import ProbeContext, answer
from torchlint.recording.runs.cost import must_fit
from torchlint.recording.subject import Subject
from torchlint.recording.tracing.lines import constructor_call

_SHARE_OF_TIME = 0.4
"""Of the seconds that the whole process has."""
_RUNS = 25
"""Of one layer, or of all together, with two seeds."""
_LAYERS = (nn.modules.conv._ConvNd, nn.Linear)  # noqa: SLF001 - every convolution, transposed ones too
_SEEN_IN_EVAL = 1e-3
_NAMED = 4
"""So many layers are named in a sentence."""


@dataclass(frozen=True)
class _Layers:
    """What the flagged line constructed: names of the layers, by the call that made them."""

    by_call: dict[tuple[str, int, int], tuple[str, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for names in self.by_call.values() for name in names)


def probe(context: ProbeContext, finding: ProbedFinding) -> Answer:
    """Whether the biases that were constructed at the flagged line have an effect in train mode."""
    subject = context.needs_subject()
    layers = _constructed_at(subject, context.request.code.path, finding)
    if not layers.names:
        return answer(context, finding, "algebra", "NOT REPRODUCED", "the flagged line made no layer with a bias here")
    with restored_switches():
        deadline = Deadline(_SHARE_OF_TIME * context.request.seconds)
        must_fit(_RUNS, subject.run, context.request.seconds, _SHARE_OF_TIME)
        effects = effects_of_biases(subject, layers.names, deadline)
        verdict, reason, shown = _verdict(layers, effects)
        numbers = shown.numbers
        if verdict == "CONFIRMED":
            in_eval = change_in_eval(subject, layers.names)
            numbers = {**numbers, "output_change_in_eval": in_eval}
            reason += _eval_words(in_eval)
    evidence = {
        "layers": {name: type(_module(subject, name)).__name__ for name in effects},
        "left_out": len(layers.names) - len(effects),
        "feeds": sorted({name for effect in effects.values() for name in effect.feeds}),
        "follows": sorted({name for effect in effects.values() for name in effect.follows}),
        **numbers,
    }
    return answer(context, finding, "algebra", verdict, reason, **evidence)


# -- which layers ------------------------------------------------------------------------------------


def _constructed_at(subject: Subject, path: str, finding: ProbedFinding) -> _Layers:
    by_call: dict[tuple[str, int, int], tuple[str, ...]] = {}
    for name, module in subject.model.named_modules() if subject.model is not None else ():
        call = constructor_call(module)
        if call is None or not isinstance(module, _LAYERS) or not isinstance(module.bias, nn.Parameter):
            continue
        if finding.line <= call[1] <= finding.end_line and Path(call[0]).resolve() == Path(path).resolve():
            by_call[call] = (*by_call.get(call, ()), name)
    return _Layers(by_call)


def _module(subject: Subject, name: str) -> nn.Module:
    assert subject.model is not None, "its layers were found"
    return subject.model.get_submodule(name)


# -- what follows from it ----------------------------------------------------------------------------


def _verdict(layers: _Layers, effects: dict[str, Effect]) -> tuple[VerdictName, str, Effect]:
    with_effect = {name: effect for name, effect in effects.items() if effect.matters}
    unclear = [(name, effect) for name, effect in effects.items() if effect.matters is None]
    shown = next(iter(effects.values()))
    if with_effect:
        return _some_matter(layers, with_effect)
    if unclear:
        name, shown = unclear[0]
        return "NOT REPRODUCED", f"the bias of {_named((name,))} was changed: {shown.reason}", shown
    if not shown.follows or not all("BatchNorm" in name for name in shown.follows):
        reason = (
            f"the bias of {_named(tuple(effects))} had no effect here, but its layer feeds {_listed(shown.follows)}"
        )
        return "NOT REPRODUCED", reason, shown
    if len(effects) < len(layers.names):
        reason = f"only {len(effects)} of {len(layers.names)} layers were tried in the time: no bias had an effect"
        return "NOT REPRODUCED", reason, shown
    reason = f"the bias of {_named(tuple(effects))} has no effect in train mode: {_numbers(shown)}"
    return "CONFIRMED", reason, shown


def _some_matter(layers: _Layers, with_effect: dict[str, Effect]) -> tuple[VerdictName, str, Effect]:
    shown = next(iter(with_effect.values()))
    named = _named(tuple(with_effect))
    if all(any(name in with_effect for name in names) for names in layers.by_call.values()):
        reason = f"the bias of {named} matters in train mode: {_numbers(shown)}; its layer feeds {_listed(shown.feeds)}"
        return "REFUTED", reason, shown
    reason = f"the line has several calls, and it is not known which one is meant: the bias of {named} matters"
    return "NOT REPRODUCED", f"{reason}, others were not shown to", shown


def _eval_words(change: float | None) -> str:
    if change is None or change < _SEEN_IN_EVAL:
        return ""
    return "; in eval mode the outputs differ until the running statistics have adapted"


def _named(names: tuple[str, ...]) -> str:
    listed = [f"`{name}`" if name else "the module itself" for name in names]
    more = len(listed) - _NAMED
    return ", ".join(listed[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _listed(readers: tuple[str, ...]) -> str:
    return " and ".join(readers) or "something unknown"


def _numbers(effect: Effect) -> str:
    numbers = effect.numbers
    text = (
        f"changed by {numbers['bias_change']:.2g}, it moves the outputs by {numbers['output_change']:.1e} of their size"
        f" (the weight: {numbers['output_change_by_weight']:.1e})"
    )
    if "bias_gradient" not in numbers:
        return text
    return f"{text}, and its gradient is {numbers['bias_gradient']:.1e} against {numbers['weight_gradient']:.1e}"
