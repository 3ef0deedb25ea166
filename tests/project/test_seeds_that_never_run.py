"""What TL301 says of a seed that the file's own values keep from running."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.programs import check

TRAINING = """
model = torch.nn.Linear(2, 1)
model(torch.ones(3, 2)).sum().backward()
torch.optim.SGD(model.parameters(), 0.1).step()
"""


@pytest.mark.parametrize(
    ("guard", "reason"),
    [
        ("random_seed = 0\nif random_seed:", "`random_seed` is 0"),
        ("SEED = None\nif SEED is not None:", "`SEED` is None"),
        ("DEBUG = False\nif DEBUG:", "`DEBUG` is False"),
        ("if False:", "its test is `False`"),
        ("if 0:", "its test is `0`"),
    ],
)
def test_the_reason_is_told(guard: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(f"import torch\n\n{guard}\n    torch.manual_seed(3)\n{TRAINING}")
    (found,) = [one for one in check(tmp_path).diagnostics if one.code == "TL301"]
    assert f"never runs: {reason})" in found.message


@pytest.mark.parametrize("guard", ["seed = 3\nif seed:", "seed = 0\nif seed is not None:", "if True:"])
def test_a_seed_whose_test_holds_is_one(guard: str, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(f"import torch\n\n{guard}\n    torch.manual_seed(3)\n{TRAINING}")
    assert "TL301" not in {one.code for one in check(tmp_path).diagnostics}


def functions(count: int, last: str) -> str:
    """Functions that hand a seed on, each to the next; `last` says what the last one does before it seeds."""
    hands_on = [f"def f{number}(seed=None):\n    f{number + 1}(seed)\n" for number in range(count)]
    seeds = f"def f{count}(seed=None):\n    {last}\n    if seed is not None:\n        torch.manual_seed(seed)\n"
    return "\n".join(["import torch\n", *hands_on, seeds])


@pytest.mark.parametrize("count", [2, 9])
def test_a_seed_that_is_handed_through_functions(count: int, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    file = tmp_path / "train.py"
    for given, is_seeded in {"": False, "3": True}.items():
        file.write_text(f"{functions(count, 'pass')}\nf0({given})\n{TRAINING}")
        assert ("TL301" not in {one.code for one in check(tmp_path).diagnostics}) is is_seeded


def test_a_seed_that_functions_hand_round_in_a_circle_may_be_given(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    circle = functions(9, "if len(str(seed)) > 9:\n        f2(seed)")
    (tmp_path / "train.py").write_text(f"{circle}\nf0()\n{TRAINING}")
    assert "TL301" not in {one.code for one in check(tmp_path).diagnostics}
