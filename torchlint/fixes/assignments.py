"""Fixes of assignments: a switch gets another value or its right name, a function is called instead of replaced."""

from __future__ import annotations

import ast

import msgspec

from torchlint.checks.switches.switches import nearest_switch
from torchlint.facts.tree import only_target
from torchlint.fixes.arguments import benchmark_of_trainer
from torchlint.fixes.calls import arguments_of, with_value
from torchlint.fixes.code import FileCode
from torchlint.fixes.plan import Plan, plan
from torchlint.fixes.spot import Spot
from torchlint.source.edits import Replacement

_VARIABLE = "CUBLAS_WORKSPACE_CONFIG"
_WORKSPACE = '":4096:8"'
_SEEDS = frozenset({"numpy.random.seed", "random.seed"})
_SETTING = ("set_", "use_", "enable_", "allow_", "preferred_")
"""How functions begin that take the value of a switch."""
_TAKING_OTHERS = frozenset({"set_flags", "set_rng_state", "set_rng_state_all", "set_state", "enable_full_determinism"})
_REMOVED = {"torch.set_deterministic": "use_deterministic_algorithms"}
_LOOSE = (ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Starred, ast.Lambda)
"""What can be assigned and is no argument as it stands, or is no value of a switch."""


def called_function(spot: Spot) -> Plan | None:
    """`torch.manual_seed = 42` → `torch.manual_seed(42)`. Safe for seeds that are seen to be numbers.

    A switch may make later calls raise. Functions that take no value, or another one, are left to their author.
    """
    assigned = _assigned_by_name(spot, spot.call) if spot.call is not None else _assigned(spot)
    if assigned is None or isinstance(assigned.value, _LOOSE) or not _takes_value(assigned.name):
        return None
    seed = spot.facts.value(assigned.value, spot.scope_of(assigned.value))
    is_number = isinstance(seed.only(int), int) and not isinstance(seed.only(int), bool)
    is_seed = spot.diagnostic.variant == "seed"
    if is_seed and seed.is_known and not is_number:
        return None
    return plan(assigned.changes, is_safe=is_seed and is_number)


class _Assigned(msgspec.Struct, frozen=True):
    """A function that is replaced, by its full name, the value that it is replaced with, and what would call it."""

    name: str
    value: ast.expr
    changes: list[Replacement] | None


def _takes_value(name: str) -> bool:
    """Whether a function takes what would be assigned to it, as one argument."""
    last = name.rpartition(".")[2]
    is_seed = last in ("manual_seed", "manual_seed_all", "seed_everything", "set_determinism")
    return is_seed or name in _SEEDS or (last.startswith(_SETTING) and last not in _TAKING_OTHERS)


def _assigned(spot: Spot) -> _Assigned | None:
    statement = spot.node(ast.stmt)
    target = statement.target if isinstance(statement, ast.AnnAssign) else only_target(statement)
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    if not isinstance(target, ast.Attribute) or value is None:
        return None
    return _Assigned(spot.full_name(target), value, _called(spot, target, value))


def _assigned_by_name(spot: Spot, setter: ast.Call) -> _Assigned | None:
    """`setattr(torch, "manual_seed", 42)` → `torch.manual_seed(42)`."""
    match setter.args:
        case [ast.Name() | ast.Attribute() as holder, ast.Constant(value=str(name)), value] if not setter.keywords:
            code = spot.code
            full = f"{spot.full_name(holder)}.{name}"
            text = f"{code.text_of(holder)}.{_REMOVED.get(full, name)}({code.text_of(value)})"
            is_plain = not code.has_comment(code.start(setter), code.end(setter)) and not code.is_in_string(setter)
            changes = [code.replaced(setter, text)] if is_plain else None
            return _Assigned(full, value, changes)
    return None


def _called(spot: Spot, target: ast.Attribute, value: ast.expr) -> list[Replacement] | None:
    """The target becomes the function, and the value its argument."""
    code = spot.code
    statement = spot.statement_of(target)
    between = code.tokens(code.end(target), code.start(value))
    is_bracketed = bool(between) and between[-1].string == "("
    if isinstance(value, ast.Tuple) or code.has_comment(code.end(target), code.start(value)):
        return None
    name = _REMOVED.get(spot.full_name(target))
    changes = [] if name is None else [_last_name(code, target, name)]
    if is_bracketed:
        brackets = [token for token in between if token.string == "("]
        opening = brackets[0].start[0], brackets[0].start[1] + 1
        return [*changes, Replacement(*code.end(target), *opening, "")]
    end = code.end(statement)
    return [
        *changes,
        Replacement(*code.end(target), *code.start(value), "("),
        Replacement(*end, *end, ")"),
    ]


def _last_name(code: FileCode, target: ast.expr, name: str) -> Replacement:
    """Another last name of `torch.backends.cudnn.benchmark`."""
    line, end = code.end(target)
    old = target.attr if isinstance(target, ast.Attribute) else code.text_of(target)
    return Replacement(line, end - len(old), line, end, name)


def right_name(spot: Spot) -> Plan | None:
    """`torch.backends.cudnn.deterministc = True` → `torch.backends.cudnn.deterministic = True`."""
    target = spot.node(ast.Attribute)
    name = "" if target is None else spot.full_name(target)
    if target is None or spot.diagnostic.variant not in ("dead", "raises", "namespace"):
        return None
    if spot.diagnostic.variant == "namespace":
        return _right_namespace(spot, target)
    right = nearest_switch(spot.catalogue, name)
    home, _, last = right.rpartition(".")
    if not right or home != name.rpartition(".")[0]:
        return None  # a switch of another namespace: where that comes from is for the author to say
    is_known = not target.attr.startswith("_") and spot.code.text_of(target).endswith(target.attr)
    return plan([_last_name(spot.code, target, last)]) if is_known else None


def _right_namespace(spot: Spot, target: ast.Attribute) -> Plan | None:
    """`torch.backend.cudnn` → `torch.backends.cudnn`."""
    part: ast.expr = target
    while isinstance(part, ast.Attribute):
        if part.attr == "backend" and spot.full_name(part) == "torch.backend":
            return plan([_last_name(spot.code, part, "backends")])
        part = part.value
    return None


def benchmark_off(spot: Spot) -> Plan | None:
    """`torch.backends.cudnn.benchmark = True` → `= False`; what somebody computed stays."""
    if spot.diagnostic.variant != "default":
        return None
    call = spot.call
    if call is not None:
        return _benchmark_of_call(spot, call)
    statement = spot.node(ast.stmt)
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    if not isinstance(value, ast.Constant) or only_target(statement) is None:
        return None
    return plan([spot.code.replaced(value, "False")], is_safe=False)


def _benchmark_of_call(spot: Spot, call: ast.Call) -> Plan | None:
    arguments = arguments_of(spot.code, call)
    last = None if arguments is None else arguments.at(2)
    if last is not None and spot.full_name(call.func) == "builtins.setattr" and isinstance(last.value, ast.Constant):
        return plan([with_value(last, "False")], is_safe=False)
    return benchmark_of_trainer(spot, call)


def right_workspace(spot: Spot) -> Plan | None:
    """`os.environ["CUBLAS_WORKSPACE_CONFIG"] = "4096:8"` → `":4096:8"`."""
    holders = [node for node in spot.code.nodes_at(spot.diagnostic.location) if isinstance(node, ast.stmt | ast.expr)]
    values = {id(value): value for holder in holders for value in _values_of(holder)}
    wrong = [value for value in values.values() if isinstance(value, ast.Constant) and isinstance(value.value, str)]
    if len(wrong) != 1 or len(values) != 1 or spot.code.is_in_string(wrong[0]):
        return None
    return plan([spot.code.replaced(wrong[0], _WORKSPACE)])


def _values_of(holder: ast.AST) -> list[ast.expr]:
    """What the variable is set to in a statement or an expression."""
    found: list[ast.expr] = []
    for node in ast.walk(holder):
        match node:
            case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=key))], value=value) if key == _VARIABLE:
                found.append(value)
            case ast.Call(args=[ast.Constant(value=key), value, *_]) if key == _VARIABLE:
                found.append(value)
            case ast.keyword(arg=key, value=value) if key == _VARIABLE:
                found.append(value)
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                found += [one for key, one in pairs if isinstance(key, ast.Constant) and key.value == _VARIABLE]
    return found
