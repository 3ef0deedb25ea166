"""What trains: optimizers, backward passes, steps by them or by hand, and trainers of libraries that do it all."""

from __future__ import annotations

import ast
import enum
import re
from collections.abc import Iterator

import msgspec

from torchlint.catalogue.programs import ModeSwitch
from torchlint.facts.definitions import definitions_of
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Definition, Through
from torchlint.facts.functions import own_scope
from torchlint.facts.notation import maker_of
from torchlint.facts.places import Found, place_of
from torchlint.facts.tree import last_word, method_called
from torchlint.facts.values import all_given, argument_of, may_be_hidden
from torchlint.facts.words import says

_SEVERAL = re.compile(r"_?(?:\w+_)?optim(?:izer|iser)?s")
"""Names of what holds several."""
_WAYS = (Through.CHANGES, Through.CHANGES | Through.CONTENTS)
"""To the list that a loop takes one from, whose name may say what it holds; and to what is in it."""
BACKWARD = frozenset({"backward", "manual_backward"})
_SCALER = "scaler"
MOVING = frozenset({"add_", "sub_"})
"""Methods that move a weight in place."""
_TRAINING = BACKWARD | {"step"} | MOVING


def is_optimizer(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    """Whether an expression is an optimizer, perhaps one of several that a list or a table holds."""
    ends = (end for way in _WAYS for end in definitions_of(facts, expression, scope, way))
    held = (_is_one(facts, end.node, end.scope) for end in ends if isinstance(end, Definition))
    return _is_one(facts, expression, scope) or any(held)


def _is_one(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    holder = expression.value if isinstance(expression, (ast.Attribute, ast.Subscript)) else None
    if _SEVERAL.fullmatch(last_word(holder)):  # `self.optimizers[i]`, `optims.generator`
        return True
    is_made = any(is_optimizer_class(maker_of(name)) for name in facts.names(expression, scope).names)
    return is_made or says(last_word(expression), "optimizer")


def holds_optimizer(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    """Whether an expression is an optimizer, or what steps one for the code: a scaler, an engine, an accelerator."""
    return is_optimizer(facts, expression, scope) or says(last_word(expression), "optimizer_holder")


def is_optimizer_class(name: str) -> bool:
    """Whether a full name is one of torch's optimizers; schedulers of learning rates are none."""
    return name.rpartition(".")[0] == "torch.optim"


def goes_backward(facts: FileFacts, scope: int) -> bool:
    """Whether the function around a scope runs a backward pass itself."""
    return any(method_called(site.node) in BACKWARD for site in facts.calls_in(facts.function_of(scope)))


class Part(enum.Enum):
    """What a call does of a training."""

    BACKWARD = "backward"
    STEP = "step"
    WHOLE = "whole"
    SEEDED = "whole, and seeded"
    """A trainer of a library that seeds by itself runs."""
    TRAINER = "trainer"
    """A trainer of a library is made, without an argument for the determinism mode."""
    SEEDER = "seeder"
    """A library seeds that could turn the mode on with it, without an argument for that."""


class Training(Found, frozen=True, array_like=True, gc=False):
    """One call that trains, or does a part of it."""

    part: Part
    name: str
    """Of what is called, in full or its last word."""


class Trainers(msgspec.Struct, frozen=True):
    """What the catalogue knows of libraries that train."""

    methods: frozenset[str]
    """Methods that train."""
    seeding_methods: frozenset[str]
    """Methods that train, and seed whether asked to or not."""
    switches: dict[str, ModeSwitch]
    """Calls that make a trainer, or its arguments, or that seed, and can turn the determinism mode on."""


def trainings(facts: FileFacts, trainers: Trainers) -> Iterator[Training]:
    """What the calls of a file do of a training, the first of each symbol; and its steps without an optimizer."""
    seen: set[tuple[str, Part | None]] = set()
    known = trainers.methods | trainers.seeding_methods | trainers.switches.keys()
    words = [word for word in facts.calls.words if word in _TRAINING or _SCALER in word.lower()]
    for site in facts.calls.find(names=known, words=words):
        names, symbol = facts.names(site.node.func, site.scope), facts.symbol_of(site)
        if names.names & trainers.methods:
            part: Part | None = Part.WHOLE
        elif names.names & trainers.seeding_methods:
            part = Part.SEEDED
        elif names.only in trainers.switches:
            switch = trainers.switches[names.only]
            is_told = argument_of(site.node, switch.argument, switch.position) is not None
            is_untold = not is_told and not may_be_hidden(site.node, switch.position)
            part = (Part.TRAINER if switch.makes_trainer else Part.SEEDER) if is_untold else None
        else:
            part = _part(facts, site.node, site.scope)
        if part is not None and (symbol, part) not in seen:
            seen.add((symbol, part))
            place, name = place_of(facts, site.node, site.statement), names.only or method_called(site.node)
            yield Training(facts.path, symbol, place, part, name)
    for statement, scope in steps_by_hand(facts):
        yield Training(facts.path, facts.symbol_at(scope, statement), place_of(facts, statement), Part.STEP, "")


def _part(facts: FileFacts, call: ast.Call, scope: int) -> Part | None:
    is_scaler = _SCALER in last_word(call.func).lower()
    if is_scaler and len(call.args) > 1 and is_optimizer(facts, call.args[1], scope):
        return Part.WHOLE  # `loss_scaler(loss, optimizer, ...)`: an object that is called, as timm's scalers are
    if not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr in BACKWARD:
        return Part.BACKWARD
    if call.func.attr != "step" or not holds_optimizer(facts, call.func.value, scope):
        return Part.STEP if steps_in_place(call) else None
    closure = argument_of(call, "closure", 0)  # as L-BFGS has it
    function = None if closure is None else own_scope(facts, facts.names(closure, scope).only or "")
    return Part.WHOLE if function is not None and goes_backward(facts, function) else Part.STEP


# -- training without an optimizer: the code itself moves weights against their gradients ------------------------------


def steps_by_hand(facts: FileFacts) -> Iterator[tuple[ast.stmt, int]]:
    """The statements `w -= rate * w.grad` and `w = w - rate * w.grad`, each with its scope."""
    for site in facts.symbols.assign_sites:
        statement = site.node
        target: ast.expr
        if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Sub):
            target, change = statement.target, statement.value
        elif isinstance(statement, ast.Assign) and _is_less(statement.value, statement.targets[0]):
            target, change = statement.targets[0], statement.value.right  # type: ignore[attr-defined]
        else:
            continue
        if not _holds_gradient(target) and _moves(target, [change]):
            yield statement, site.scope


def steps_in_place(call: ast.Call) -> bool:
    """`w.data.sub_(rate * w.grad)` and `w.data.add_(w.grad, alpha=-rate)`."""
    function, arguments = call.func, all_given(call)
    if not isinstance(function, ast.Attribute) or function.attr not in MOVING:
        return False
    nodes = (node for argument in arguments for node in ast.walk(argument))
    is_less = function.attr == "sub_" or any(isinstance(node, ast.USub) for node in nodes)
    return is_less and not _holds_gradient(function.value) and _moves(function.value, arguments)


def _is_less(value: ast.expr, target: ast.expr) -> bool:
    """`target - ...`."""
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Sub):
        return False
    return _weight(ast.unparse(value.left)) == _weight(ast.unparse(target))


def _weight(spelled: str) -> str:
    return spelled.removesuffix(".data")


def _moves(target: ast.expr, change: list[ast.expr]) -> bool:
    """Whether a weight is moved by its gradient: by `.grad`, or by a rate and what is called a gradient."""
    if any(map(_holds_gradient, change)):
        return True
    words = [last_word(node).lower() for factor in change for node in _factors(factor)]
    name = _weight(ast.unparse(target)).rpartition(".")[2].lower()
    if "sign" in words or says(name, "searched"):  # an attack on an image
        return False
    is_gradient = any(says(word, "gradient") or word in (f"d{name}", f"d_{name}") for word in words)
    is_rate = any(says(word, "rate") for word in words)
    is_scaled = is_rate or any(isinstance(node, ast.Constant) for factor in change for node in _factors(factor))
    return is_gradient and is_scaled


def _factors(change: ast.expr) -> Iterator[ast.expr]:
    """What is multiplied and divided in an expression; of a call, what is called."""
    if isinstance(change, ast.BinOp) and isinstance(change.op, (ast.Mult, ast.Div)):
        yield from (*_factors(change.left), *_factors(change.right))
    elif isinstance(change, ast.UnaryOp):
        yield from _factors(change.operand)
    else:
        yield change.func if isinstance(change, ast.Call) else change


def _holds_gradient(expression: ast.expr | None) -> bool:
    """Whether an expression holds a gradient: `w.grad`, `rate * w.grad.data`. Where one is moved, no weight is."""
    nodes = () if expression is None else ast.walk(expression)
    return any(isinstance(node, ast.Attribute) and node.attr == "grad" for node in nodes)
