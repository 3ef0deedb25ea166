"""Unwritten memory: whether what the flagged line was handed reaches an output or a gradient.

The memory is filled with two different patterns. What differs between the two runs came out of it; what is overwritten
before it is read does not. torch's own fill (NaN under the determinism mode) is run as well, for the evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
import torch.utils.deterministic

from torchlint.recording.comparison.differences import Difference, differences, parts
from torchlint.recording.errors import CannotRun
from torchlint.recording.global_state.randomness import seed_everything
from torchlint.recording.global_state.switches import restored_switches
from torchlint.recording.messages import Answer, ProbedFinding
from torchlint.recording.originals import call_users
from torchlint.recording.probe_context import ProbeContext, answer
from torchlint.recording.runs.cost import must_fit
from torchlint.recording.subject import Pass, Subject
from torchlint.recording.tracing.allocations import Allocations, Fill, nothing_finite, one_pattern, other_pattern

_SHARE_OF_TIME = 0.4
"""Of the seconds that the whole process has."""
_RUNS = 10
_SHOWN = 12
"""So many tensors are told of in the evidence."""


@dataclass(frozen=True)
class _Runner:
    """Runs the subject while the memory of the flagged lines is filled."""

    subject: Subject
    path: str
    finding: ProbedFinding
    builds: bool = False
    """Whether the module is constructed anew for each run: the flagged line stands in a constructor."""

    def watch(self, fill: Fill | None) -> tuple[dict[str, torch.Tensor], Allocations]:
        watching = Allocations(self.path, self.finding.line, self.finding.end_line, fill)
        with watching:
            passed = (_rebuilt(self.subject) if self.builds else self.subject).run()
        return _results(passed), watching


def probe(context: ProbeContext, finding: ProbedFinding) -> Answer:
    """Whether memory that the flagged line was handed unwritten reaches outputs or gradients."""
    subject = context.subject
    if subject is None:
        return answer(context, finding, "memory", "SKIPPED", "there is no module or function to run")
    with restored_switches():
        try:
            runner = _Runner(subject, context.request.code.path, finding)
            # Not a plain run: whatever the memory holds might not even be a valid index.
            must_fit(_RUNS, partial(runner.watch, one_pattern), context.request.seconds, _SHARE_OF_TIME)
            reaching = _reaching(runner)
            if reaching is None:
                return _not_reached(context, finding, runner)
            return _judged(context, finding, reaching)
        except CannotRun:
            raise
        except Exception as error:  # noqa: BLE001 - the user's code, with another content of its memory
            reason = f"a run with filled memory raised {type(error).__name__}: {str(error)[:200]}"
            return answer(context, finding, "memory", "NOT REPRODUCED", reason)


def _reaching(runner: _Runner) -> _Runner | None:
    """The runner under which the flagged line allocates: while it runs, or only while it is constructed."""
    if runner.watch(one_pattern)[1].at_the_lines:
        return runner
    if runner.subject.build is None:
        return None
    building = replace(runner, builds=True)
    return building if building.watch(one_pattern)[1].at_the_lines else None


def _judged(context: ProbeContext, finding: ProbedFinding, runner: _Runner) -> Answer:
    first, watching = runner.watch(one_pattern)
    second, _ = runner.watch(other_pattern)
    # In turns: a heap that hands out what the run before left there would repeat it after a run of the same kind.
    unstable = differences(first, runner.watch(one_pattern)[0])
    unstable |= differences(second, runner.watch(other_pattern)[0])
    reached = {place: apart for place, apart in differences(first, second).items() if place not in unstable}
    evidence: dict[str, object] = {
        "allocated_at": f"{Path(runner.path).name}:{finding.line}",
        "allocated": sorted(set(watching.at_the_lines))[:_SHOWN],
        "in_the_constructor": runner.builds,
        "reached": {place: apart.evidence() for place, apart in list(reached.items())[:_SHOWN]},
        "unwritten_with_torchs_fill": _with_torchs_fill(runner),
    }
    if reached:
        return answer(context, finding, "memory", "CONFIRMED", _confirmation(runner, reached), **evidence)
    return answer(context, finding, "memory", "NOT REPRODUCED", _why_not(runner, first, bool(unstable)), **evidence)


def _confirmation(runner: _Runner, reached: dict[str, Difference]) -> str:
    place = min(reached, key=lambda place: (not place.startswith("output"), place))
    apart, others = reached[place], len(reached) - 1
    more = f" and {others} more {'tensor' if others == 1 else 'tensors'}" if others else ""
    reason = (
        f"unwritten memory reaches `{place}`{more}: {apart.differing} of {apart.elements} elements follow its content"
    )
    return f"{reason}, unless other code fills it" if runner.builds else reason


def _why_not(runner: _Runner, first: dict[str, torch.Tensor], is_unstable: bool) -> str:  # noqa: FBT001 - a plain fact
    if is_unstable:
        return "runs with the same content of the memory differ, so its effect cannot be told"
    if _new_holes(first, runner.watch(nothing_finite)[0]):
        return "no finite content of the memory reaches an output or gradient, but NaN in it would"
    return "the content of the memory reaches no output and no gradient of this run"


def _not_reached(context: ProbeContext, finding: ProbedFinding, runner: _Runner) -> Answer:
    subject = runner.subject
    constructed = "constructed and run" if subject.build is not None else "run"
    reason = f"no memory was allocated at the flagged line while `{subject.name}` was {constructed}"
    evidence: dict[str, object] = {"constructor_was_run": subject.build is not None}
    elsewhere = _with_torchs_fill(runner)
    if elsewhere:
        evidence |= {
            "unwritten_from_elsewhere": elsewhere,
            "allocated_at": sorted(runner.watch(one_pattern)[1].elsewhere)[:_SHOWN],
        }
    return answer(context, finding, "memory", "NOT REPRODUCED", reason, **evidence)


def _with_torchs_fill(runner: _Runner) -> dict[str, int]:
    """How many elements of outputs and gradients are NaN, or the largest whole number, only if torch fills memory."""
    plain, _ = runner.watch(one_pattern)
    try:
        with _torchs_fill():
            filled, _ = runner.watch(None)
    except Exception:  # noqa: BLE001 - the largest whole number is seldom a valid index, and NaN may be refused
        return {}
    return dict(list(_new_holes(plain, filled).items())[:_SHOWN])


@contextmanager
def _torchs_fill() -> Iterator[None]:
    with restored_switches():
        # Only to warn: what torch refuses in this mode is another probe's question.
        torch.use_deterministic_algorithms(mode=True, warn_only=True)
        torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]
        yield


def _new_holes(plain: dict[str, torch.Tensor], filled: dict[str, torch.Tensor]) -> dict[str, int]:
    found = {
        place: _holes(tensor) - (_holes(plain[place]) if place in plain else 0) for place, tensor in filled.items()
    }
    return {place: count for place, count in found.items() if count > 0}


def _holes(tensor: torch.Tensor) -> int:
    return sum(
        int(part.isnan().sum()) if part.is_floating_point() else int((part == torch.iinfo(part.dtype).max).sum())
        for part in parts(tensor)
        if tensor.dtype is not torch.bool
    )


def _results(passed: Pass) -> dict[str, torch.Tensor]:
    """Outputs and gradients; buffers are what the constructor left, and reach an output where they are read."""
    return {place: tensor for place, tensor in passed.tensors.items() if not place.startswith("buffer ")}


def _rebuilt(subject: Subject) -> Subject:
    """The subject with a module that was constructed just now, in the modes of the old one."""
    assert subject.build is not None, "only asked for where it can be constructed"
    seed_everything(subject.seed)
    model = call_users(subject.build)
    modes = {name: module.training for name, module in subject.model.named_modules()} if subject.model else {}
    for name, module in model.named_modules():
        module.training = modes.get(name, module.training)
    return replace(subject, call=model.to(subject.device))
