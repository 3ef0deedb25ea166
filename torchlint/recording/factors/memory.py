"""Memory that torch hands out unwritten, filled with one value: zeros where it is held, ones where it is varied."""

from __future__ import annotations

from typing import Any

import torch

_NEW = frozenset(
    f"aten::{name}"
    for name in ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided")
)
_GROWING = frozenset({"aten::resize_", "aten::resize_as_"})


class FreshMemory:
    """For a dispatch mode: `written` before an operator runs, `fill` after it.

    `before = memory.written(called, args); result = called(*args, **kwargs); memory.fill(called, result, before)`
    """

    def __init__(self, *, varied: bool = False) -> None:
        self._value = int(varied)

    def written(self, called: Any, args: tuple[Any, ...]) -> int:  # noqa: ANN401 - an OpOverload
        """The bytes of a tensor that were there before it is resized; 0 for all other operators."""
        if _name(called) in _GROWING and _is_plain(args[0]):
            return int(args[0].untyped_storage().nbytes())
        return 0

    def fill(self, called: Any, result: object, written: int = 0) -> None:  # noqa: ANN401 - an OpOverload
        """Fill what an operator returned, or of a resized tensor the part that was added."""
        name = _name(called)
        if name not in _NEW and name not in _GROWING:
            return
        if not isinstance(result, torch.Tensor) or not _is_plain(result):
            return
        storage, size = result.untyped_storage(), result.element_size()
        whole = torch.empty(0, dtype=torch.uint8, device=result.device).set_(storage)
        new = whole[-(-written // size) * size : storage.nbytes() // size * size]
        if not self._value:
            new.zero_()
            return
        try:
            new.view(result.dtype).fill_(self._value)
        except (RuntimeError, NotImplementedError):  # types that know no numbers, such as `torch.bits8`
            new.fill_(self._value)


def _name(called: Any) -> str:  # noqa: ANN401 - an OpOverload, or an operator of higher order, which has no schema
    schema = getattr(called, "_schema", None)
    return "" if schema is None else str(schema.name)


def _is_plain(tensor: torch.Tensor) -> bool:
    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and tensor.layout is torch.strided
        and tensor.device.type != "meta"
        and not tensor.is_quantized
    )
