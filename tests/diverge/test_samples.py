"""The few elements of a tensor that are written beside its digest."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")


def sample_of(tensor: Any) -> tuple[float, ...]:  # noqa: ANN401 - a tensor, where there is a torch
    from torchlint.recording.journal import samples

    return samples.sample_of(tensor)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_a_few_elements_at_even_distances_are_sampled(dtype: str) -> None:
    tensor = torch.arange(32.0).to(getattr(torch, dtype))
    assert sample_of(tensor) == (0, 4, 8, 12, 16, 20, 24, 28)
    assert sample_of(tensor[:3]) == (0, 1, 2)


@pytest.mark.parametrize(
    "changed",
    ["t.t()", "t[:, ::2]", "t[3:, 2:5]", "t.expand(2, 6, 8)", "t[None, None].to(memory_format=torch.channels_last)"],
)
def test_a_view_is_sampled_in_its_own_order(changed: str) -> None:
    view = eval(changed, {"t": torch.arange(48.0).reshape(6, 8), "torch": torch})  # noqa: S307 - written above
    assert sample_of(view) == sample_of(view.contiguous().clone(memory_format=torch.contiguous_format))


def test_what_has_no_elements_of_its_own_is_not_sampled() -> None:
    for each in (torch.arange(3), torch.empty(0), torch.eye(3).to_sparse(), torch.empty(3, device="meta")):
        assert sample_of(each) == ()


@pytest.mark.parametrize("count", [1, 7, 8, 9, 1000])
@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_a_buffer_of_a_device_gives_the_sample_that_the_cpu_gives(count: int, dtype: str) -> None:
    from torchlint.recording.journal.samples import DeviceSamples

    tensors = [torch.randn(count).to(getattr(torch, dtype)) for _ in range(5)]
    buffer = DeviceSamples(torch.device("cpu"))
    pending = [buffer.of(each) for each in tensors]
    assert [each.fetched() for each in pending] == [sample_of(each) for each in tensors]
    buffer.reset()
    assert buffer.of(tensors[4]).fetched() == sample_of(tensors[4])


def test_a_full_buffer_is_followed_by_another() -> None:
    from torchlint.recording.journal import samples

    buffer = samples.DeviceSamples(torch.device("cpu"))
    for _ in range(samples._SLOTS):
        assert not buffer.is_full
        buffer.of(torch.ones(1))
    assert buffer.is_full
