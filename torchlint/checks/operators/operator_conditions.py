"""Whether what the code shows of an operator's operands meets the condition of its registry entry."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Literal

from torchlint.catalogue.registry import Argument, Operator, Spelling
from torchlint.checks.framework.drafts import AskedTensor
from torchlint.checks.operators.exactness import is_named_count, is_one_value, is_whole, runs_on_integers
from torchlint.checks.operators.indexing.indices import Repeats, has_unit_dim, is_named_strictly, repeats_of
from torchlint.checks.operators.indexing.rankings import are_different, is_second_dropped, is_used, ties, uses_indices
from torchlint.checks.operators.indexing.reads import carries_no_gradient, is_named_for_one, takes_each_once
from torchlint.facts.calls import callers
from torchlint.facts.constants import display_of, sizes_of, usual_values
from torchlint.facts.definitions import definitions_of, values_everywhere
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import EVERYWHERE, Definition, Parameter, Through
from torchlint.facts.origins import Origin, beyond
from torchlint.facts.tensors.elements import element_of, given_dtype, is_named_mask
from torchlint.facts.tensors.ranks import dimensions_of, is_named_for_planes, ranks_of
from torchlint.facts.tensors.views import shared_view
from torchlint.facts.tree import is_literal_none, last_word
from torchlint.facts.values import argument_of, may_be_hidden

Holds = Literal["yes", "hint", "no", "never"]
Use = ast.Call | ast.Subscript

_RANK = re.compile(r"(>=)?(\d)-D")


def condition_holds(facts: FileFacts, use: Use, operator: Operator, spelling: Spelling, scope: int) -> Holds:
    """`no` when the code contradicts the condition; when it leaves it open, what the entry says to do.

    `never` when the element type leads to another kernel altogether: then the mode refuses nothing either.
    """
    condition = operator.condition
    if condition.only_refused:
        return "no"
    if not _element_fits(facts, use, operator, spelling, scope):
        return "never"
    answers = _answers(facts, use, operator, spelling, scope)
    if False in answers:
        return "no"
    if None in answers or condition.is_always_open:
        unknown: dict[str, Holds] = {"report": "yes", "hint": "hint", "silence": "no"}
        return unknown[condition.unknown]
    return "yes"


def is_contradicted(facts: FileFacts, use: Use, operator: Operator, spelling: Spelling, scope: int) -> bool:
    """Whether the code shows that a condition does not hold; `condition_holds` says `no` of what is unknown, too."""
    is_other = operator.condition.only_refused or not _element_fits(facts, use, operator, spelling, scope)
    return is_other or False in _answers(facts, use, operator, spelling, scope)


def _answers(facts: FileFacts, use: Use, operator: Operator, spelling: Spelling, scope: int) -> list[bool | None]:
    """Whether each part of a condition holds; None where the code leaves it open."""
    condition = operator.condition
    return [
        _rank_fits(facts, use, operator, spelling, scope),
        _index_fits(facts, use, operator, spelling, scope),
        _windows_fit(facts, use, operator, spelling, scope),
        _result_fits(facts, use, operator, spelling, scope),
        _sums_vary(facts, use, operator, spelling, scope),
        not _is_read_apart(facts, use, operator, spelling, scope),
        not condition.evident_dtype or _is_evidently_of(facts, input_of(use, spelling), condition.dtype, scope),
    ]


def _kept_values(facts: FileFacts, tensor: ast.expr | None, scope: int) -> list[tuple[ast.expr, int]]:
    """What a tensor is that something keeps or hands on: for entries that want all of it evident."""
    return [] if tensor is None else values_everywhere(facts, tensor, scope)


def _is_evidently_of(facts: FileFacts, tensor: ast.expr | None, elements: Sequence[str], scope: int) -> bool:
    found = {element_of(facts, *value) for value in _kept_values(facts, tensor, scope)}
    return element_of(facts, tensor, scope) in elements or (bool(found) and found <= set(elements))


def asked_of_input(
    facts: FileFacts, use: Use, operator: Operator, spelling: Spelling, scope: int
) -> AskedTensor | None:
    """What another file must say of the input, where it alone knows; for entries that are silent otherwise."""
    condition = operator.condition
    given, wanted = input_of(use, spelling), _RANK.fullmatch(condition.rank)
    if given is None or wanted is None or condition.unknown != "silence" or ranks_of(facts, given, scope):
        return None
    elements = tuple(condition.dtype) if condition.evident_dtype else ()
    if elements and element_of(facts, given, scope) is not None:
        return None
    found = dimensions_of(facts, given, scope) if not elements else _origins_of(facts, given, scope)
    sources = [one for one in found if isinstance(one, Origin)]
    if not sources or (elements and len(sources) > 1):
        return None
    return AskedTensor(tuple(sorted(sources, key=repr)), elements, int(wanted[2]), or_more=bool(wanted[1]))


def _origins_of(facts: FileFacts, given: ast.expr, scope: int) -> set[Origin | None]:
    """Where the tensor itself comes from, and not another that has as many dimensions."""
    ends = definitions_of(facts, given, scope, EVERYWHERE | Through.CHANGES)
    return {beyond(facts, end) for end in ends if not (isinstance(end, Parameter) and callers(facts, end.function))}


def input_of(use: Use, spelling: Spelling) -> ast.expr | None:
    """The tensor that an operator works on; None for a module class and for what is not given."""
    if isinstance(use, ast.Subscript):
        return use.value
    if spelling.input == "self":
        return use.func.value if isinstance(use.func, ast.Attribute) else None
    return argument_of(use, spelling.input, 0) if spelling.input else None


def stored_by(facts: FileFacts, use: Use, spelling: Spelling) -> ast.expr | None:
    """The values that are written: the argument of a call, or the right side of `x[i] = v`."""
    if isinstance(use, ast.Call):
        return _argument(use, spelling.source)
    return next((a.value for a in facts.symbols.assignments if a.target is use), None)


def _index_of(use: Use, spelling: Spelling) -> ast.expr | None:
    return use.slice if isinstance(use, ast.Subscript) else _argument(use, spelling.index)


def _argument(call: ast.Call, argument: Argument | None) -> ast.expr | None:
    return None if argument is None else argument_of(call, argument.argument, argument.position)


def _element_fits(facts: FileFacts, use: Use, operator: Operator, spelling: Spelling, scope: int) -> bool:
    """False when an operand evidently has another element type. An unknown one is no reason to keep silent."""
    condition = operator.condition
    if not condition.dtype:
        return True
    made = given_dtype(facts, use, scope) if isinstance(use, ast.Call) and spelling.source is None else None
    if made is not None:
        return made in condition.dtype
    if "integer" not in condition.dtype and runs_on_integers(facts, use):
        return False
    source = _argument(use, spelling.source) if isinstance(use, ast.Call) else None
    given = [operand for operand in (input_of(use, spelling), source) if operand is not None]
    if operator.direction == "backward" and given and all(carries_no_gradient(facts, part, scope) for part in given):
        return False
    found = {element_of(facts, operand, scope) for operand in given}
    if operator.direction != "backward" and found == {None} and any(is_named_mask(operand) for operand in given):
        return "integer" in condition.dtype
    return found <= {None, *condition.dtype}


def _sums_vary(facts: FileFacts, use: Use, operator: Operator, spelling: Spelling, scope: int) -> bool:
    """False where no order can matter: one value everywhere, or floats that evidently hold whole numbers."""
    if operator.condition.overwrites:
        return not is_one_value(facts, stored_by(facts, use, spelling), scope)
    if operator.direction == "backward" or not operator.condition.dtype or not isinstance(use, ast.Call):
        return True
    if operator.condition.result == "used":
        return True  # what is summed up does not matter
    summed = _argument(use, spelling.source) or input_of(use, spelling)
    return not (is_named_count(summed) or is_whole(facts, summed, scope))


def _rank_fits(facts: FileFacts, use: Use, operator: Operator, spelling: Spelling, scope: int) -> bool | None:
    condition, tensor = operator.condition, input_of(use, spelling)
    wanted = _RANK.fullmatch(condition.rank)
    if wanted is None:
        return True
    ranks = ranks_of(facts, tensor, scope) or _ranks_by_target(facts, use, spelling, scope)
    if not ranks and condition.evident_dtype:
        found = [ranks_of(facts, *value) for value in _kept_values(facts, tensor, scope)]
        ranks = frozenset[int]().union(*found) if all(found) else ranks
    least = int(wanted[2])
    if tensor is not None and not ranks and wanted[1]:  # `if raw: logits = logits.transpose(1, 2)`: one branch says it
        given = definitions_of(facts, tensor, scope)
        found = [ranks_of(facts, one.node, one.scope) for one in given if isinstance(one, Definition) and not one.parts]
        return True if any(some and min(some) >= least for some in found) else None
    answers = {rank >= least if wanted[1] else rank == least for rank in ranks}
    return answers.pop() if len(answers) == 1 else None


def _ranks_by_target(facts: FileFacts, use: Use, spelling: Spelling, scope: int) -> AbstractSet[int]:
    """How many dimensions the input must have by its target, or by the operator's name; empty: nothing shows it."""
    target = _argument(use, spelling.target) if isinstance(use, ast.Call) else None
    is_of_classes = element_of(facts, target, scope) == "integer"  # else of probabilities, and as deep, perhaps
    found = {rank + 1 for rank in ranks_of(facts, target, scope)} if is_of_classes else set()
    return found or ({4} if is_named_for_planes(target) else {spelling.dimensions} - {0})


def _index_fits(facts: FileFacts, use: Use, operator: Operator, spelling: Spelling, scope: int) -> bool | None:
    condition = operator.condition
    if not condition.repeated_indices:
        return True
    if isinstance(use, ast.Call) and spelling.index is None and spelling.input:
        return True  # it finds its own places: `cummax`
    index = _index_of(use, spelling)
    if isinstance(use, ast.Call) and has_unit_dim(facts, index, _dimension(facts, use, spelling, scope), scope):
        return False  # along the dimension that is written there is one index, so none repeats
    repeats = repeats_of(facts, index, scope)
    if repeats is Repeats.NAMED:
        is_meant = not condition.overwrites or is_named_strictly(index)
        return True if is_meant and _is_along_first(facts, use, spelling, scope) else None
    if repeats is Repeats.GROUPS:
        is_same = condition.overwrites and not are_different(facts, stored_by(facts, use, spelling), None, scope)
        return None if is_same else True
    if repeats is Repeats.ROWS:
        return True if _is_along_first(facts, use, spelling, scope) else None
    return None if repeats is Repeats.UNKNOWN else repeats is Repeats.YES


def _is_read_apart(facts: FileFacts, use: Use, operator: Operator, spelling: Spelling, scope: int) -> bool:
    """Whether what is read evidently takes no place twice, so that the backward pass has nothing to add up."""
    if operator.direction != "backward" or not operator.condition.repeated_indices:
        return False
    dimension = _dimension(facts, use, spelling, scope) if isinstance(use, ast.Call) else None
    index = _index_of(use, spelling)
    gathers = isinstance(use, ast.Call) and "gather" in (spelling.method or spelling.call)
    return (gathers and dimension != 0 and is_named_for_one(index)) or takes_each_once(facts, index, dimension, scope)


def _is_along_first(facts: FileFacts, use: Use, spelling: Spelling, scope: int) -> bool:
    """Along other dimensions `labels` usually has a length of 1: `logits.scatter_add(1, labels, ...)`."""
    if isinstance(use, ast.Subscript) or (spelling.method or spelling.call).rpartition(".")[2].startswith("index"):
        return True
    return _dimension(facts, use, spelling, scope) == 0


def _dimension(facts: FileFacts, call: ast.Call, spelling: Spelling, scope: int) -> int | None:
    """The dimension that `scatter_(1, ...)` writes along."""
    return facts.value(argument_of(call, "dim", 0 if spelling.method else 1), scope).only(int)


def _windows_fit(facts: FileFacts, use: Use, operator: Operator, spelling: Spelling, scope: int) -> bool | None:
    """Whether the windows of a pooling overlap: the stride is below the kernel size in some dimension."""
    wanted = operator.condition.overlapping_windows
    if not wanted or not isinstance(use, ast.Call):
        return True
    if wanted == "view":
        return True if shared_view(facts, use, scope) is not None else None
    if may_be_hidden(use, None):
        return None
    if wanted == "adaptive":
        return _adapted_windows_overlap(facts, use, spelling, scope)
    sizes = sizes_of(facts, _argument(use, spelling.window), scope)
    stride = _argument(use, spelling.step)
    if stride is None or is_literal_none(stride):
        return False  # it is the kernel size
    steps = sizes_of(facts, stride, scope)
    if set(steps) == {1} and wanted == "strided":
        assert spelling.step is not None
        return None if argument_of(use, "padding", spelling.step.position + 1) is not None else False
    if not steps or not sizes:
        return None
    longest = max(len(steps), len(sizes))
    steps, sizes = (values * longest if len(values) == 1 else values for values in (steps, sizes))
    return any(step < size for step, size in zip(steps, sizes, strict=False))


def _adapted_windows_overlap(facts: FileFacts, call: ast.Call, spelling: Spelling, scope: int) -> bool | None:
    """Not where each dimension becomes one (`1`) or stays (`None`); else the sizes of the input decide.

    One size is mostly chosen to divide them; of a pyramid's sizes some do not.
    """
    shown, where = display_of(facts, _argument(call, spelling.window), scope)
    parts = shown.elts if isinstance(shown, (ast.Tuple, ast.List)) else [shown]
    sizes = [facts.value(part, where) for part in parts]
    if sizes and all(size.is_known for size in sizes):
        is_global = all(size.constants in ((1,), (None,)) for size in sizes)
        return False if is_global else True if _is_of_pyramid(facts, call, spelling, scope) else None
    usual = [set(usual_values(facts, part, where)) for part in parts if part is not None]
    return True if any(len(each) > 1 for each in usual) else None


def _is_of_pyramid(facts: FileFacts, call: ast.Call, spelling: Spelling, scope: int) -> bool:
    """Whether the function pools to other sizes as well."""
    same = (site.node for site in facts.calls_in(facts.function_of(scope)))
    windows = (_argument(one, spelling.window) for one in same if last_word(one.func) == last_word(call.func))
    return len({ast.unparse(one) for one in windows if one is not None} - {"1", "(1, 1)", "(1, 1, 1)"}) > 1


def _result_fits(facts: FileFacts, use: Use, operator: Operator, spelling: Spelling, scope: int) -> bool | None:
    if not operator.condition.result or not isinstance(use, ast.Call):
        return True
    if operator.condition.result == "used":
        return None if is_used(facts, use) else False
    if is_second_dropped(facts, use, scope) or not ties(facts, use, input_of(use, spelling), scope):
        return False
    return uses_indices(facts, use)
