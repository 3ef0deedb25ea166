"""TL502 nonblocking-read: a copy to the host that is read while it may still be on its way."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec.structs import replace

from torchlint.catalogue.values import Kind
from torchlint.checks.devices.host_copies import HostCopy
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit, shortened, spelling_of
from torchlint.diagnostics import Confidence
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.definitions import definitions_of
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.tracker import follow
from torchlint.facts.flow.values import Definition, Kept, Move, Value
from torchlint.facts.scopes import CallSite
from torchlint.facts.tensors.devices import Device, devices_named, is_on_cpu
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tree import is_method_call, last_word, method_called
from torchlint.facts.values import argument_of
from torchlint.project.index import Project

_CODE = "TL502"
_READ = "here its values are read"
_METHODS = frozenset({"to", "copy_"})
_ON_DEVICE = re.compile(r"(?:^|_)(?:gpu|cuda|device|dev|d)(?:_|$)")
"""Names of tensors that lie on a device: `logits_gpu`, `device_splits`."""
_OF_HOST = re.compile("cpu|host")
_MAKERS = frozenset(f"torch.{kind}{like}" for kind in ("empty", "zeros", "ones", "full") for like in ("", "_like")) | {
    "torch.empty_strided"
}


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Another file may read the copy."""
    if draft.values["reading"]:
        return draft
    sink = project.flows.sink_of(draft.exits, HostCopy)
    if sink is None:
        return None
    return replace(draft, values={**draft.values, "reading": shortened(sink.what)}, related=sink.told(_READ))


@check(codes=(_CODE,), triggers=Triggers(methods=_METHODS), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """The copy, with the place that reads it."""
    call = visit.call
    is_named = any(keyword.arg == "non_blocking" for keyword in call.keywords) or len(call.args) > 1
    if not is_named or not _is_copy_to_host(visit.facts, visit.site):
        return
    flow = follow(HostCopy(visit.facts), *_starts(call))
    if flow.sink is None:
        if flow.exits:
            yield Finding(_CODE, visit.node, {"spelling": spelling_of(visit), "reading": ""}, exits=tuple(flow.exits))
        return
    is_direct = visit.facts.index.statement_of(flow.sink.node) is visit.statement
    values = {"spelling": spelling_of(visit), "reading": shortened(flow.sink.what)}
    yield Finding(
        _CODE,
        visit.node,
        values,
        "direct" if is_direct else "default",
        confidence=Confidence.HIGH if is_direct else None,
        related=(*flow.trace, (flow.sink.node, _READ)),
    )


def _starts(call: ast.Call) -> Iterator[Move]:
    """What holds the copy: the result of the call, and the tensor that `copy_` changes."""
    yield Value(call)
    target = call.func
    assert isinstance(target, ast.Attribute)
    if target.attr == "copy_":
        holder = target.value
        while isinstance(holder, ast.Subscript):
            holder = holder.value
        yield Kept(holder, Value(call), in_place=True)


def _is_copy_to_host(facts: FileFacts, site: CallSite) -> bool:
    """Whether a call evidently copies from a device to the host without waiting."""
    call = site.node
    if not isinstance(call.func, ast.Attribute):
        return False
    # `copy_(src, non_blocking)`, `to(device, dtype, non_blocking)`
    flag = argument_of(call, "non_blocking", 2 if call.func.attr == "to" else 1)
    if not facts.value(flag, site.scope).only(bool):
        return False
    if call.func.attr == "to":
        # `device`, which happens to be the CPU, moves nothing.
        device = argument_of(call, "device", 0)
        is_named = isinstance(device, ast.Name) and not _OF_HOST.search(device.id.lower())
        is_to_host = not is_named and devices_named(facts, device, site.scope) is Device.CPU
        tensor, scope = call.func.value, site.scope
        may_be_tensor = is_to_host and kind_of(facts, tensor, scope) in (Kind.TENSOR, Kind.UNKNOWN)
        return may_be_tensor and not is_on_cpu(facts, tensor, scope)
    source = argument_of(call, "src", 0)
    if call.func.attr != "copy_" or source is None or not _is_pinned(facts, call.func.value, site.scope):
        return False
    return _is_on_device(facts, source, site)


def _is_pinned(facts: FileFacts, tensor: ast.expr, scope: int) -> bool:
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
