"""The registry's claims about torch's operators, as far as a machine without a GPU can see them, run on the torch
that is installed. The rows are those of the installed release: a torch that changes a fact fails here.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.catalogue.tracing import INSTALLED, Trace, generator, on_cpu, on_fake_cuda, refusal
from tests.hardware.case import torch
from tests.hardware.every import CASES
from tests.hardware.measure import determinism, observe
from tests.hardware.verdict import ALERT
from torchlint.catalogue import load_catalogue
from torchlint.catalogue.registry import Operator, Row
from torchlint.catalogue.versions import VersionRange, parse_minor

pytestmark = pytest.mark.torch

OPERATORS = {operator.id: operator for operator in load_catalogue().operators if operator.library == "torch"}
RELEASE = parse_minor(torch.__version__)

OTHER_DEVICES = {
    # Which kernel attention takes is decided by the device: that of the CPU has a name of its own.
    "aten._scaled_dot_product_flash_attention.default": "CUDA",
    "aten._scaled_dot_product_flash_attention_backward.default": "CUDA",
    "aten._flash_attention_backward.default": "CUDA",
    "aten._scaled_dot_product_efficient_attention.default": "CUDA",
    "aten._scaled_dot_product_efficient_attention_backward.default": "CUDA",
    "aten._efficient_attention_backward.default": "CUDA",
    "aten._scaled_dot_product_cudnn_attention.default": "cuDNN",
    "aten._scaled_dot_product_cudnn_attention_backward.default": "cuDNN",
    "aten._cudnn_attention_backward.default": "cuDNN",
    # The CPU takes oneDNN or loops of its own.
    "aten.cudnn_convolution.default": "cuDNN",
    "aten.miopen_convolution.default": "ROCm",
    "aten._cudnn_rnn.default": "cuDNN",
    "aten._cudnn_rnn_backward.default": "cuDNN",
    "aten.miopen_rnn.default": "ROCm",
    "aten.cudnn_grid_sampler_backward.default": "cuDNN",
}
INSIDE = {
    # Called by other operators in C++, below what a trace sees.
    ("embedding_bag_max", "aten._embedding_bag_dense_backward.default"): "called by _embedding_bag_backward",
    ("embedding_bag_mps", "aten._embedding_bag_dense_backward.default"): "called by _embedding_bag_backward",
    ("sparse_mm", "aten._sparse_mm.default"): "made of _sparse_addmm before anything is dispatched",
    ("take_backward", "aten.put_.default"): "under a trace the backward pass writes a new tensor: put",
}
OTHER_RELEASES: dict[str, str] = {}
"""Operators that only some releases have, and which."""

OTHER_KERNELS = {("cudnn_rnn", "nn.RNN"), ("cudnn_rnn", "nn.GRU")}
"""Calls that the CPU makes of other operators: cells in a loop."""

RUNNABLE = [(identity, call) for identity, case in CASES.items() if "cpu" in case.devices for call in case.calls]
LISTED = [(identity, name) for identity, operator in OPERATORS.items() for name in operator.aten]
TRACED = [identity for identity, operator in OPERATORS.items() if set(operator.aten) - OTHER_DEVICES.keys()]


def row_for(identity: str, device: str = "cpu") -> Row | None:
    return OPERATORS[identity].row_for(device, RELEASE)


def says(identity: str, device: str, *statuses: str) -> bool:
    row = row_for(identity, device)
    return row is not None and row.under_mode in statuses


REFUSED = [(identity, call) for identity, call in RUNNABLE if says(identity, "cpu", "raises")]
STEADY = [
    (identity, call)
    for identity, call in RUNNABLE
    if says(identity, "cpu", "deterministic_alternative", "always_deterministic")
]


def test_the_cpu_has_something_to_show() -> None:
    assert {identity for identity, _ in REFUSED} >= {"put_", "max_unpool"}, INSTALLED
    assert {identity for identity, _ in STEADY} >= {"index_put_accumulate", "uninitialized_memory"}, INSTALLED


@pytest.mark.parametrize(("identity", "call"), RUNNABLE)
def test_the_mode_refuses_on_the_cpu_what_the_registry_says(identity: str, call: str) -> None:
    raised, _ = refusal(CASES[identity], call, "on")
    if (identity, call) in REFUSED:
        assert raised.partition(ALERT)[0] in OPERATORS[identity].alerts, f"raised `{raised}` {INSTALLED}"
    else:
        assert raised == "", f"the registry has no such row for the CPU {INSTALLED}"


@pytest.mark.parametrize(("identity", "call"), REFUSED)
def test_warn_only_warns_of_what_the_mode_refuses(identity: str, call: str) -> None:
    raised, warned = refusal(CASES[identity], call, "warn_only")
    assert raised == "", INSTALLED
    names = {text.partition(ALERT)[0] for text in warned if ALERT in text}
    assert names & set(OPERATORS[identity].alerts), f"warned {warned} {INSTALLED}"


@pytest.mark.parametrize(("identity", "call"), STEADY)
def test_what_has_an_alternative_does_not_vary_under_the_mode(identity: str, call: str) -> None:
    case = CASES[identity]
    inputs = case.build("cpu", "large", generator())
    with determinism("on"):
        seen = observe(lambda: case.run(call, inputs), 4)
    assert (seen.raised, seen.diverged) == ("", 0), INSTALLED


@functools.cache
def traced(identity: str) -> Trace:
    """All calls of the case together; on fake CUDA tensors where the CPU cannot run it."""
    case = CASES[identity]
    on = on_cpu if "cpu" in case.devices else functools.partial(on_fake_cuda, mode="off")
    found = [on(identity, call) for call in case.calls]
    return Trace(
        frozenset().union(*(trace.forward for trace in found)), frozenset().union(*(trace.backward for trace in found))
    )


@pytest.mark.parametrize(("identity", "name"), LISTED)
def test_an_operator_is_reached(identity: str, name: str) -> None:
    hidden = OTHER_DEVICES.get(name) or INSIDE.get((identity, name)) or OTHER_RELEASES.get(name)
    if name in OTHER_DEVICES and torch.version.cuda:
        return  # a build that has these kernels may choose them for fake tensors
    reached = name in traced(identity).names
    assert reached is (hidden is None), f"{sorted(traced(identity).names)} {INSTALLED}"


@pytest.mark.parametrize(("identity", "_"), [(identity, "") for identity in TRACED])
def test_an_operator_is_reached_in_the_pass_that_varies(identity: str, _: str) -> None:
    operator, trace = OPERATORS[identity], traced(identity)
    assert trace.forward & set(operator.aten), INSTALLED
    hidden = {name for name in OTHER_DEVICES if "backward" in name} & set(operator.aten)
    if operator.direction != "forward" and not hidden:
        assert trace.backward & set(operator.aten), f"{sorted(trace.backward)} {INSTALLED}"


@pytest.mark.parametrize(("identity", "call"), [p for p in RUNNABLE if p[0] in TRACED and p not in OTHER_KERNELS])
def test_every_call_reaches_an_operator_of_its_entry(identity: str, call: str) -> None:
    names = on_cpu(identity, call).names
    assert names & set(OPERATORS[identity].aten), f"{sorted(names)} {INSTALLED}"


DECOMPOSED = {
    "replication_pad1d": {"aten._unsafe_index.Tensor"},
    "replication_pad2d": {"aten._unsafe_index.Tensor"},
    "replication_pad3d": {"aten._unsafe_index.Tensor"},
    "upsample_bilinear2d": {"aten._unsafe_index.Tensor"},
    "upsample_trilinear3d": {"aten._unsafe_index.Tensor"},
    "upsample_bicubic2d": {"aten._unsafe_index.Tensor"},
    # The rest of it, a gather, asks for a real device.
    "max_pool3d_with_indices": {"aten.constant_pad_nd.default", "aten.arange.default"},
}
"""What Python puts in the place of an operator of CUDA while the mode is on, in the releases that have it."""
PYTHON_CHOOSES = [
    (identity, call)
    for identity, case in CASES.items()
    if identity.startswith(("replication_", "reflection_", "upsample_", "interpolate_", "max_pool3d"))
    for call in case.calls
]


@pytest.mark.parametrize(("identity", "call"), PYTHON_CHOOSES)
def test_the_mode_decomposes_on_cuda_what_has_a_python_alternative(identity: str, call: str) -> None:
    forward = {name for name in OPERATORS[identity].aten if "backward" not in name}
    off, on = (on_fake_cuda(identity, call, mode) for mode in ("off", "on"))
    assert off.forward & forward, f"{sorted(off.forward)} {INSTALLED}"
    if identity in DECOMPOSED and says(identity, "cuda", "deterministic_alternative"):
        assert not on.forward & forward, INSTALLED
        assert on.forward >= DECOMPOSED[identity], f"{sorted(on.forward)} {INSTALLED}"
    else:
        assert on.forward & forward, f"{sorted(on.forward)} {INSTALLED}"


@pytest.mark.parametrize("identity", ["histc", "histc_integer", "median_dim", "kthvalue", "cumsum", "topk_ties"])
def test_fake_kernels_of_cuda_refuse_what_the_registry_says(identity: str) -> None:
    for call in CASES[identity].calls:
        error = on_fake_cuda(identity, call, "on").error
        if says(identity, "cuda", "raises"):
            assert error.partition(ALERT)[0] in OPERATORS[identity].alerts, f"`{error}` {INSTALLED}"
        else:
            assert error == "", INSTALLED


def test_tracing_refuses_mode_by_the_alert_of_median() -> None:
    error = on_fake_cuda("mode", "torch.mode", "on").error
    assert error.partition(ALERT)[0] == "median CUDA with indices output", INSTALLED


@pytest.mark.parametrize("name", sorted({name for operator in OPERATORS.values() for name in operator.aten}))
def test_an_overload_exists(name: str) -> None:
    namespace, packet, overload = name.split(".")
    exists = hasattr(getattr(getattr(torch.ops, namespace), packet, None), overload)
    assert exists is (RELEASE in VersionRange.parse(OTHER_RELEASES.get(name, ""))), INSTALLED


ALERTS = dict(
    line.split("\t")
    for line in Path(__file__).with_name("alert_strings.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
)
WITH_ALERTS = [o for o in load_catalogue().operators if o.library in ("torch", "torchvision")]


def claiming(alert: str) -> list[Operator]:
    return [operator for operator in WITH_ALERTS if alert in operator.alerts]


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_is_claimed_by_these_entries(alert: str) -> None:
    assert sorted(operator.id for operator in claiming(alert)) == ALERTS[alert].split()


def test_no_alert_is_left_out_of_the_list() -> None:
    assert {alert for operator in WITH_ALERTS for alert in operator.alerts} == ALERTS.keys()


def test_every_alert_in_torch_s_python_is_claimed() -> None:
    """Fake kernels and decompositions name the alerts of the kernels that they stand for."""
    found: set[str] = set()
    for name in ("_meta_registrations.py", "_decomp/decompositions.py", "_refs/__init__.py", "nn/functional.py"):
        source = Path(torch.__file__).parent.joinpath(name).read_text(encoding="utf-8")
        found.update(re.findall(r'alert_not_deterministic\(f?"([^"]+)"', source))
    spelled = {alert.replace("{dim}", dim) for alert in found for dim in ("2", "3")}
    assert spelled, f"nothing found: is the function called otherwise {INSTALLED}?"
    assert {alert for alert in spelled if not claiming(alert)} == set(), INSTALLED
