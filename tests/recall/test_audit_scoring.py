"""What counts as named on a page, and the counts that pages rank by."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.recall.audit_scoring import scored
from tests.recall.scoring import Read, causes
from torchlint.api import CheckOptions, audit_paths
from torchlint.audit.page import Light
from torchlint.catalogue.load import load_causes
from torchlint.config import Overrides

PROGRAM = """\
import os
import torch

torch.manual_seed(0)
names = os.listdir("data")
net = torch.nn.Linear(len(names), 1).cuda()
optimiser = torch.optim.SGD(net.parameters(), 0.1)
for name in names:
    net(torch.load(name)).sum().backward()
    optimiser.step()
"""


def read(kind: str, line: str, path: str = "train.py") -> Read:
    return Read("a/b", "0" * 40, path, line, "", kind, "none")


def test_a_page_names_what_it_marks_and_ticks_what_it_does_not(tmp_path: Path) -> None:
    clone = tmp_path / "a+b"
    (clone / ".git").mkdir(parents=True)
    (clone / "train.py").write_text(PROGRAM)
    pages = audit_paths([str(clone)], CheckOptions(overrides=Overrides(), isolated=True, jobs=1)).pages
    listed, resumed = read("listing-order", "5"), read("resume", "9")
    seeded, racing = read("unseeded-program", "4"), read("threads", "60")
    elsewhere = read("listing-order", "1", "other.py")
    found = scored([listed, resumed, seeded, racing, elsewhere], pages)
    assert found.verdicts[listed] in ("red", "amber")
    assert found.verdicts[resumed] == "amber"
    assert found.verdicts[seeded] == "green"
    assert found.verdicts[racing] == "green"
    assert found.verdicts[elsewhere] == "no page"
    assert set(found.places) == {listed, resumed}
    assert found.ambers == (pages[0].count(Light.AMBER),)


def test_pages_rank_by_what_was_read() -> None:
    counted = Counter(one.word for one in causes() if one.word != "none")
    assert load_causes().causes == dict(counted)
    repositories = len({one.repository for one in causes()})
    assert f"{counted.total()} causes with a rule, in {repositories} repositories" in load_causes().sources[0]
