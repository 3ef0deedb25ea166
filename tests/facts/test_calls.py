"""Whom a call runs, and with what: the call is the one on the line with `# here`."""

from __future__ import annotations

import ast

import pytest

from tests.facts.reading import facts_of_program
from torchlint.facts.calls import Target, Way, callers, known_functions, targets
from torchlint.facts.file import FileFacts
from torchlint.facts.functions import parameters_by_keyword, positional_parameters

RUN = {
    "function": (
        """
        def step(x, rate=1): ...
        step(3, rate=2)  # here
        """,
        ["step(x=3, rate=2)"],
    ),
    "choice": (
        """
        def one(x): ...
        def other(x): ...
        step = one if fast else other
        step(3)  # here
        """,
        ["one(x=3)", "other(x=3)"],
    ),
    "method": (
        """
        class Trainer:
            def step(self, x, *, rate=1): ...
            def run(self):
                self.step(3, rate=2)  # here
        """,
        ["Trainer.step(x=3, rate=2)"],
    ),
    "inherited": (
        """
        class Base:
            def step(self, x): ...
        class Trainer(Base):
            def run(self):
                self.step(3)  # here
        """,
        ["Base.step(x=3)"],
    ),
    "second base": (
        """
        class Empty: ...
        class Base:
            def step(self, x): ...
        class Trainer(Empty, Base):
            def run(self):
                self.step(3)  # here
        """,
        ["Base.step(x=3)"],
    ),
    "super": (
        """
        class Base:
            def step(self, x): ...
        class Trainer(Base):
            def step(self, x):
                super().step(x)  # here
        """,
        ["Base.step(x=x)"],
    ),
    "static and class methods": (
        """
        class Trainer:
            @staticmethod
            def one(x): ...
            @classmethod
            def other(cls, x): ...
            def run(self):
                (self.one if fast else self.other)(3)  # here
        """,
        ["Trainer.one(x=3)", "Trainer.other(x=3)"],
    ),
    "method by its class": (
        """
        class Trainer:
            def step(self, x): ...
        Trainer.step(trainer, 3)  # here
        """,
        ["Trainer.step(self=trainer, x=3)"],
    ),
    "object": (
        """
        class Trainer:
            def step(self, x): ...
        trainer = Trainer()
        trainer.step(3)  # here
        """,
        ["Trainer.step(x=3)"],
    ),
    "inherited by an object": (
        """
        class Base:
            def step(self, x): ...
        class Trainer(Base): ...
        Trainer().step(3)  # here
        """,
        ["Base.step(x=3)"],
    ),
    "constructor": (
        """
        class Base:
            def __init__(self, width): ...
        class Net(Base): ...
        Net(width=3)  # here
        """,
        ["made Base.__init__(width=3)"],
    ),
    "module": (
        """
        import torch
        class Net(torch.nn.Module):
            def forward(self, x): ...
        net = Net()
        net(3)  # here
        """,
        ["Net.forward(x=3)"],
    ),
    "part of a module": (
        """
        from torch import nn
        class Part(nn.Module):
            def forward(self, x): ...
        class Net(nn.Module):
            def __init__(self):
                self.part = Part() if wide else None
            def forward(self, x):
                return self.part(x)  # here
        """,
        ["Part.forward(x=x)"],
    ),
    "callable object": (
        """
        class Loss:
            def __call__(self, x): ...
        Loss()(3)  # here
        """,
        ["Loss.__call__(x=3)"],
    ),
    "function kept in an attribute": (
        """
        def step(x): ...
        class Trainer:
            def __init__(self):
                self.fn = step
            def run(self):
                self.fn(3)  # here
        """,
        ["step(x=3)"],
    ),
    "table of functions": (
        """
        def one(x): ...
        def other(x): ...
        TABLE = {"one": one, "other": other}
        TABLE[name](3)  # here
        """,
        ["one(x=3)", "other(x=3)"],
    ),
    "table in an attribute": (
        """
        def one(x): ...
        class Trainer:
            def __init__(self):
                self.table = {"one": one}
            def run(self):
                self.table[name](3)  # here
        """,
        ["one(x=3)"],
    ),
    "partial": (
        """
        import functools
        def step(model, rate, x): ...
        run = functools.partial(step, net, x=4)
        run(2)  # here
        """,
        ["step(model=net, rate=2, x=4)"],
    ),
    "partial of a partial": (
        """
        from functools import partial
        def step(model, rate, x): ...
        run = partial(partial(step, net), 2)
        run(3)  # here
        """,
        ["step(model=net, rate=2, x=3)"],
    ),
    "function that is made": (
        """
        def make(rate):
            def step(x): ...
            return step
        step = make(2)
        step(3)  # here
        """,
        ["make.step(x=3)"],
    ),
    "process": (
        """
        from multiprocessing import Process
        def work(model, rate=1, seed=0): ...
        Process(target=work, args=(net, 2), kwargs={"seed": 3})  # here
        """,
        ["started work(model=net, rate=2, seed=3)"],
    ),
    "spawn": (
        """
        import torch.multiprocessing as mp
        def work(rank, model, rate): ...
        mp.spawn(work, (net, 2), nprocs=2)  # here
        """,
        ["started work(model=net, rate=2)"],
    ),
    "arguments by a name": (
        """
        import torch.multiprocessing as mp
        def work(rank, model, rate): ...
        mp.spawn(work, args=given, nprocs=2)  # here
        """,
        ["started work()"],
    ),
    "pool": (
        """
        import multiprocessing as mp
        def load(path, size=1): ...
        with mp.Pool(4) as pool:
            pool.map(load, paths)  # here
        """,
        ["started load()"],
    ),
    "pool, one by one": (
        """
        import torch.multiprocessing as mp
        def load(path, size=1): ...
        pool = mp.Pool(4)
        pool.apply_async(load, (first, 2))  # here
        """,
        ["started load(path=first, size=2)"],
    ),
    "executor": (
        """
        from concurrent.futures import ThreadPoolExecutor
        def load(path, size=1): ...
        with ThreadPoolExecutor() as executor:
            executor.submit(load, first, size=2)  # here
        """,
        ["started load(path=first, size=2)"],
    ),
    "thread of a method": (
        """
        import threading
        class Trainer:
            def watch(self, every): ...
            def run(self):
                threading.Thread(target=self.watch, args=(3,))  # here
        """,
        ["started Trainer.watch(every=3)"],
    ),
    "starred": (
        """
        def step(x, y, rate=1): ...
        step(3, *rest, rate=2)  # here
        """,
        ["step(x=3, rate=2)"],
    ),
    "unknown": ("thing.step(3)  # here", []),
    "defined twice": (
        """
        if fast:
            def step(x): ...
        else:
            def step(y): ...
        step(3)  # here
        """,
        [],
    ),
}


def call_here(facts: FileFacts) -> tuple[ast.Call, int]:
    """The outermost call on the marked line, and its scope."""
    line = next(i for i, text in enumerate(facts.source.lines, start=1) if text.endswith("# here"))
    site = next(site for site in facts.symbols.calls if site.node.lineno == line)
    return site.node, site.scope


def described(target: Target) -> str:
    way = "" if target.way is Way.CALLED else f"{target.way.value} "
    names = dict.fromkeys([*positional_parameters(target.function), *parameters_by_keyword(target.function)])
    given = [(name, target.argument(name)) for name in names]
    written = [f"{name}={ast.unparse(one[0])}" for name, one in given if one is not None]
    return f"{way}{target.function.qualname}({', '.join(written)})"


@pytest.mark.parametrize(("program", "expected"), RUN.values(), ids=RUN.keys())
def test_what_a_call_runs(program: str, expected: list[str]) -> None:
    facts = facts_of_program(program)
    assert [described(target) for target in targets(facts, *call_here(facts))] == expected


@pytest.mark.parametrize("name", [name for name, (_, expected) in RUN.items() if expected])
def test_callers_are_the_other_way_round(name: str) -> None:
    facts = facts_of_program(RUN[name][0])
    call, scope = call_here(facts)
    for target in targets(facts, call, scope):
        found = callers(facts, target.function.index)
        assert described(target) in [described(one) for site, one in found if site.node is call]


def test_parameters_and_arguments_belong_to_each_other() -> None:
    facts = facts_of_program(RUN["partial"][0])
    (target,) = targets(facts, *call_here(facts))
    for name in ("model", "rate", "x"):
        given = target.argument(name)
        assert given is not None
        assert target.parameter_of(given[0]) == name


@pytest.mark.parametrize(
    "program",
    [
        "def step(x): ...\nrun = step if fast else elsewhere\nrun(3)  # here",
        "class Net:\n    def __init__(self): ...\nNet()  # here",
        "from threading import Thread\ndef work(): ...\nThread(target=work)  # here",
    ],
)
def test_results_are_asked_only_of_functions_whose_result_it_is(program: str) -> None:
    facts = facts_of_program(program)
    assert known_functions(facts, *call_here(facts)) == []
