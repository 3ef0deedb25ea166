"""Which entries of the registry a piece of code reaches: a call, a product, a store through an index, or a read."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from torchlint.catalogue.registry import Operator, Spelling
from torchlint.catalogue.values import Kind
from torchlint.checks.framework.conditions import Answer, asked_elsewhere, holds, holds_by_default, is_always_met
from torchlint.checks.framework.drafts import Asked, AskedCallee, AskedTensor
from torchlint.checks.operators.operator_conditions import Holds, Use, asked_of_input, condition_holds, input_of
from torchlint.facts.callees import names_called, runs_of
from torchlint.facts.classes import attribute_values
from torchlint.facts.control.conditions import mutually_exclusive
from torchlint.facts.definitions import definitions_of, only_end, seen_values
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Definition, Through
from torchlint.facts.full_names import Callee, public_name
from torchlint.facts.gradients import is_cut_off
from torchlint.facts.graphs import reached
from torchlint.facts.moves import moved
from torchlint.facts.notation import (
    Member,
    hangs_on_call,
    is_of_project,
    is_result,
    last_part,
    reference,
    result_of,
    root_of,
)
from torchlint.facts.origins import Origin, beyond
from torchlint.facts.scopes import CallSite, Site
from torchlint.facts.tensors.elements import element_of, makes_sparse
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tree import index_parts, is_own, is_self, targets_of
from torchlint.facts.values import argument_of

Table = Mapping[str, Sequence[tuple[Operator, Spelling]]]
_FOLLOWED = Through.CHANGES | Through.PARAMETERS | Through.CONTENTS
_OF_A_LOSS = 2
"""What a loss is given: what the model says, and what is right."""
_PRODUCT = "__matmul__"


class Match(msgspec.Struct, frozen=True):
    """One entry that a use reaches. `certain` is False when the name may stand for something else besides.

    `is_choice`: an instance of one of several known classes is called, or with what a parameter usually is.
    """

    operator: Operator
    spelling: Spelling
    name: str
    use: Use
    holds: Holds
    certain: bool
    is_choice: bool = False
    asked: Asked | AskedTensor | AskedCallee | None = None
    """It counts where a call of the project gives this."""


def matches_of_call(facts: FileFacts, table: Table, call: ast.Call, scope: int) -> Iterator[Match]:
    """The entries that a call reaches, by the full name of what it calls or as a tensor's method."""
    names = names_called(facts, call.func, scope)
    relevant = [(callee, public_name(callee.name)) for callee in names.callees]
    relevant = [(callee, name) for callee, name in relevant if name in table]
    complete = names.complete and len(relevant) == len(names.callees)
    for callee, name in relevant:
        for operator, spelling in table[name]:
            answer = holds_by_default(facts, call, callee, spelling.where, scope)
            if answer in (Answer.MAYBE, Answer.LIKELY):
                alike = [other.where for one, other in table[name] if one.rule == operator.rule]
                answer = Answer.YES if is_always_met(facts, call, callee, alike, scope) else answer
            if spelling.made_with:
                answer = min(answer, _made_with(facts, call.func, spelling, callee.name, scope))
            is_open = answer in (Answer.NO, Answer.MAYBE) and complete and len(relevant) == 1
            asked = asked_elsewhere(facts, call, callee, spelling.where, scope) if is_open else None
            asked_of_others: list[Match] = []
            if asked is not None:
                found = _match(facts, operator, spelling, name, call, scope, certain=True)
                asked_of_others = [replace(match, is_choice=True, asked=asked) for match in found]
            if asked_of_others or answer is Answer.NO:
                yield from asked_of_others
            else:
                others = (table[other] for _, other in relevant)
                # Another name that a choice may stand for varies on a device of this operator, too.
                devices = {row.device for row in operator.row}
                is_shared = all(any(devices & {row.device for row in one.row} for one, _ in o) for o in others)
                certain = complete and answer is Answer.YES and is_shared
                is_one_class = answer is Answer.YES and names.complete and is_result(name)
                is_handed = answer is Answer.YES and not facts.names(call.func, scope).callees
                is_choice = not certain and (is_one_class or is_handed or (answer is Answer.LIKELY and complete))
                found = _match(facts, operator, spelling, name, call, scope, certain=certain or is_choice)
                asked = asked_elsewhere(facts, call, callee, spelling.where, scope) if is_choice else None
                asked = None if asked is None else replace(asked, is_usual=True)
                yield from (replace(match, is_choice=is_choice, asked=asked or match.asked) for match in found)
    if not names.callees and _may_be_loss(call):
        yield from _of_handed(facts, table, call, scope)
    if not relevant and isinstance(call.func, ast.Attribute) and f".{call.func.attr}" in table:
        # `transformers.LlamaModel.from_pretrained` and `nn.Linear().forward` are methods; `numpy.take` is none.
        owners = (name.rpartition(".")[0] for name in names.names)
        is_of_class = all(last_part(owner)[:1].isupper() or hangs_on_call(owner) for owner in owners)
        yield from _of_method(facts, table, call, call.func, scope) if is_of_class else ()


def handed_calls(facts: FileFacts) -> Iterator[CallSite]:
    """Calls of what other files hand over: `criterion(out, y)` where `criterion` is a parameter, or was kept as one."""
    for site in facts.calls.find(places=may_be_losses(facts)):
        if _handed_from(facts, site.node, site.scope) is not None:
            yield site


def may_be_losses(facts: FileFacts) -> list[int]:
    """The numbers of the calls of what is not known that may be losses."""
    sites = facts.symbols.calls
    return [place for place in runs_of(facts).get("", ()) if _may_be_loss(sites[place].node)]


def _may_be_loss(call: ast.Call) -> bool:
    """Whether a call gives two arguments, as a loss gets them; `norm_layer(width, **options)` may give any number."""
    is_kept = isinstance(call.func, ast.Name) or is_own(call.func)
    is_open = any(keyword.arg is None for keyword in call.keywords)
    return is_kept and not is_open and len(call.args) + len(call.keywords) == _OF_A_LOSS


def _handed_from(facts: FileFacts, call: ast.Call, scope: int) -> Origin | None:
    if names_called(facts, call.func, scope).callees:
        return None
    values = attribute_values(facts, call.func, scope) or [(call.func, scope)]
    if len(values) != 1 or facts.parameter_named(*values[0]) is None:
        return None
    return beyond(facts, only_end(facts, *values[0]))


def _of_handed(facts: FileFacts, table: Table, call: ast.Call, scope: int) -> Iterator[Match]:
    """The losses that a call of what is handed over may reach, where the tensor that it is given fits."""
    source = _handed_from(facts, call, scope)
    if source is None:
        return
    for name, entries in table.items():
        for operator, spelling in entries:
            if spelling.target is not None and holds(facts, call, Callee(name), spelling.where, scope) is Answer.YES:
                found = _match(facts, operator, spelling, name, call, scope, certain=True)
                for one in found:
                    if one.asked is None or isinstance(one.asked, AskedTensor):
                        yield replace(one, is_choice=True, asked=AskedCallee(source, name, one.asked))


def _made_with(facts: FileFacts, instance: ast.expr, spelling: Spelling, name: str, scope: int) -> Answer:
    """Whether the arguments of an instance's constructors meet the conditions on them; no, where none is seen.

    `name` is the class it is taken for, out of those that it may be of, or a function of what a call gave (`made().f`).
    """
    is_function = isinstance(reference(name), Member)
    maker = result_of(root_of(name)) if is_function else name
    ends = definitions_of(facts, instance, scope, _FOLLOWED) if is_function else ()
    # What a function belongs to: `get_kernel("flash-attn3")` for `kernel.flash_attn_func`.
    owners = ((one.node, one.scope) for one in ends if isinstance(one, Definition) and isinstance(one.node, ast.Call))
    made_by = owners if is_function else _constructors(facts, instance, scope)
    own = {one: where for one, where in made_by if facts.names(one, where).only == maker}
    called = facts.index.statement_of(instance)
    own = {one: at for one, at in own.items() if not mutually_exclusive(facts, facts.index.statement_of(one), called)}
    answers = (holds(facts, made, Callee(""), spelling.made_with, where) for made, where in own.items())
    return min(answers, default=Answer.NO)


def _constructors(facts: FileFacts, instance: ast.expr, scope: int) -> list[tuple[ast.Call, int]]:
    """The calls that make an object, wherever it has been moved to since: `criterion = criterion.to(device)`."""

    def behind(one: tuple[ast.expr, int]) -> list[tuple[ast.expr, int]]:
        before = moved(one[0])
        return [] if before is None else seen_values(facts, before, one[1], _FOLLOWED)

    found = reached(seen_values(facts, instance, scope, _FOLLOWED), behind)
    return [(made, where) for made, where in found if isinstance(made, ast.Call) and moved(made) is None]


def _of_method(facts: FileFacts, table: Table, call: ast.Call, function: ast.Attribute, scope: int) -> Iterator[Match]:
    for operator, spelling in table.get(f".{function.attr}", ()):
        if not _fits_receiver(facts, function.value, spelling, scope):
            continue
        answer = holds(facts, call, Callee(function.attr), spelling.where, scope)
        if answer is not Answer.NO:
            name = f"torch.Tensor.{function.attr}"
            yield from _match(facts, operator, spelling, name, call, scope, certain=answer is Answer.YES)


def _fits_receiver(facts: FileFacts, receiver: ast.expr, spelling: Spelling, scope: int) -> bool:
    """A tensor; for a name that only tensors have, anything that is not known to be something else."""
    kind = kind_of(facts, receiver, scope)
    if kind is Kind.TENSOR:
        return True
    is_free = spelling.receiver == "any" and kind is Kind.UNKNOWN and facts.imports_torch
    return is_free and not _is_of_own_class(facts, receiver, spelling.method, scope)


def _is_of_own_class(facts: FileFacts, receiver: ast.expr, method: str, scope: int) -> bool:
    """An object of a class of the project, with any methods."""
    if any(is_of_project(name) for name in facts.names(receiver, scope).names):
        return True
    owner = facts.class_of(scope)
    return is_self(receiver) and owner is not None and method in facts.symbols.scopes[owner].bindings


def stores_through_index(facts: FileFacts) -> Iterator[Site]:
    """Every `x[i] += v` and `x[i] = v`."""
    for store in facts.symbols.assign_sites:
        statement = store.node
        if not isinstance(statement, ast.AnnAssign) and isinstance(targets_of(statement)[0], ast.Subscript):
            yield Site(statement, store.scope, statement)


def matches_of_store(facts: FileFacts, table: Table, statement: ast.stmt, scope: int) -> Iterator[Match]:
    """The entries that `x[i] += v` or `x[i] = v` reaches, where `x` is a tensor and `i` holds integer tensors."""
    assert isinstance(statement, (ast.Assign, ast.AugAssign))
    key = "[add]" if isinstance(statement, ast.AugAssign) else "[store]"
    target = targets_of(statement)[0]
    if not isinstance(target, ast.Subscript) or not _is_integer_index(facts, target, scope):
        return
    is_scalar = kind_of(facts, statement.value, scope) is Kind.NUMBER
    if is_scalar or kind_of(facts, target.value, scope) is not Kind.TENSOR:
        return
    for operator, spelling in table.get(key, ()):
        yield from _match(facts, operator, spelling, "torch.Tensor.__setitem__", target, scope, certain=True)


def matches_of_read(facts: FileFacts, table: Table, read: ast.Subscript, scope: int) -> Iterator[Match]:
    """The entries that `x[i]` reaches, where `x` is a tensor and `i` a list, or holds integer tensors."""
    is_advanced = any(isinstance(part, ast.List) for part in index_parts(read)) or _is_integer_index(facts, read, scope)
    if is_advanced and kind_of(facts, read.value, scope) is Kind.TENSOR:
        for operator, spelling in table.get("[read]", ()):
            yield from _match(facts, operator, spelling, "torch.Tensor.__getitem__", read, scope, certain=True)


def matches_of_product(facts: FileFacts, table: Table, product: ast.BinOp, scope: int) -> Iterator[Match]:
    """The entries that `x @ y` reaches, which is `x.__matmul__(y)`."""
    function = ast.Attribute(product.left, _PRODUCT, ast.Load())
    call = ast.Call(function, [product.right], [])
    ast.copy_location(function, product.left)
    yield from _of_method(facts, table, ast.copy_location(call, product), function, scope)


def may_be_products(facts: FileFacts, table: Table, selected: frozenset[str]) -> bool:
    """Whether any `@` of the file can be reported: cheap, for there are many, and few are of sparse tensors."""
    own = [spelling for operator, spelling in table.get(f".{_PRODUCT}", ()) if operator.rule in selected]
    only_sparse = all(any(condition.kind == "sparse" for condition in spelling.where) for spelling in own)
    return bool(own) and (not only_sparse or facts.cached(makes_sparse))


def _is_integer_index(facts: FileFacts, indexed: ast.Subscript, scope: int) -> bool:
    return any(
        not isinstance(part, (ast.Slice, ast.Constant))
        and element_of(facts, part, scope) == "integer"
        and kind_of(facts, part, scope) is not Kind.NUMBER
        for part in index_parts(indexed)
    )


def _match(
    facts: FileFacts, operator: Operator, spelling: Spelling, name: str, use: Use, scope: int, *, certain: bool
) -> Iterator[Match]:
    """The match, unless nothing is left of it: no gradient where only the backward pass varies, or no case at all."""
    is_cut = operator.direction == "backward" and is_cut_off(facts, input_of(use, spelling), scope)
    if is_cut and not _may_run_backward(facts, use, spelling, scope):
        return
    answer: Holds = "no" if is_cut else condition_holds(facts, use, operator, spelling, scope)
    if answer == "never" and not any(row.any_type for row in operator.row):
        return
    if answer != "no" or any(row.any_input for row in operator.row):
        yield Match(operator, spelling, name, use, answer, certain)
    asked = asked_of_input(facts, use, operator, spelling, scope) if answer == "no" and not is_cut else None
    if asked is not None:
        yield Match(operator, spelling, name, use, "yes", certain, asked=asked)


def _may_run_backward(facts: FileFacts, use: Use, spelling: Spelling, scope: int) -> bool:
    """Whether a second tensor may need a gradient: that does not vary, and the mode refuses it all the same."""
    if spelling.steady is None or not isinstance(use, ast.Call):
        return False
    other = argument_of(use, spelling.steady.argument, spelling.steady.position)
    return other is not None and not is_cut_off(facts, other, scope)
