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
