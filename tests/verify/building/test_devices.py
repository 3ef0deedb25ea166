from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from torchlint.recording.loading.devices import at_hand

pytestmark = pytest.mark.torch


def test_tensors_are_made_and_moved_on_the_device_at_hand() -> None:
    with at_hand("cpu"):
        made = [
            torch.zeros(2, device="cuda"),
            torch.ones(2, device=torch.device("cuda:1")),
            torch.arange(3, device=0),
            torch.ones(2).cuda(),
            torch.ones(2).cuda(0, non_blocking=True),
            torch.ones(2).to("cuda"),
            torch.ones(2).to(device="cuda", dtype=torch.float64),
            torch.ones(2).to(0),
            torch.ones(2).new_zeros(2, device="cuda:0"),
            torch.ones(2).pin_memory(),
            torch.zeros(2, pin_memory=True),
            torch.nn.Linear(2, 2, device="cuda").weight,
            torch.nn.Linear(2, 2).cuda().weight,
            torch.nn.Linear(2, 2).to("cuda").weight,
            torch.cuda.FloatTensor(2),  # type: ignore[attr-defined] # made when CUDA is asked for
            torch.ones(2).type("torch.cuda.FloatTensor"),
            torch.rand(2, generator=torch.Generator("cuda").manual_seed(1)),
        ]
    assert {tensor.device.type for tensor in made} == {"cpu"}


def test_other_devices_and_types_are_left_alone() -> None:
    with at_hand("cpu"):
        assert torch.zeros(2, device="meta").is_meta
        assert torch.ones(2).to(torch.float16).dtype == torch.float16
        assert torch.ones(2).to(torch.zeros(1, dtype=torch.int8)).dtype == torch.int8


def test_streams_events_and_counters_do_not_fail() -> None:
    with at_hand("cpu"):
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        torch.cuda.set_device(0)
        torch.cuda.reset_peak_memory_stats()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream), torch.cuda.device(0):
            torch.cuda.current_stream().wait_stream(stream)
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        assert torch.cuda.current_device() == 0
        assert torch.cuda.max_memory_allocated() == 0


@pytest.mark.filterwarnings("ignore:.*CUDA is not available")
def test_mixed_precision_for_cuda_does_not_fail() -> None:
    with at_hand("cpu"), torch.autocast("cuda"), torch.amp.autocast("cuda"):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32


def test_a_default_device_is_rewritten() -> None:
    try:
        with at_hand("cpu"):
            torch.set_default_device("cuda")
            assert torch.zeros(2).device.type == "cpu"
        with at_hand("cpu"), torch.device("cuda"):
            assert torch.zeros(2).device.type == "cpu"
    finally:
        torch.set_default_device(None)


def test_nothing_is_left_behind() -> None:
    before = (torch.Generator, torch.cuda.synchronize, torch.cuda.Stream, torch.set_default_device)
    with at_hand("cpu"):
        assert isinstance(torch.Generator(), before[0])
        assert isinstance(torch.default_generator, torch.Generator)
    assert (torch.Generator, torch.cuda.synchronize, torch.cuda.Stream, torch.set_default_device) == before
    assert not torch.overrides._get_current_function_mode_stack()


def test_on_a_cuda_device_nothing_is_rewritten() -> None:
    generator = torch.Generator
    with at_hand("cuda"):
        assert torch.Generator is generator
