"""What code names: variables and their bindings, the last words of names, what an optimizer is, constants of a type."""

from __future__ import annotations

import ast

import pytest

from tests.facts.reading import facts_of_program
from torchlint.facts.file import FileFacts
from torchlint.facts.full_names import Names
from torchlint.facts.names import Resolver
from torchlint.facts.tensors.devices import is_dtype
from torchlint.facts.training.steps import holds_optimizer, is_optimizer
from torchlint.facts.tree import (
    index_parts,
    is_method_call,
    last_word,
    method_called,
    only_target,
    targets_of,
    words_in,
)
from torchlint.facts.values import all_given

NAMED = """
def run(x):
    first(x)
    self.x

class A:
    def step(self):
        self.x = second()
        def inner():
            third(self.x)

class B:
    def step(self):
        self.x

x = last()
"""
OPTIMIZERS = {
    "made": ("import torch\nthing = torch.optim.SGD(w)\nasked(thing)", True, True),
    "made by another name": ("from torch.optim import Adam as Way\nthing = Way(w)\nasked(thing)", True, True),
    "scheduler": ("import torch\nthing = torch.optim.lr_scheduler.StepLR(o, 3)\nasked(thing)", False, False),
    "called one": ("asked(self.optG)", True, True),
    "called something else": ("asked(optical_flow)", False, False),
    "options": ("asked(args.options)", False, False),
    "holder": ("asked(self.accelerator)", False, True),
}
DTYPES = {
    "torch.float16": True,
    "x.dtype": True,
    "torch.device('cuda')": False,
    "torch.nn.Linear": False,
    "device": False,
}


def expression(code: str) -> ast.expr:
    return ast.parse(code, mode="eval").body


def read(facts: FileFacts, text: str) -> list[tuple[ast.expr, int]]:
    """The expressions of a file that are written so, in source order, each with its scope."""
    nodes = [node for node in facts.index.parents if isinstance(node, ast.expr) and ast.unparse(node) == text]
    return [(node, facts.index.scope_of(node)) for node in sorted(nodes, key=lambda node: node.lineno)]


def asked(facts: FileFacts) -> tuple[ast.expr, int]:
    site = next(site for site in facts.symbols.calls if last_word(site.node.func) == "asked")
    return site.node.args[0], site.scope


def test_a_name_is_the_same_variable_wherever_it_is_read() -> None:
    facts = facts_of_program(NAMED)
    parameter, of_module = (facts.variable(*one) for one in read(facts, "x"))
    assert parameter is not None
    assert of_module == (0, "x")
    assert parameter != of_module
    assert facts.symbols.scopes[parameter[0]].name == "run"


def test_an_attribute_of_self_is_a_variable_of_its_class() -> None:
    facts = facts_of_program(NAMED)
    outside, stored, inside, of_another = (facts.variable(*one) for one in read(facts, "self.x"))
    assert outside is None
    assert stored is not None
    assert stored == inside
    assert stored != of_another


def test_bindings_are_of_names_alone() -> None:
    facts = facts_of_program(NAMED)
    values = [[ast.unparse(b.value) if b.value else "" for b in facts.bindings(*one)] for one in read(facts, "x")]
    assert values == [[""], ["last()"]]
    assert all(facts.bindings(*one) == [] for one in read(facts, "self.x"))


def test_calls_belong_to_the_innermost_function() -> None:
    facts = facts_of_program(NAMED)
    found = {
        facts.function_name(scope.index): [last_word(site.node.func) for site in facts.calls_in(scope.index)]
        for scope in facts.symbols.scopes
        if facts.function_of(scope.index) == scope.index and facts.calls_in(scope.index)
    }
    assert found == {"run": ["first"], "step": ["second"], "inner": ["third"]}
    assert [last_word(site.node.func) for site in facts.calls_in(None)] == ["last"]
    assert facts.function_name(0) == ""


@pytest.mark.parametrize(("program", "alone", "with_holders"), OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_what_an_optimizer_is(program: str, *, alone: bool, with_holders: bool) -> None:
    facts = facts_of_program(program)
    assert is_optimizer(facts, *asked(facts)) is alone
    assert holds_optimizer(facts, *asked(facts)) is with_holders


@pytest.mark.parametrize(("code", "expected"), DTYPES.items(), ids=DTYPES)
def test_what_a_dtype_is(code: str, *, expected: bool) -> None:
    facts = facts_of_program(f"import torch\nasked({code})")
    assert is_dtype(facts, *asked(facts)) is expected


@pytest.mark.parametrize(
    ("code", "word", "method"),
    [("a", "a", ""), ("a.b.c", "c", ""), ("a.b()", "", "b"), ("b()", "", ""), ("a[0]", "", ""), ("a[0].b()", "", "b")],
)
def test_words_of_names_and_calls(code: str, word: str, method: str) -> None:
    assert last_word(expression(code)) == word
    assert method_called(expression(code)) == method


def test_method_calls_are_told_by_name() -> None:
    call = expression("x.step()")
    assert is_method_call(call)
    assert is_method_call(call, "zero_grad", "step")
    assert not is_method_call(call, "zero_grad")
    assert not is_method_call(expression("step()"), "step")


def test_all_words_and_all_arguments() -> None:
    call = expression("f(a.b, *c, k=d[e])")
    assert isinstance(call, ast.Call)
    assert sorted(words_in(call)) == ["a", "b", "c", "d", "e", "f"]
    assert [ast.unparse(one) for one in all_given(call)] == ["a.b", "*c", "d[e]"]


@pytest.mark.parametrize(
    ("code", "targets", "only"),
    [
        ("x = 1", ["x"], "x"),
        ("x = y = 1", ["x", "y"], None),
        ("x: int = 1", ["x"], None),
        ("x += 1", ["x"], None),
        ("f(x)", [], None),
    ],
)
def test_targets(code: str, targets: list[str], only: str | None) -> None:
    statement = ast.parse(code).body[0]
    assert [ast.unparse(one) for one in targets_of(statement)] == targets
    found = only_target(statement)
    assert (None if found is None else ast.unparse(found)) == only


def test_parts_of_an_index() -> None:
    one, several = expression("x[i]"), expression("x[i, :]")
    assert isinstance(one, ast.Subscript)
    assert isinstance(several, ast.Subscript)
    assert [len(index_parts(one)), len(index_parts(several))] == [1, 2]


@pytest.mark.parametrize(
    ("program", "whole", "text"),
    [
        ("asked(3)", 3, "3"),
        ('asked("a")', None, "a"),
        ("asked(1 if wide else 2)", None, None),
        ("asked(1 if wide else f())", None, None),
        ("asked(None)", None, None),
    ],
)
def test_the_only_constant(program: str, whole: int | None, text: str | None) -> None:
    facts = facts_of_program(program)
    found = facts.value(*asked(facts))
    assert found.only(int) == whole
    assert found.text == text


def test_a_call_stands_alone() -> None:
    facts = facts_of_program("f()\nx = g()\nprint(h())")
    assert [site.is_alone for site in facts.symbols.calls if last_word(site.node.func) in "fgh"] == [True, False, False]


STEPS = {"another name": "{0}", "a choice": "{0} if wide else {0}", "a call": "functools.partial({0}, 1)"}


def chain(length: int, step: str) -> str:
    """`n0` is `torch.add`, and each further name what a step makes of the one before."""
    names = [f"n{number} = {step.format(f'n{number - 1}')}" for number in range(1, length)]
    return "\n".join(["import functools, torch", "n0 = torch.add", *names])


def meant(code: str, *asked: str) -> list[str | None]:
    """What names of one file stand for, asked one after another."""
    facts = facts_of_program(code)
    return [facts.names(ast.Name(name, ast.Load()), 0).only for name in asked]


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_name_is_followed_through_others(step: str) -> None:
    assert meant(chain(8, step), "n7") == ["torch.add"]


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_name_that_too_many_others_lead_to_is_not_known_unless_it_was_asked_on_the_way(step: str) -> None:
    code = chain(300, step)
    assert meant(code, "n299") == [None]
    assert meant(code, "n299", "n5", "n6") == [None, "torch.add", "torch.add"]  # what was cut off is not kept
    assert meant(code, *(f"n{number}" for number in range(300)))[-1] == "torch.add"


def test_names_that_are_bound_to_each_other_are_asked_once() -> None:
    """Forty names with two ways each to the next, and back."""
    code = "\n".join(f"a{n} = a{n + 1} if x else a{n - 1 if n else n + 1} or a{n + 1}" for n in range(40))
    assert meant(f"{code}\na40 = len", "a0", "a39") == [None, None]


def test_what_is_picked_from_what_is_picked_is_asked_once_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """`models.a[0].a[0]...`: each pick asks what stands before it, as a table and as a whole."""
    asked: list[ast.Subscript] = []
    pick = Resolver._entry

    def counted(resolver: Resolver, expression: ast.Subscript, scope: int) -> Names:
        asked.append(expression)
        return pick(resolver, expression, scope)

    monkeypatch.setattr(Resolver, "_entry", counted)
    facts = facts_of_program("import models\n" + "models" + ".a[0]" * 20)
    facts.names(next(node for node in ast.walk(facts.tree) if isinstance(node, ast.Subscript)), 0)
    assert len(asked) == 20
