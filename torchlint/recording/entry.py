"""The process of one target: load it, build it, and let every probe answer for every finding."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
from collections.abc import Callable, Iterator
from typing import get_args

import msgspec
import torch

from torchlint.recording.building import as_called, build, held
from torchlint.recording.clock import Deadline
from torchlint.recording.errors import CannotRun
from torchlint.recording.global_state.environment import environment, usable_devices
from torchlint.recording.loading import load
from torchlint.recording.loading.devices import at_hand
from torchlint.recording.loading.script import as_script
from torchlint.recording.loading.stubs import is_absent, stood_in
from torchlint.recording.messages import Answer, Executed, Message, ProbedFinding, Request
from torchlint.recording.names import ON_ACCELERATORS, ProbeName
from torchlint.recording.originals import KeptOriginals
from torchlint.recording.probe_context import Probe, ProbeContext
from torchlint.recording.probes.kernel_only import kernel_only
from torchlint.recording.probes.sightings import is_at
from torchlint.recording.runs.recorded import record
from torchlint.recording.subject import Subject
from torchlint.recording.tracing.ctc_loss import take_lengths_as_numbers
from torchlint.recording.tracing.lines import remember_constructors

_ABOUT_STATEMENTS: frozenset[ProbeName] = frozenset({"config", "loader", "order", "draws"})
_SHARE_BEFORE_HOLDERS = 0.75
"""Of the time for finding out how the target runs alone, where other classes could show it."""
_LAST_HOLDER = 0.6
"""The part of the time after which no further class is tried: the failure of the target itself is to be told."""

Deliver = Callable[[Message], None]


def run(data: bytes, send: Callable[[bytes], None]) -> None:
    """Answer one request (JSON, messages.Request); each message is sent as soon as it is known."""

    def deliver(message: Message) -> None:
        send(msgspec.json.encode(message))

    request = msgspec.json.decode(data, type=Request)
    torch.set_num_threads(request.threads)
    devices = usable_devices(request.devices)
    deliver(environment(devices, request.seed))
    take_lengths_as_numbers()
    with KeptOriginals():
        for message in _answers(request, devices, deliver):
            deliver(_with_missing(message))


def _answers(request: Request, devices: tuple[str, ...], deliver: Deliver) -> Iterator[Answer]:
    about_statements = [s for s in request.findings if _ABOUT_STATEMENTS & set(s.probes)]
    others = [finding for finding in request.findings if finding not in about_statements]
    context = ProbeContext(request, "cpu")
    for finding in about_statements:
        yield from _asked(context, finding)
    if not others:
        return
    try:
        with remember_constructors(), at_hand():
            subject = _built(request, deliver)
    except CannotRun as error:
        for finding in others:
            yield from _skipped(request, finding, error)
        return
    for device in devices:
        with at_hand(device), as_script(request.code.path):
            yield from _on_device(request, device, subject, others)


def _built(request: Request, deliver: Deliver) -> Subject:
    is_flagged = any(finding.code for finding in request.findings)
    subject, executed = (is_flagged and _inside_a_holder(request)) or _alone(request, is_flagged=is_flagged)
    deliver(executed)
    subject = dataclasses.replace(subject, has_invented_inputs=executed.invented_inputs)
    behind = dataclasses.replace(subject, make_input_grad=True)
    return behind if not _learns(subject) and _runs(behind) else subject


def _inside_a_holder(request: Request) -> tuple[Subject, Executed] | None:
    """The outermost module that holds the target, can be built, and runs what was flagged: options may leave it out."""
    target = request.target
    # Arguments and inputs in the user's words are those of the class itself.
    for holder in target.holders if request.hooks.is_empty else ():
        with contextlib.suppress(CannotRun):  # the next one, or the class itself, whose own failure is told
            found = held(request, holder)
            if _reaches(found[0], request):
                return found
    if target.enclosing and request.hooks.is_empty:
        with contextlib.suppress(CannotRun):
            found = build(request, load(request.code, whole=False))
            if _reaches(found[0], request):
                return found
    return None


def _reaches(subject: Subject, request: Request) -> bool:
    """Whether a run comes to a flagged line, and to one of the operators in question if there are any."""
    reached = record(subject, ()).reached
    return any(
        is_at(finding, request.code.path, (line,))
        and (not finding.operators or not names.isdisjoint(_asked_of(finding)))
        for line, names in reached.items()
        for finding in request.findings
    )


def _asked_of(finding: ProbedFinding) -> frozenset[str]:
    return frozenset(name for entry in finding.operators for name in entry.aten)


def _alone(request: Request, *, is_flagged: bool) -> tuple[Subject, Executed]:
    """The target by itself; a part of a model with inputs that want a gradient, as it has where it stands."""
    target = msgspec.structs.replace(request.target, enclosing=(), holders=())
    holders = () if is_flagged else request.target.holders
    share = _SHARE_BEFORE_HOLDERS if holders else 1
    alone = msgspec.structs.replace(request, target=target, seconds=request.seconds * share)
    last = Deadline(request.seconds * _LAST_HOLDER)
    try:
        subject, executed = build(alone, load(request.code, whole=False))
    except CannotRun as error:
        for holder in holders if error.kind != "load" else ():
            if last.is_over:
                break
            with contextlib.suppress(CannotRun):  # the next one, or the failure of the class itself, which is told
                return as_called(request, holder)
        raise
    behind = dataclasses.replace(subject, make_input_grad=True)
    is_part = bool(request.target.enclosing or request.target.holders) and is_flagged
    return (behind if is_part and _runs(behind) else subject), executed


def _learns(subject: Subject) -> bool:
    """Whether it has parameters of its own: without any, gradients flow only if they reach its inputs."""
    return any(True for model in subject.models.values() for _ in model.parameters())


def _runs(subject: Subject) -> bool:
    """Whether it takes inputs that need a gradient: a metric calls `.numpy()` on them, or counts in place."""
    try:
        subject.run()
    except Exception:  # noqa: BLE001 - then it runs as it was built
        return False
    return True


def _on_device(request: Request, device: str, subject: Subject, findings: list[ProbedFinding]) -> Iterator[Answer]:
    try:
        context = ProbeContext(request, device, subject if device == "cpu" else subject.on(device))
    except Exception as error:  # noqa: BLE001 - whatever the device says to this module is told
        for finding in findings:
            yield _answer(
                finding, finding.probes[0], device, f"it cannot be moved to {device}: {_words(error)}", "load"
            )
        return
    for finding in findings:
        yield from _asked(context, finding)


def _asked(context: ProbeContext, finding: ProbedFinding) -> Iterator[Answer]:
    for name in finding.probes:
        if context.device != "cpu" and name not in ON_ACCELERATORS:
            continue
        if context.subject is None and name not in _ABOUT_STATEMENTS:
            continue  # `config` has the word where a rule names `strict` or `repeat` beside it: nothing runs forward
        try:
            yield _PROBES[name](context, finding)
        except CannotRun as error:
            yield _answer(finding, name, context.device, error.reason, error.kind)
        except Exception as error:  # noqa: BLE001 - one probe that breaks must not take the others down; it is told
            yield _answer(finding, name, context.device, f"probe `{name}` broke: {_words(error)}", "probe")


def _probe(name: ProbeName) -> Probe:
    """Each probe is a module of its own name."""
    found: Probe = importlib.import_module(f"torchlint.recording.probes.{name}").probe
    return found


_PROBES = {name: _probe(name) for name in get_args(ProbeName)}
"""Imported with this module: by the server, once, and not by each process that it forks."""


def _skipped(request: Request, finding: ProbedFinding, error: CannotRun) -> Iterator[Answer]:
    """The target does not run; perhaps the flagged call alone does."""
    yield _answer(finding, finding.probes[0], "cpu", error.reason, error.kind)
    alone = kernel_only(request, finding)
    if alone is not None:
        yield alone


def _answer(finding: ProbedFinding, probe: ProbeName, device: str, reason: str, kind: str) -> Answer:
    evidence: dict[str, object] = {"kind": kind}
    return Answer(
        finding=finding.index, probe=probe, verdict="SKIPPED", device=device, reason=reason, evidence=evidence
    )


def _with_missing(said: Answer) -> Answer:
    """What could not run, or not far enough, tells what is not installed: with it, it might have."""
    is_open = said.verdict == "SKIPPED" or (said.verdict == "NOT REPRODUCED" and said.probe in _ABOUT_STATEMENTS)
    names = said.evidence.get("stubs") or stood_in() if is_open else ()
    named = dict.fromkeys(str(name).partition(".")[0] for name in names)  # type: ignore[attr-defined]
    libraries = [library for library in named if is_absent(library)]
    if not libraries or "not installed" in said.reason:
        return said
    return msgspec.structs.replace(said, reason=f"{said.reason} (not installed here: {', '.join(libraries)})")


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
