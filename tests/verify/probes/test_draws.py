"""Draws: generators that listen to no seed, seeds in loops, dropout in evaluation, checkpoints that draw anew."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from tests.verify.flagged import context, finding_in, floats
from torchlint.recording.errors import CannotRun
from torchlint.recording.messages import Answer, Code, ProbedFinding, Request, Target
from torchlint.recording.probe_context import ProbeContext
from torchlint.recording.probes import draws, repeat

pytestmark = pytest.mark.torch


def drawn(code: str, text: str, snippet: str, folder: Path) -> Answer:
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    flagged = ProbedFinding(index=0, code=code, line=1, end_line=1, probes=("draws",), snippet=snippet)
    request = Request(
        code=Code(path=str(path), module="program", text=text),
        target=Target(kind="statement", name="line 1"),
        findings=(flagged,),
    )
    return draws.probe(ProbeContext(request, "cpu"), flagged)


@pytest.mark.parametrize(
    ("imports", "expression"),
    [
        ("import numpy as np", "np.random.default_rng()"),
        ("from numpy.random import RandomState", "RandomState()"),
        ("import random", "random.Random()"),
    ],
)
def test_a_generator_without_a_seed_listens_to_no_global_one(imports: str, expression: str, tmp_path: Path) -> None:
    found = drawn("TL304", imports, expression, tmp_path)
    assert found.verdict == "CONFIRMED"
    assert found.evidence["first"] != found.evidence["other"]


@pytest.mark.parametrize(
    ("imports", "expression"),
    [
        ("import numpy as np", "np.random.default_rng(3)"),
        ("import random", "random.Random(3)"),
        ("import torch", "torch.Generator()"),
        ("import torch", "torch.randperm(20)"),
    ],
)
def test_what_follows_a_seed_is_not_confirmed(imports: str, expression: str, tmp_path: Path) -> None:
    assert drawn("TL304", imports, expression, tmp_path).verdict == "NOT REPRODUCED"


def test_what_cannot_be_drawn_from_says_so(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match="nothing can be drawn"):
        drawn("TL304", "class Augment:\n    pass", "Augment()", tmp_path)


def test_an_expression_that_fails_alone_says_why(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match="NameError"):
        drawn("TL304", "", "make_rng()", tmp_path)


def test_a_seed_in_a_loop_gives_each_round_the_same_numbers(tmp_path: Path) -> None:
    found = drawn("TL311", "import torch", "torch.manual_seed(0)", tmp_path)
    assert found.verdict == "CONFIRMED"
    assert "from torch" in found.reason
    assert "numpy" not in found.reason


def test_a_call_that_seeds_nothing_is_refuted(tmp_path: Path) -> None:
    found = drawn("TL311", "def set_seed(seed):\n    pass", "set_seed(0)", tmp_path)
    assert found.verdict == "REFUTED"


class Always(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(16, 16)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return functional.dropout(self.body(values))  # flagged


class Switched(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(16, 16)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return functional.dropout(self.body(values), training=self.training)  # flagged


def test_dropout_that_goes_on_in_evaluation_is_confirmed_at_its_line() -> None:
    flagged = finding_in(Always)
    found = repeat.probe(context(Always, with_code(flagged, "TL309"), floats(4, 16)), with_code(flagged, "TL309"))
    assert found.verdict == "CONFIRMED"
    assert "draws there" in found.reason


def test_dropout_that_stops_in_evaluation_is_not() -> None:
    flagged = with_code(finding_in(Switched), "TL309")
    found = repeat.probe(context(Switched, flagged, floats(4, 16)), flagged)
    assert found.verdict == "NOT REPRODUCED"


class Checkpointed(nn.Module):
    def __init__(self, *, drops: bool, reentrant: bool) -> None:
        super().__init__()
        self.reentrant = reentrant
        self.first = nn.Linear(16, 16)
        self.body = nn.Sequential(nn.Linear(16, 16), nn.Dropout(0.5 if drops else 0.0))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        hidden = self.first(values)
        return checkpoint(self.body, hidden, preserve_rng_state=False, use_reentrant=self.reentrant)  # type: ignore[no-any-return]  # flagged


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpoint_that_draws_anew_has_other_gradients(*, reentrant: bool) -> None:
    flagged = with_code(finding_in(Checkpointed), "TL310")
    made = context(lambda: Checkpointed(drops=True, reentrant=reentrant), flagged, floats(4, 16))
    assert repeat.probe(made, flagged).verdict == "CONFIRMED"


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpoint_without_draws_is_not_confirmed(*, reentrant: bool) -> None:
    flagged = with_code(finding_in(Checkpointed), "TL310")
    made = context(lambda: Checkpointed(drops=False, reentrant=reentrant), flagged, floats(4, 16))
    assert repeat.probe(made, flagged).verdict == "NOT REPRODUCED"


def with_code(flagged: ProbedFinding, code: str) -> ProbedFinding:
    return ProbedFinding(index=0, code=code, line=flagged.line, end_line=flagged.end_line, probes=("repeat",))


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 32), nn.Dropout(0.5), nn.Linear(32, 2))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return self.layers(values)  # type: ignore[no-any-return]


def classify(batch: torch.Tensor) -> torch.Tensor:
    model = Classifier()
    with torch.no_grad():
        return model(batch)  # type: ignore[no-any-return]  # flagged


def classify_in_evaluation(batch: torch.Tensor) -> torch.Tensor:
    model = Classifier().eval()
    with torch.no_grad():
        return model(batch)  # type: ignore[no-any-return]  # flagged


def test_a_prediction_that_drops_units_is_confirmed() -> None:
    flagged = with_code(finding_in(classify), "TL314")
    found = repeat.probe(context(lambda: classify, flagged, floats(4, 8)), flagged)
    assert found.verdict == "CONFIRMED"
    assert "would not in evaluation" in found.reason


def test_a_prediction_in_evaluation_is_not() -> None:
    flagged = with_code(finding_in(classify_in_evaluation), "TL314")
    found = repeat.probe(context(lambda: classify_in_evaluation, flagged, floats(4, 8)), flagged)
    assert found.verdict == "NOT REPRODUCED"


class Sampler(nn.Module):
    """Noise is what it is for, in evaluation as well."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(8, 8)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return self.body(values + torch.randn_like(values))  # type: ignore[no-any-return]


def sample(batch: torch.Tensor) -> torch.Tensor:
    model = Sampler()
    with torch.no_grad():
        return model(batch)  # type: ignore[no-any-return]  # flagged


def test_noise_that_a_model_adds_in_evaluation_as_well_is_not_confirmed() -> None:
    flagged = with_code(finding_in(sample), "TL314")
    assert repeat.probe(context(lambda: sample, flagged, floats(4, 8)), flagged).verdict == "NOT REPRODUCED"


def test_the_mode_of_a_class_is_decided_by_who_calls_it() -> None:
    flagged = with_code(finding_in(Always), "TL314")
    with pytest.raises(CannotRun, match="the caller of this class decides its mode"):
        repeat.probe(context(Always, flagged, floats(4, 16)), flagged)
