"""What `rules/registry/flow/` says of the standard library, NumPy and torch, asked of those that are installed."""

from __future__ import annotations

import importlib
import queue
import time
import types
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from typing import Any, cast

import pytest

from torchlint.catalogue.load import load_containers, load_orders

ENTRIES = ["tea", "rice", "salt"]
HOMES = (
    *("argparse", "builtins", "collections", "concurrent", "copy", "glob", "itertools", "multiprocessing", "os"),
    *("pathlib", "random", "types"),
)
NAMED = sorted(
    {
        *load_containers().passing, *load_containers().mappings, *load_containers().objects, *load_orders().keeping,
        *load_orders().stacks, *load_orders().numbers, *load_orders().decided_by,
        *(name.removesuffix("()") for name in (*load_orders().picked, *load_orders().listed)),
    }
)  # fmt: skip


@pytest.mark.parametrize("name", [name for name in NAMED if name.startswith(HOMES)])
def test_a_name_of_the_standard_library_exists(name: str) -> None:
    assert callable(_found(name))


@pytest.mark.torch
@pytest.mark.parametrize("name", [name for name in NAMED if name.startswith(("torch.", "numpy."))])
def test_a_name_of_torch_or_numpy_exists(name: str) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("numpy")
    assert callable(_found(name))


_MADE = {
    "numpy.random.default_rng()": "numpy.random.Generator",
    "torch.multiprocessing.get_context().Pool()": "multiprocessing.pool.Pool",
    "torch.multiprocessing.Pool()": "multiprocessing.pool.Pool",
    "multiprocessing.get_context().Pool()": "multiprocessing.pool.Pool",
    "multiprocessing.Pool()": "multiprocessing.pool.Pool",
}
"""The classes of what functions make."""


def test_a_pool_gives_results_in_the_order_of_its_tasks() -> None:
    def slow(number: int) -> int:
        time.sleep(0.01 * (3 - number))
        return number

    with ThreadPool(4) as pool:
        assert pool.map(slow, range(4)) == list(pool.imap(slow, range(4))) == [0, 1, 2, 3]
        assert pool.starmap(slow, [(number,) for number in range(4)]) == [0, 1, 2, 3]
    with ThreadPoolExecutor(4) as executor:
        assert list(executor.map(slow, range(4))) == [0, 1, 2, 3]


def _found(name: str) -> Callable[..., object]:
    """What a full name means; `default_rng().shuffle` is read from the class of what it makes."""
    for made, home_of_it in _MADE.items():
        name = name.replace(made, home_of_it)
    first, *others = name.replace("()", "").split(".")
    home: object = importlib.import_module(first)
    for part in others:
        if isinstance(home, types.ModuleType) and not hasattr(home, part):
            home = importlib.import_module(f"{home.__name__}.{part}")
        else:
            home = getattr(home, part)
    assert callable(home)
    return home


@pytest.mark.parametrize("name", sorted(load_containers().taking))
def test_a_method_gives_an_entry(name: str) -> None:
    import queue

    waiting: queue.Queue[str] = queue.Queue()
    waiting.put("tea")
    holders: list[Any] = [["tea"], deque(["tea"]), {0: "tea"}, waiting]
    made = next(holder for holder in holders if hasattr(holder, name))
    given = (0,) if isinstance(made, dict) else ()
    assert getattr(made, name)(*given) == "tea"


@pytest.mark.parametrize(("name", "place"), sorted(load_containers().adding.items()))
def test_a_method_adds_one_argument(name: str, place: int) -> None:
    import queue

    holders: list[Any] = [[], deque(), set(), OrderedDict(), queue.Queue()]
    made = next(holder for holder in holders if hasattr(holder, name))
    arguments: list[object] = [0] * place + ["tea"]
    getattr(made, name)(*arguments)
    entries = made.queue if isinstance(made, queue.Queue) else made.values() if isinstance(made, dict) else made
    kept = list(entries)
    assert kept == ["tea"]


@pytest.mark.parametrize(
    "name", sorted(load_orders().keeping & {f"builtins.{one}" for one in ("list", "tuple", "iter")})
)
def test_a_call_keeps_the_order(name: str) -> None:
    assert list(cast("Iterable[str]", _found(name)(ENTRIES))) == ENTRIES


@pytest.mark.torch
@pytest.mark.parametrize("name", sorted(load_orders().stacks))
def test_a_stack_keeps_the_order(name: str) -> None:
    torch, numpy = pytest.importorskip("torch"), pytest.importorskip("numpy")
    rows = [torch.tensor([3.0]), torch.tensor([1.0]), torch.tensor([2.0])]
    given = [row.numpy() for row in rows] if name.startswith("numpy") else rows
    assert numpy.asarray(_found(name)(given)).ravel().tolist() == [3.0, 1.0, 2.0]
