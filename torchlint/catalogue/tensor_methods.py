"""The typed form of `rules/registry/tensor_methods.toml`: what operations of torch do to a tensor.

A field that is left out claims nothing.
"""

from __future__ import annotations

from typing import Literal

import msgspec

_CARRIED = frozenset({"same", "moved", "some", "spread", "again"})


class TensorMethod(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One operation: the tensor is what a method is called on, and a function's first argument."""

    values: Literal["", "same", "moved", "some", "spread", "again", "joined", "read", "like", "fresh", "told"] = ""
    """What the result has of the tensor's elements: all in their order (`same`), all in another order (`moved`), `some`
    and none twice, each several times in one place of memory (`spread`), perhaps several times (`again`), those of
    several tensors (`joined`); or what is computed of them all (`read`). The others read none of them: the result is
    new after the tensor's description (`like`), new from other arguments (`fresh`), or tells the description
    (`told`)."""
    memory: Literal["", "shared", "perhaps"] = ""
    """Whether the result is the tensor's own memory: always, or as far as type, device and strides allow."""
    writes: Literal["", "each", "same again", "one"] = ""
    """In place: each element gets a value of its own, one that would be the same if it were written twice, or all that
    are written get one value."""
    element: Literal["", "same", "counted", "float", "integer", "bool"] = ""
    """The element type of the result (of the first of several); `counted` makes integers of bool and keeps the rest."""
    shape: Literal["", "same", "rank", "line", "given", "reduced"] = ""
    """Of the result, or of each of its parts: the tensor's shape, as many dimensions, one dimension, what the arguments
    say (`view(2, 3)`), or what is left when the dimension is taken away that is the first argument, unless `keepdim`,
    the second, keeps it."""
    results: Literal["", "parts", "pair", "several", "number", "array", "other"] = ""
    """What is returned, if not one tensor: parts of the tensor; values and, with a dimension, where they stood; several
    tensors or one; a number of Python's; an array of NumPy's; anything else."""
    device: Literal["", "chosen"] = ""
    """The result may lie on another device than the tensor."""
    gradient: Literal["", "cut"] = ""
    """No gradient flows back from a result that might well have had one."""
    waits: Literal["", "always", "perhaps"] = ""
    """The host waits until the device has come so far."""
    draws: Literal["", "continuous", "discrete"] = ""
    """Takes from a random number generator, from a distribution of this kind."""
    holds: Literal["", "one value", "whole numbers", "distinct values"] = ""
    """What is known of the values of the result (of the first of several)."""
    rounds: bool = False
    """Results are rounded, on another device or with another type in another way."""
    only_of_tensors: bool = False
    """In a file that imports torch, nothing but a tensor (or a module) has a method of this name."""

    @property
    def carries(self) -> bool:
        """Whether the result is a tensor that holds elements of the tensor and nothing else: nothing is computed."""
        return self.values in _CARRIED and not self.results

    @property
    def rearranges(self) -> bool:
        """Whether the result holds each element once, whatever its place, its type and its device."""
        return self.values in ("same", "moved") and not self.results

    @property
    def copies(self) -> bool:
        """Whether the result has the elements in their places, perhaps with another type, or elsewhere."""
        return self.values == "same" and self.shape == "same"

    @property
    def views(self) -> bool:
        """Whether the result, or each of its parts, is the tensor's own memory, at least where element types agree."""
        return bool(self.memory and self.values) and not self.writes and not self.device

    @property
    def describes(self) -> bool:
        """Whether nothing of what the tensor holds is read, nor written."""
        return self.values in ("told", "like")

    @property
    def reads(self) -> bool:
        """Whether all elements are read, and none is written."""
        return self.values == "read" and not self.writes

    @property
    def stays(self) -> bool:
        """Whether nothing says that the result is no tensor, or lies on another device."""
        return not self.device and self.results not in ("number", "array", "other")

    @property
    def cuts_gradient(self) -> bool:
        """Whether no gradient flows back from the result."""
        is_whole = self.element in ("integer", "bool") or self.results == "number"
        return not self.writes and (is_whole or self.gradient == "cut" or self.describes)


class TensorMethodFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`methods` are `Tensor.name` and `torch.name`, `functional` is `torch.nn.functional.name`."""

    methods: dict[str, TensorMethod]
    functional: dict[str, TensorMethod]
