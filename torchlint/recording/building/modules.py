"""Builds an instance of a class, and finds inputs for what is called."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import UninitializedParameter

from torchlint.recording.building import input_repairs, repairs
from torchlint.recording.building.arguments import invented, required, signature_of
from torchlint.recording.building.complaints import answered, is_about_a_layer
from torchlint.recording.building.constructions import Construction, constructions
from torchlint.recording.building.failures import short
from torchlint.recording.building.globals import with_names
from torchlint.recording.building.hub_models import HubModels
from torchlint.recording.building.inputs import Inputs, call_with
from torchlint.recording.building.members import apart, together
from torchlint.recording.building.methods import MethodOf, has_forward, methods_with_inputs
from torchlint.recording.building.plans import Plan, detached, made
from torchlint.recording.building.scope import Scope, sections_of
from torchlint.recording.building.search import Search
from torchlint.recording.building.specification import Shown, specified
from torchlint.recording.building.trial import Progress, checked, lines_to
from torchlint.recording.building.usage import uses_of
from torchlint.recording.clock import Deadline
from torchlint.recording.errors import CannotRun, Kind
from torchlint.recording.global_state.randomness import seed_everything
from torchlint.recording.loading.stubs import StubbedCallError
from torchlint.recording.messages import Passes, Request
from torchlint.recording.originals import call_users
from torchlint.recording.subject import Pass, Subject
from torchlint.recording.tensors import tensors_in

_REPAIRED = "invented arguments"
_MOST_COMPLAINTS = 3
_MOST_INSTANCES = 16
"""Instances with different arguments for which inputs are looked for."""
_SHARE_OF_AN_INSTANCE = 0.4
"""Of the time that is left: other arguments may suit where no inputs do."""
_SECONDS_FOR_A_PART = 3.0
_SLOW = 2.0
"""Seconds for inputs that the project shows: smaller ones are looked for, as probes run many times."""
_MOST_SECOND_BEST = 6
"""Inputs on which it runs that are passed over for better ones."""


@dataclass(frozen=True)
class Ready:
    """A subject that ran, and how it came about."""

    subject: Subject
    attempts: int
    invented_inputs: bool
    passes: Passes
    construction: Construction | None = None
    inputs_of: str = ""
    """Where the project shows them."""


@dataclass(frozen=True)
class Builder:
    """What all steps of one target share."""

    request: Request
    namespace: Mapping[str, Any]
    deadline: Deadline
    names: dict[str, object] = field(default_factory=dict)
    """What was invented for names that the file reads and nothing makes."""
    hub: HubModels = field(default_factory=HubModels)

    @functools.cached_property
    def scope(self) -> Scope:
        return Scope(
            self.namespace,
            construct=self._part,
            options=self.request.target.options,
            sections=sections_of(self.request.target.configurations),
        )

    def _part(self, cls: type, scope: Scope) -> Any:  # noqa: ANN401 - an instance of the user's class
        """An object that is an argument of another one. Raises whatever its constructor objects to."""
        signature, scope = signature_of(cls), replace(scope, uses=uses_of(cls))
        guesses = [{}] if not required(signature) else [invented(signature, scope)]
        search = Search(
            lambda values: call_users(cls, **values),
            lambda error, values: repairs.repaired(error, values, signature, scope),
            Deadline(min(_SECONDS_FOR_A_PART, self.deadline.left)),
        )
        for _, instance in search.results(guesses):
            return instance
        raise next(iter(search.obstacles), CannotRun("constructor", f"{cls.__name__} could not be constructed"))

    def instances(
        self, cls: Callable[..., Any], complaints: list[Exception] | None = None
    ) -> Iterator[tuple[Construction, Any, int]]:
        """Instances that could be made. Raises CannotRun("constructor") where there is not one.

        Who asks for another one may say what was wrong with the last: what its forward complained of.
        """
        signature, scope = signature_of(cls), replace(self.scope, uses=uses_of(cls))

        def construct(construction: Construction) -> Any:  # noqa: ANN401 - an instance of the user's class
            seed_everything(self.request.seed)
            return self.hub.made(lambda: call_users(cls, *construction.args, **construction.kwargs))

        def repaired(error: BaseException, construction: Construction) -> Iterator[Construction]:
            if construction.origin == "the configuration" or isinstance(error, StubbedCallError):
                return
            for values in repairs.repaired(error, construction.kwargs, signature, scope):
                yield replace(construction, origin=_REPAIRED, kwargs=values)

        search = Search(
            with_names(construct, scope, self.names, self.request.code.text), repaired, self.deadline, lines_to
        )
        calls = self.request.target.calls.get(cls.__name__, ())
        found = False
        for construction, instance in search.results(constructions(cls, calls, self.request.hooks, scope)):
            found = True
            yield construction, instance, search.attempts
            if complaints and construction.origin != "the configuration":
                others = answered(complaints, construction.kwargs, signature, scope)
                search.suggest(replace(construction, origin=_REPAIRED, kwargs=values) for values in others)
        if not found:
            hooks = self.request.hooks
            is_given = bool(hooks.args or hooks.kwargs)
            what = f"{cls.__name__} could not be constructed{' as the configuration says' if is_given else ''}"
            invented = "arguments" if required(signature) and not is_given else ""
            raise self.refused("constructor", search.obstacles, what, invented)

    def of_class(self, cls: type, *, make_input_grad: bool = False) -> Ready:
        """A module of this class with inputs that it runs on."""
        failure: CannotRun | None = None
        complaints: list[Exception] = []
        for construction, module, attempts in itertools.islice(self.instances(cls, complaints), _MOST_INSTANCES):
            try:
                share = self.within(_SHARE_OF_AN_INSTANCE)
                ready = share.of_module(module, make_input_grad=make_input_grad)
            except CannotRun as error:
                failure = failure or error
                if self.deadline.is_over or error.kind == "load" or construction.origin == "the configuration":
                    break
                complaints[:] = error.obstacles[:_MOST_COMPLAINTS]
                continue
            again = partial(self.hub.again, cls, *construction.args, **construction.kwargs)
            subject = replace(ready.subject, build=again) if ready.subject.call is module else ready.subject
            return replace(ready, subject=subject, construction=construction, attempts=ready.attempts + attempts - 1)
        raise failure or CannotRun("constructor", f"{cls.__name__} could not be constructed in time")

    def of_module(self, module: nn.Module, *, make_input_grad: bool) -> Ready:
        """By its forward; by another method where it has none, or one that only others define."""
        if not has_forward(module):
            return self.of_methods(module)
        try:
            return self.of_call(type(module).__name__, module, make_input_grad=make_input_grad)
        except CannotRun as error:
            if not any(isinstance(each, NotImplementedError) for each in error.obstacles[:1]):
                raise
            try:
                return self.of_methods(module)
            except CannotRun:
                raise error from None

    def of_methods(self, module: nn.Module) -> Ready:
        """The first method that runs of those that take something."""
        name = type(module).__name__
        for method in methods_with_inputs(module):
            with contextlib.suppress(CannotRun):
                return self.within(_SHARE_OF_AN_INSTANCE).of_call(f"{name}.{method}", MethodOf(module, method))
        raise CannotRun("constructor", f"{name} has no forward, and no other method of it runs alone")

    def of_call(self, name: str, call: Callable[..., Any], *, make_input_grad: bool = False) -> Ready:
        """Inputs for a module or function that is there."""
        subject = Subject(name, call, seed=self.request.seed, make_input_grad=make_input_grad)
        generator = torch.Generator().manual_seed(self.request.seed)
        if self.request.hooks.inputs:
            args, kwargs = specified(self.request.hooks.inputs, generator)
            return self.given(replace(subject, args=args, kwargs=kwargs))
        return self._searched(subject, generator)

    def given(self, subject: Subject) -> Ready:
        """A subject that is complete: it only has to run."""
        passed = self._verified(subject)
        return Ready(subject, 1, invented_inputs=False, passes=passes_of(subject, passed))

    def within(self, share: float) -> Builder:
        """The same with a part of the time that is left."""
        return replace(self, deadline=Deadline(self.deadline.left * share))

    def _searched(self, subject: Subject, generator: torch.Generator) -> Ready:
        called = _what_is_called(subject.call)
        inputs = Inputs(subject.call, signature_of(called), replace(self.scope, uses=uses_of(called)))
        scratch = _scratch(subject)
        progress = Progress()

        def attempt(plan: Plan | Shown) -> tuple[Subject, Pass, bool]:
            progress.start()
            left = self.deadline.left
            filled = _filled(subject, plan, inputs, generator.manual_seed(self.request.seed))
            tried = scratch if not _is_lazy(subject) else _scratch(subject)
            # The cheap half first: most guesses fail here, and no copy of the module is made for them.
            replace(filled, call=tried.call).forward()
            if _is_lazy(subject):
                filled = replace(filled, call=_scratch(tried).call)
            ready = _filled(filled, plan, inputs, generator.manual_seed(self.request.seed))
            passed = self._verified(ready)
            return ready, passed, isinstance(plan, Shown) and left - self.deadline.left > _SLOW

        def repaired(error: BaseException, plan: Plan | Shown) -> Iterator[Plan]:
            is_fixed = isinstance(error, StubbedCallError) or is_about_a_layer(error)
            if not isinstance(plan, Shown) and not is_fixed:
                yield from map(apart, input_repairs.repaired(error, plan, inputs))

        search: Search[Plan | Shown, tuple[Subject, Pass, bool]] = Search(
            with_names(attempt, self.scope, self.names, self.request.code.text), repaired, self.deadline, progress
        )
        shown = [Shown(call, self.namespace) for call in self.request.target.inputs.get(subject.name, ())]
        guesses: Iterator[Plan | Shown] = itertools.chain(shown, map(apart, inputs.plans()))
        second_best: Ready | None = None
        with progress.counted():
            for guess, (ready, passed, is_slow) in itertools.islice(search.results(guesses), _MOST_SECOND_BEST):
                place = f"inputs at {guess.call.place}" if isinstance(guess, Shown) else ""
                invented = not place and any(True for _ in tensors_in((ready.args, ready.kwargs)))
                found = Ready(ready, search.attempts, invented, passes_of(subject, passed), inputs_of=place)
                if _is_telling(subject, passed) and not is_slow:
                    return found
                second_best = second_best or found
        if second_best is not None:
            return second_best
        guessed = "inputs" if inputs.signature is None or inputs.signature.parameters else ""
        raise self.refused("inputs", search.obstacles, f"no inputs were found for {subject.name}", guessed)

    def _verified(self, subject: Subject) -> Pass:
        """Forward twice and, where one flows, backward; the inputs are still as they were."""
        try:
            return checked(subject)
        except CannotRun:
            raise
        except Exception as error:
            if self.request.hooks.inputs or self.request.hooks.factory:
                raise self.refused("inputs", [error], f"{subject.name} does not run on these inputs") from error
            raise

    def refused(self, kind: Kind, errors: Sequence[Exception], what: str, invented: str = "") -> CannotRun:
        """Why it could not be run. What an error says of values that were `invented` is no fault of the program's."""
        if errors and isinstance(errors[0], StubbedCallError):
            return CannotRun("load", str(errors[0]), errors)
        late = " in time" if self.deadline.is_over else ""
        why = f"the {invented} that were invented do not fit: " if invented else ""
        return CannotRun(kind, f"{what}{late}: {why}{short(errors[0])}" if errors else f"{what}{late}", errors)


def _what_is_called(call: Callable[..., Any]) -> Callable[..., Any]:
    """The function that takes the inputs: `forward`, or the `__call__` that a class of modules has of its own."""
    if not isinstance(call, nn.Module):
        return call
    is_own = type(call).__call__ is not nn.Module.__call__
    return call.__call__ if is_own else call.forward


def _filled(subject: Subject, plan: Plan | Shown, inputs: Inputs, generator: torch.Generator) -> Subject:
    """The subject with the inputs of a plan, or of a call in the project."""
    seed_everything(subject.seed)
    if isinstance(plan, Shown):
        args, kwargs = detached(plan.values())
        return replace(subject, args=args, kwargs=kwargs)
    values = together({name: made(value, generator) for name, value in plan.items()})
    positional, by_keyword = call_with(values, inputs.signature)
    return replace(
        subject, args=tuple(values[name] for name in positional), kwargs={name: values[name] for name in by_keyword}
    )


def _scratch(subject: Subject) -> Subject:
    """A copy that attempts may spoil: the module itself stays as it was constructed."""
    try:
        return subject.fresh()
    except Exception as error:
        raise CannotRun("constructor", f"{subject.name} cannot be copied: {short(error)}", [error]) from error


def _is_telling(subject: Subject, passed: Pass) -> bool:
    """Whether a run shows what is computed: there is a result, finite, and a gradient reaches the parameters."""
    is_finite = all(bool(tensor.isfinite().all()) for tensor in passed.outputs.values() if tensor.is_floating_point())
    return bool(passed.tensors) and is_finite and passes_of(subject, passed) != "forward, no gradient"


def passes_of(subject: Subject, passed: Pass) -> Passes:
    """How far a run came."""
    if passed.has_backward:
        return "forward and backward"
    is_trainable = any(parameter.requires_grad for model in subject.models.values() for parameter in model.parameters())
    return "forward, no gradient" if is_trainable else "forward"


def _is_lazy(subject: Subject) -> bool:
    """Whether its parameters get their sizes from the first input."""
    model = subject.model
    return model is not None and any(isinstance(p, UninitializedParameter) for p in model.parameters())
