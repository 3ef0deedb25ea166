"""Which calls start a copy from a device into host memory and return before it has finished.

`x.to("cpu", non_blocking=True)` of a CUDA tensor allocates pinned memory, into which CUDA copies on its own; so does
`copy_` into a pinned tensor. Into pageable memory CUDA waits by itself.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from torchlint.catalogue.values import Kind
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.definitions import definitions_of
from torchlint.facts.ends import Definition
from torchlint.facts.scopes import CallSite
from torchlint.facts.tensors.devices import Device, devices_named, is_on_cpu
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tree import is_method_call, last_word, method_called
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

METHODS = frozenset({"to", "copy_"})
_ON_DEVICE = re.compile(r"(?:^|_)(?:gpu|cuda|device|dev|d)(?:_|$)")
"""Names of tensors that lie on a device: `logits_gpu`, `device_splits`."""
_OF_HOST = re.compile("cpu|host")
_MAKERS = frozenset(f"torch.{kind}{like}" for kind in ("empty", "zeros", "ones", "full") for like in ("", "_like")) | {
    "torch.empty_strided"
}


def is_copy_to_host(facts: FileFacts, site: CallSite) -> bool:
    """Whether a call evidently copies from a device to the host without waiting."""
    call = site.node
    if not isinstance(call.func, ast.Attribute) or not facts.value(_non_blocking(call), site.scope).only(bool):
        return False
    if call.func.attr == "to":
        return _goes_to_host(facts, call, site.scope) and _may_be_on_device(facts, call.func.value, site.scope)
    source = argument_of(call, "src", 0)
    if call.func.attr != "copy_" or source is None or not is_pinned(facts, call.func.value, site.scope):
        return False
    return _is_on_device(facts, source, site)


def _non_blocking(call: ast.Call) -> ast.expr | None:
    """`copy_(src, non_blocking)`, `to(device, dtype, non_blocking)`."""
    assert isinstance(call.func, ast.Attribute)
    return argument_of(call, "non_blocking", 2 if call.func.attr == "to" else 1)


def _goes_to_host(facts: FileFacts, call: ast.Call, scope: int) -> bool:
    """`"cpu"`, `torch.device("cpu")`, or a name that says so; `device`, which happens to be the CPU, moves nothing."""
    device = argument_of(call, "device", 0)
    is_named = isinstance(device, ast.Name) and not _OF_HOST.search(device.id.lower())
    return not is_named and devices_named(facts, device, scope) is Device.CPU


def _may_be_on_device(facts: FileFacts, tensor: ast.expr, scope: int) -> bool:
    kind = kind_of(facts, tensor, scope)
    return kind in (Kind.TENSOR, Kind.UNKNOWN) and not is_on_cpu(facts, tensor, scope)


def is_pinned(facts: FileFacts, tensor: ast.expr, scope: int) -> bool:
    """Whether a tensor, or the one it is a piece of, is always made in pinned memory."""
    while isinstance(tensor, ast.Subscript):
        tensor = tensor.value
    ends = definitions_of(facts, tensor, scope)
    return all(isinstance(one, Definition) and _is_made_pinned(facts, one.node, one.scope) for one in ends)


def _is_made_pinned(facts: FileFacts, value: ast.expr, scope: int) -> bool:
    if not isinstance(value, ast.Call):
        return False
    if method_called(value) == "pin_memory":
        return True
    pin = argument_of(value, "pin_memory", None)
    return facts.names(value.func, scope).only in _MAKERS and facts.value(pin, scope).only(bool) is True


def _is_on_device(facts: FileFacts, source: ast.expr, site: CallSite) -> bool:
    """Whether the code says that a tensor lies on a device: by its name, or by a test of `is_cuda` around."""
    tensor = source
    while True:
        if isinstance(tensor, ast.Subscript):
            tensor = tensor.value
        elif is_method_call(tensor) and tensor.func.attr != "cuda":
            tensor = tensor.func.value
        else:
            break
    if isinstance(tensor, ast.Call):
        return isinstance(tensor.func, ast.Attribute)
    if _ON_DEVICE.search(last_word(tensor)):
        return True
    asked = f"{ast.unparse(tensor)}.is_cuda"
    return any(ast.unparse(test) == asked for test in tests_around(facts, site.statement))
