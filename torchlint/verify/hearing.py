"""Runs plans in processes of their own, several at a time, and hears them until all is said or the user ends it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

import msgspec

from torchlint.recording.messages import Answer, Code, Environment, Executed, Message, Request, Target
from torchlint.verify.data import TargetRun
from torchlint.verify.options import Standing, VerifyOptions
from torchlint.verify.plan import Plan
from torchlint.verify.sandbox import Outcome, Sandbox

_STARTS_WORKERS = frozenset({"loader", "order"})
"""Probes of loaders, and of what pools of processes give."""
_TICK = 0.5
"""Seconds after which a run that goes on is told of."""


@dataclass(frozen=True)
class Heard:
    """What one process said, and how it ended."""

    plan: Plan
    answers: tuple[Answer, ...]
    environment: Environment | None
    executed: Executed | None
    outcome: Outcome

    @property
    def end(self) -> str:
        return "" if self.outcome.end == "done" else f"{self.outcome.end}: {self.outcome.detail}"

    def shown(self) -> TargetRun:
        return TargetRun(
            name=self.plan.name,
            path=self.plan.shown,
            text=self.plan.code.text,
            executed=self.executed,
            end=self.end or "done",
            seconds=self.outcome.seconds,
            output=self.outcome.output,
            places=self.plan.source.places,
        )


@dataclass
class Hearing:
    """Plans under way in a sandbox. What was heard stays heard when the user ends the run."""

    sandbox: Sandbox
    options: VerifyOptions
    heard: list[Heard] = field(default_factory=list)
    was_interrupted: bool = False

    def run(self, plans: Sequence[Plan], complete: Callable[[Plan], Plan]) -> None:
        """Hear each plan once it is complete. An interrupt (KeyboardInterrupt) ends all at once, and is no error."""
        since: dict[str, float] = {}
        pool = ThreadPoolExecutor(max_workers=self.options.jobs)
        pending: set[Future[Heard]] = set()
        try:
            for plan in plans:
                pending.add(pool.submit(self._timed, complete(plan), since))
                pending = self._collected(pending, since, len(plans), seconds=0)
            while pending:
                pending = self._collected(pending, since, len(plans), seconds=_TICK)
        except KeyboardInterrupt:
            self.was_interrupted = True
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            if self.was_interrupted:
                self.sandbox.close()
            pool.shutdown()

    def _collected(
        self, pending: set[Future[Heard]], since: dict[str, float], total: int, *, seconds: float
    ) -> set[Future[Heard]]:
        """Take what is done within some seconds, and tell how far the run is; what goes on is returned."""
        done, pending = wait(pending, seconds, FIRST_COMPLETED)
        self.heard += [future.result() for future in done]
        if self.options.progress is not None:
            now = time.monotonic()
            running = sorted(((name, now - begun) for name, begun in since.copy().items()), key=lambda one: -one[1])
            self.options.progress(Standing(len(self.heard), total, tuple(running)))
        return pending

    def _timed(self, plan: Plan, since: dict[str, float]) -> Heard:
        name = f"{plan.name} of {plan.shown}"
        since[name] = time.monotonic()
        try:
            return hear(self.sandbox, self.options, plan)
        finally:
            since.pop(name, None)


def hear(sandbox: Sandbox, options: VerifyOptions, plan: Plan) -> Heard:
    outcome, messages = _exchanged(sandbox, options, request_of(plan, options))
    return Heard(
        plan=plan,
        answers=tuple(each for each in messages if isinstance(each, Answer)),
        environment=next((each for each in messages if isinstance(each, Environment)), None),
        executed=next((_as_shown(plan, each) for each in messages if isinstance(each, Executed)), None),
        outcome=outcome,
    )


def environment_of(sandbox: Sandbox, options: VerifyOptions) -> Environment | None:
    """Where things would run: what a process says that is asked nothing. None where it said nothing."""
    nothing = Request(code=Code(path="", module="", text=""), target=Target(kind="statement", name=""), findings=())
    asked = msgspec.structs.replace(nothing, devices=("all",), threads=options.threads, seed=options.seed)
    _, messages = _exchanged(sandbox, options, asked)
    return next((each for each in messages if isinstance(each, Environment)), None)


def request_of(plan: Plan, options: VerifyOptions) -> Request:
    return Request(
        code=plan.code,
        target=plan.target,
        findings=plan.findings,
        hooks=plan.hooks,
        devices=options.devices,
        runs=options.runs,
        threads=options.threads,
        seed=options.seed,
        seconds=options.seconds,
        memory_bytes=options.memory_bytes,
    )


def _exchanged(sandbox: Sandbox, options: VerifyOptions, request: Request) -> tuple[Outcome, list[Message]]:
    outcome = sandbox.run(
        msgspec.json.encode(request),
        allow_gpu=any(device != "cpu" for device in options.devices),
        workers=any(not _STARTS_WORKERS.isdisjoint(each.probes) for each in request.findings),
    )
    return outcome, [msgspec.json.decode(each, type=Message) for each in outcome.messages]


def _as_shown(plan: Plan, executed: Executed) -> Executed:
    return msgspec.structs.replace(executed, path=executed.path and plan.shown_path(executed.path))
