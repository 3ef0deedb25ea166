"""Writes and additions at indices that repeat. The methods that write in place write into a copy."""

# ruff: noqa: PLW0108 - the parameters of a lambda name the inputs that it wants
from __future__ import annotations

from collections.abc import Callable

from tests.hardware.case import Call, Case, Inputs, Maker, Tensor, torch


def rows(maker: Maker) -> Inputs:
    """Many rows for few places."""
    count = maker.by_size(64, 1 << 15)
    return {"x": maker.floats(8, 16), "index": maker.indices(8, count), "source": maker.floats(count, 16)}


def many_rows(maker: Maker) -> Inputs:
    """As `rows`; so many that threads of the CPU, too, meet at a place."""
    count = maker.by_size(64, 1 << 17)
    return {"x": maker.floats(8, 16), "index": maker.indices(8, count), "source": maker.floats(count, 16)}


def near_one(maker: Maker) -> Inputs:
    """As `rows`, for products."""
    count = maker.by_size(64, 1 << 15)
    factors = maker.positive(count, 16, low=0.999, high=1.001)
    return {"x": maker.positive(8, 16), "index": maker.indices(8, count), "source": factors}


def elements(make: Callable[[Maker], Inputs]) -> Callable[[Maker], Inputs]:
    """An index for each element, of the shape of the values."""

    def wide(maker: Maker) -> Inputs:
        made = make(maker)
        return {**made, "index": made["index"].unsqueeze(1).expand(made["source"].shape).contiguous()}

    return wide


def flat(maker: Maker) -> Inputs:
    count = maker.by_size(64, 1 << 21)
    return {"x": maker.floats(64), "index": maker.indices(64, count), "source": maker.floats(count)}


def taken(maker: Maker) -> Inputs:
    return {"x": maker.floats(8, 8, grad=True), "index": maker.indices(64, maker.by_size(256, 1 << 21))}


def store(x: Tensor, index: Tensor, source: Tensor) -> Tensor:
    written = x.clone()
    written[index] = source
    return written


def add(x: Tensor, index: Tensor, source: Tensor) -> Tensor:
    written = x.clone()
    written[index] += source
    return written


def put(name: str, *, accumulate: bool) -> Call:
    return lambda x, index, source: getattr(x.clone(), name)(index, source, accumulate=accumulate)


def index_put(name: str, *, accumulate: bool) -> Call:
    return lambda x, index, source: getattr(x.clone(), name)((index,), source, accumulate=accumulate)


def along(name: str, *reduce: str, **legacy: str) -> Call:
    """A method of the form `x.name(0, index, source)`."""
    return lambda x, index, source: getattr(x.clone(), name)(0, index, source, *reduce, **legacy)


PUT = (
    Case(
        id="put_",
        make=flat,
        calls={"Tensor.put": put("put", accumulate=False), "Tensor.put_": put("put_", accumulate=False)},
        repeats_index=True,
    ),
    Case(
        id="put_accumulate",
        make=flat,
        calls={"Tensor.put": put("put", accumulate=True), "Tensor.put_": put("put_", accumulate=True)},
        repeats_index=True,
    ),
    Case(
        id="take_backward",
        make=taken,
        calls={
            "torch.take": lambda x, index: torch.take(x, index),
            "Tensor.take": lambda x, index: x.take(index),
        },
        backward=True,
        repeats_index=True,
    ),
)

SCATTER = (
    Case(
        id="scatter_src",
        make=elements(rows),
        calls={"Tensor.scatter": along("scatter"), "Tensor.scatter_": along("scatter_")},
        repeats_index=True,
    ),
    Case(
        id="scatter_add",
        make=elements(rows),
        calls={"Tensor.scatter_add": along("scatter_add"), "Tensor.scatter_add_": along("scatter_add_")},
        repeats_index=True,
    ),
    Case(
        id="scatter_reduce_legacy",
        make=elements(near_one),
        calls={
            "Tensor.scatter": along("scatter", reduce="multiply"),
            "Tensor.scatter_": along("scatter_", reduce="multiply"),
        },
        repeats_index=True,
    ),
    Case(
        id="scatter_reduce_legacy_add",
        make=elements(rows),
        calls={"Tensor.scatter": along("scatter", reduce="add"), "Tensor.scatter_": along("scatter_", reduce="add")},
        repeats_index=True,
    ),
    Case(
        id="scatter_reduce_sum_mean",
        make=elements(rows),
        calls={
            "Tensor.scatter_reduce('sum')": along("scatter_reduce", "sum"),
            "Tensor.scatter_reduce('mean')": along("scatter_reduce", "mean"),
            "Tensor.scatter_reduce_('sum')": along("scatter_reduce_", "sum"),
        },
        repeats_index=True,
    ),
    Case(
        id="scatter_reduce_prod",
        make=elements(near_one),
        calls={
            "Tensor.scatter_reduce": along("scatter_reduce", "prod"),
            "Tensor.scatter_reduce_": along("scatter_reduce_", "prod"),
        },
        repeats_index=True,
    ),
    Case(
        id="scatter_reduce_extremes",
        make=elements(rows),
        calls={
            "Tensor.scatter_reduce('amax')": along("scatter_reduce", "amax"),
            "Tensor.scatter_reduce_('amin')": along("scatter_reduce_", "amin"),
        },
        repeats_index=True,
    ),
)

INDEX = (
    Case(
        id="index_add",
        make=rows,
        calls={"Tensor.index_add": along("index_add"), "Tensor.index_add_": along("index_add_")},
        repeats_index=True,
    ),
    Case(
        id="index_copy",
        make=many_rows,
        calls={"Tensor.index_copy": along("index_copy"), "Tensor.index_copy_": along("index_copy_")},
        repeats_index=True,
    ),
    Case(
        id="index_put_set",
        make=many_rows,
        calls={
            "x[index] = v": store,
            "Tensor.index_put": index_put("index_put", accumulate=False),
            "torch._index_put_impl_": lambda x, index, source: torch._index_put_impl_(x.clone(), (index,), source),
            "torch._unsafe_index_put": lambda x, index, source: torch._unsafe_index_put(x, (index,), source),
        },
        repeats_index=True,
    ),
    Case(id="index_put_add", make=many_rows, calls={"x[index] += v": add}, repeats_index=True),
    Case(
        id="index_put_accumulate",
        make=many_rows,
        calls={
            "Tensor.index_put": index_put("index_put", accumulate=True),
            "Tensor.index_put_": index_put("index_put_", accumulate=True),
        },
        repeats_index=True,
    ),
    Case(
        id="index_reduce",
        make=near_one,
        calls={
            "Tensor.index_reduce('prod')": along("index_reduce", "prod"),
            "Tensor.index_reduce_('mean')": along("index_reduce_", "mean"),
        },
        repeats_index=True,
    ),
    Case(
        id="index_reduce_extremes",
        make=rows,
        calls={
            "Tensor.index_reduce('amax')": along("index_reduce", "amax"),
            "Tensor.index_reduce_('amin')": along("index_reduce_", "amin"),
        },
        repeats_index=True,
    ),
)

CASES = PUT + SCATTER + INDEX
