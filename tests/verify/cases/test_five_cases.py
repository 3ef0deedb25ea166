"""The five programs that torchlint began with, each run through the command."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from tests.verify.cases.running import Case
from torchlint.report.plots import plots_of
from torchlint.report.verify_words import curve_words

pytestmark = pytest.mark.torch


def test_replicate_padding_is_traced_where_a_gradient_flows_and_not_in_the_first_layer(tmp_path: Path) -> None:
    case = Case.copied("cifar", tmp_path)
    block, stem = case.results("cifar.py")
    assert (block["code"], block["verdict"], block["probe"]) == ("TL101", "TRACED", "trace")
    evidence = block["evidence"]
    assert evidence["operator"] == "aten.replication_pad2d_backward.default"
    assert evidence["predicts"] == "cuda"
    assert evidence["forward_line"]["line"] == case.line_of("cifar.py", "return F.relu(self.norm(self.conv(x)))")
    assert evidence["constructor_line"]["line"] == case.line_of("cifar.py", "self.conv = nn.Conv2d(")
    assert sorted(call["module"] for call in evidence["all_calls"]) == ["body.0.conv", "body.1.conv", "body.2.conv"]
    assert stem["line"] == case.line_of("cifar.py", "self.stem = ")
    assert (stem["verdict"], stem["reason"]) == (
        "NOT REPRODUCED",
        "it ran forward, but no backward pass flows through it here",
    )


def test_a_gan_drifts_apart_step_by_step_and_module_by_module(tmp_path: Path) -> None:
    case = Case.copied("gan", tmp_path)
    (result,) = case.results("gan.py::train_step", "--probe", "devices")
    assert (result["target"], result["verdict"]) == ("train_step", "VARIES")
    assert "trained, float32 and float64 are" in result["reason"]
    curve, of_threads = result["evidence"]["curve"], result["evidence"]["curve_of_threads"]
    assert (curve["pair"], of_threads["pair"]) == ("float32 and float64", "1 and 2 threads")
    assert set(curve["modules"]) == {
        *(f"generator.{part}" for part in ("seed", "norm1", "grow", "norm2", "paint")),
        *(f"critic.{part}" for part in ("look", "think", "norm", "judge")),
    }
    steps = len(curve["steps"])
    assert curve["steps"] == list(range(1, steps + 1))
    assert 2 <= steps <= 60
    assert {len(line) for line in curve["modules"].values()} == {steps}
    assert curve["total"] == [max(row) for row in zip(*curve["modules"].values(), strict=True)]
    assert 0 < curve["total"][0] < curve["total"][-1]
    assert curve["total"][0] < 1e-5
    _is_told_and_drawn(result["evidence"])


def _is_told_and_drawn(evidence: dict[str, object]) -> None:
    """As the terminal and the page of the command do; a second run would cost as much as the first."""
    assert curve_words(evidence["curve"]).startswith("float32 and float64: ")
    figures = plots_of(evidence).figures
    captions = {figure.caption for figure in figures}
    assert {
        f"How far two trainings are apart ({pair})" for pair in ("float32 and float64", "1 and 2 threads")
    } <= captions
    drawn = "".join(part for figure in figures for part in figure.drawing)
    assert drawn.count("<title>generator.norm1</title>") == 2


def test_unseeded_shuffling_is_confirmed_and_a_seed_refutes_it(tmp_path: Path) -> None:
    case = Case.copied("digits", tmp_path)
    (result,) = case.results("digits.py")
    assert (result["code"], result["verdict"]) == ("TL301", "CONFIRMED")
    assert result["evidence"]["unseeded"] == ["numpy"]
    line = case.line_of("digits.py", "np.random.permutation")
    assert result["reason"].startswith(f"line {line} draws from numpy before any seed, and `model` differs")
    file = case.folder / "digits.py"
    text = file.read_text(encoding="utf-8")
    seeded = text.replace("    torch.manual_seed", "    np.random.seed(0)\n    torch.manual_seed")
    file.write_text(seeded, encoding="utf-8")
    assert case.results("digits.py") == []


def test_a_convolution_on_other_lengths_is_judged_as_torch_computes_here(tmp_path: Path) -> None:
    """Which lengths differ is this processor's matter: the probe must say what torch does here."""
    case = Case.copied("sequence", tmp_path)
    (result,) = case.results("encoder.py::Encoder", "--probe", "shapes")
    lengths = [each for each in result["evidence"]["sizes"] if each["what"] == "length" and each["dimension"] == 2]
    assert [each["sizes"] for each in lengths] == [[8, 9], [7, 9]]
    told = {tuple(each["sizes"]): bool(each["outputs"][""]["differing"]) for each in lengths}
    assert told == {(short, 9): _differs(short, 9) for short in (8, 7)}
    varies = any(output["differing"] for each in result["evidence"]["sizes"] for output in _outputs(each))
    assert result["verdict"] == ("VARIES" if varies else "NOT REPRODUCED")


def _outputs(size: dict[str, dict[str, dict[str, int]]]) -> list[dict[str, int]]:
    return list(size.get("outputs", {}).values())


def _differs(short: int, long: int) -> bool:
    torch.manual_seed(0)
    layer = nn.Conv1d(16, 16, 5).eval()
    values = torch.randn(1, 16, long, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        whole, prefix = layer(values), layer(values[..., :short].contiguous())
    return not torch.equal(whole[..., : prefix.shape[-1]], prefix)


def test_a_bias_before_batchnorm_is_confirmed_and_before_a_frozen_one_refuted(tmp_path: Path) -> None:
    case = Case.copied("norm", tmp_path)
    confirmed, refuted = case.results("resnet.py")
    assert (confirmed["line"], confirmed["verdict"]) == (case.line_of("resnet.py", "self.conv1 ="), "CONFIRMED")
    assert confirmed["evidence"]["output_change"] < 1e-10 < confirmed["evidence"]["output_change_by_weight"]
    assert (refuted["line"], refuted["verdict"]) == (case.line_of("resnet.py", "self.conv = "), "REFUTED")
    assert refuted["evidence"]["output_change"] > 1e-3
    assert refuted["reason"].startswith("the bias of `stem.conv` matters in train mode")
