"""The readings are well-formed, and the score counts what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.recall.scoring import Read, causes, hash_of, judged, named
from torchlint.api import CheckOptions, check_paths
from torchlint.catalogue import load_catalogue
from torchlint.config import Overrides

PROGRAM = (
    "import torch\n\nmodel = torch.nn.Linear(2, 1)\nfor x in torch.utils.data.DataLoader([1.0], shuffle=True):\n    "
)
PROGRAM += "model(x).sum().backward()\n    torch.optim.SGD(model.parameters(), 0.1).step()\n"


@pytest.mark.parametrize("read", [*causes(), *judged()], ids=lambda read: f"{read.repository}-{read.path}-{read.line}")
def test_a_reading_is_well_formed(read: Read) -> None:
    assert re.fullmatch(r"[\w.-]+/[\w.-]+", read.repository)
    assert re.fullmatch(r"[0-9a-f]{40}", read.commit)
    assert re.fullmatch(r"(c\d+:)?\d+", read.line)
    assert re.fullmatch(r"([0-9a-f]{12})?", read.hash)
    assert read.word == "none" or read.word in load_catalogue().rules
    assert read.kind


def test_a_cause_is_named_by_its_rule_where_it_stands(tmp_path: Path) -> None:
    clone = tmp_path / "a+b"
    (clone / ".git").mkdir(parents=True)
    (clone / "train.py").write_text(PROGRAM)
    found = check_paths([clone], CheckOptions(overrides=Overrides(), isolated=True)).diagnostics
    seedless = Read("a/b", "0" * 40, "train.py", "1", hash_of("import torch"), "unseeded-program", "TL301")
    padded = Read("a/b", "0" * 40, "train.py", "3", "", "nondeterministic-op", "TL102")
    elsewhere = Read("a/b", "0" * 40, "other.py", "1", "", "unseeded-program", "TL301")
    above = Read("a/b", "0" * 40, "a+b/train.py", "1", "", "unseeded-program", "TL301")
    below = Read("a/b", "0" * 40, "rain.py", "1", "", "unseeded-program", "TL301")
    assert named([seedless, padded, elsewhere, above, below], found) == [seedless]
    assert seedless.is_still_there(clone)
    assert not Read("a/b", "0" * 40, "train.py", "2", seedless.hash, "resume", "TL313").is_still_there(clone)
