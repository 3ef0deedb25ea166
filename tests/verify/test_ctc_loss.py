"""A CTC loss whose lengths lie on another device than its values, which is made believe here."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from torchlint.recording.tracing import ctc_loss

pytestmark = pytest.mark.torch


class OnGpu(torch.Tensor):
    """Values that say they are on a GPU."""

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return torch.device("cuda", 0)


def asked(monkeypatch: pytest.MonkeyPatch, values: torch.Tensor) -> tuple[list[Any], torch.Tensor]:
    """What torch is called with for a loss of these values, and the loss."""
    plain: Any = torch.ctc_loss
    calls: list[Any] = []

    def spied(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        calls.append(args[2:4])
        return plain(*args, **kwargs)

    monkeypatch.setattr(torch, "ctc_loss", spied)
    ctc_loss.take_lengths_as_numbers()
    return calls, torch.nn.functional.ctc_loss(values, *LABELS)


LABELS = (torch.tensor([[1, 2, 1], [2, 1, 2]]), torch.full((2,), 6), torch.full((2,), 3))
VALUES = torch.randn(6, 2, 4, generator=torch.Generator().manual_seed(0)).log_softmax(-1)


def test_lengths_on_another_device_go_to_torch_as_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, loss = asked(monkeypatch, VALUES.as_subclass(OnGpu))
    assert calls == [([6, 6], [3, 3])]
    assert torch.equal(loss.as_subclass(torch.Tensor), torch.nn.functional.ctc_loss(VALUES, *LABELS))


def test_lengths_on_the_same_device_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, _ = asked(monkeypatch, VALUES)
    assert all(isinstance(each, torch.Tensor) for each in calls[0])
