"""Which calls wait for the device, and which evidently do not: the rest may."""

from __future__ import annotations

import ast
import enum
import re
from typing import TYPE_CHECKING

from torchlint.facts.tensors.devices import is_dtype
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.tree import last_word
from torchlint.facts.values import all_given

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_WAITING = re.compile(r"sync|wait|barrier|query|join|fence|flush|block_until|result|await|finish")
_MOVING = frozenset({"to", "cuda", "copy_", "pin_memory", "xpu", "tensor", "as_tensor"})
"""These wait for all that the stream was given before, unless they are told not to."""
_QUIET_METHODS = frozenset(
    [
        *(
            "append",
            "extend",
            "insert",
            "items",
            "keys",
            "values",
            "get",
            "pop",
            "setdefault",
            "clear",
            "add",
            "format",
        ),
        *("update", "set_description", "set_postfix", "close", "split", "startswith", "endswith", "strip", "lower"),
        *("debug", "info", "warning", "time", "perf_counter", "record", "record_stream", "numpy", "astype", "write"),
    ]
)
_QUIET_HOMES = (
    "torch",
    "torch.profiler",
    "torch.nn.functional",
    "math",
    "time",
    "numpy",
    "gc",
    "os",
    "os.path",
    "pathlib",
    "collections",
)
_QUIET = frozenset({"torch.cuda.Event", "torch.cuda.Stream", "torch.cuda.stream", "torch.cuda.current_stream"})


class Wait(enum.Enum):
    NO = "no"
    PERHAPS = "perhaps"
    YES = "yes"


def wait_of(facts: FileFacts, call: ast.Call, scope: int) -> Wait:
    """Whether a call that has nothing to do with the copy waits until the device has finished it."""
    short = last_word(call.func)
    called = method_named(short)
    if _WAITING.search(short.lower()) or called.waits == "always":
        return Wait.YES
    if short in _MOVING:
        return Wait.NO if _goes_on(facts, call, scope) else Wait.YES
    name = facts.names(call.func, scope).only or ""
    home = name.rpartition(".")[0]
    if name == "builtins.print":
        is_text = all(isinstance(argument, ast.Constant) for argument in call.args)
        return Wait.NO if is_text else Wait.PERHAPS
    if name in _QUIET or home in ("builtins", *_QUIET_HOMES):
        return Wait.NO
    is_method = isinstance(call.func, ast.Attribute) and (not name or "()." in name)
    is_quiet = (called.reads or called.describes or called.carries) and not called.waits and not called.device
    return Wait.NO if is_method and (is_quiet or short in _QUIET_METHODS) else Wait.PERHAPS


def _goes_on(facts: FileFacts, call: ast.Call, scope: int) -> bool:
    """`x.to(device, non_blocking=True)`; `x.to(torch.float32)`, which moves nothing."""
    for keyword in call.keywords:
        if keyword.arg == "non_blocking":
            return facts.value(keyword.value, scope).constants == (True,)
    if any(keyword.arg == "device" for keyword in call.keywords):
        return False
    given = all_given(call)
    return bool(given) and all(is_dtype(facts, argument, scope) for argument in given)
