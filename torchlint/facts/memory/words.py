"""Attributes and functions that tell about a tensor, or give its memory, and read none of it; a test asks torch.

What methods do with memory stands in `rules/registry/tensor_methods.toml`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.tensors.methods import function_named

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

METADATA = frozenset(
    [
        *("shape", "dtype", "device", "layout", "ndim", "requires_grad", "is_leaf", "itemsize", "nbytes", "grad_fn"),
        *("is_cuda", "is_cpu", "is_meta", "is_mps", "is_xpu", "is_sparse", "is_quantized", "is_nested"),
    ]
)
"""Attributes that tell about a tensor without reading its memory."""
SAME_MEMORY = frozenset({"data", "T", "mT", "H", "mH"})
"""Attributes that give the same memory."""
LOOKING = frozenset(f"builtins.{name}" for name in ["isinstance", "type", "id", "len", "print"])
"""Functions that look at a tensor's description alone. What is only printed changes nothing that goes on."""
_READING = frozenset({"builtins.float", "builtins.int"})


def only_describes(name: str) -> bool:
    """Whether a function, by its full name, looks at a tensor's description alone."""
    return name in LOOKING or function_named(name).describes


def reads_all(name: str) -> bool:
    """Whether a function, by its full name, computes from all that a tensor holds and writes nothing."""
    return name in _READING or function_named(name).reads


def joins(facts: FileFacts, call: ast.Call) -> bool:
    """Whether a call copies several tensors into one: `torch.cat([x, y])`."""
    return function_named(facts.names(call.func, facts.index.inner_scope_of(call)).only).values == "joined"
