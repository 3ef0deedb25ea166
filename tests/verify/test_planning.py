"""Planning: what a project is read for, when, and how often."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch")

from torchlint.engine.run import RunOptions
from torchlint.source.text import Source, read_source
from torchlint.verify import loading, run, surroundings
from torchlint.verify.hearing import Heard, Hearing
from torchlint.verify.options import VerifyOptions
from torchlint.verify.places import parse_place
from torchlint.verify.plan import Plan
from torchlint.verify.sandbox import Outcome, Sandbox

pytestmark = pytest.mark.torch

NETS = 6
NET = """\
import torch
from torch import nn
from parts import Head{number}
import absent_library


class Net{number}(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.first = nn.Conv2d(3, cfg.width, 1)
        self.body = nn.Conv2d(cfg.width, cfg.width, 3, padding=1, padding_mode="replicate")
        self.last = Head{number}(cfg.width)
        absent_library.note(self)

    def forward(self, image):
        return self.last(self.body(self.first(image)).relu())
"""
PARTS = """\
from torch import nn
import absent_part
"""
HEAD = """

class Head{number}(nn.Conv2d):
    def __init__(self, width):
        super().__init__(width, 2, 1)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "torchlint.toml").touch()
    for number in range(NETS):
        (tmp_path / f"net_{number}.py").write_text(NET.format(number=number), encoding="utf-8")
    parts = PARTS + "".join(HEAD.format(number=number) for number in range(NETS))
    (tmp_path / "parts.py").write_text(parts, encoding="utf-8")
    return tmp_path


def planned(project: Path) -> run.Planned:
    return run.plan([parse_place(str(project))], VerifyOptions(check=RunOptions(), devices=("cpu",)))


def test_a_target_starts_before_the_next_is_completed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = threading.Event()
    completed: list[str] = []

    def hear(_sandbox: object, _options: object, plan: Plan) -> Heard:
        started.set()
        return Heard(plan, (), None, None, Outcome(end="done", detail="", messages=(), output="", seconds=0.0))

    def complete(plan: Plan) -> Plan:
        assert not completed or started.wait(60)
        completed.append(plan.name)
        return plan

    monkeypatch.setattr("torchlint.verify.hearing.hear", hear)
    with Sandbox() as sandbox:
        hearing = Hearing(sandbox, VerifyOptions())
        hearing.run(planned(project).plans, complete)
    assert completed == sorted(each.plan.name for each in hearing.heard) == [f"Net{number}" for number in range(NETS)]


def test_what_a_project_tells_is_read_only_when_a_target_is_completed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("read while planning")

    for name in ("call_sites", "option_values"):
        monkeypatch.setattr(surroundings, name, refuse)
    found = planned(project)
    assert [plan.name for plan in found.plans] == [f"Net{number}" for number in range(NETS)]
    with pytest.raises(AssertionError, match="read while planning"):
        found.completed(found.plans[0])


def test_each_file_is_read_once_however_many_targets_ask(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: Counter[str] = Counter()

    def counted(path: Path, shown: str) -> Source:
        read[path.name] += 1
        return read_source(path, shown)

    monkeypatch.setattr(loading, "read_source", counted)
    found = planned(project)
    assert found.missing == {"absent_library": NETS, "absent_part": NETS}
    assert read["parts.py"] == 1
    before = dict(read)
    for plan in found.plans:
        found.completed(plan)
    assert {name: count - before.get(name, 0) for name, count in read.items()} == {
        **dict.fromkeys((f"net_{number}.py" for number in range(NETS)), 1),
        "parts.py": 0,
    }


@pytest.mark.parametrize("name", ["call_sites", "shown_inputs", "option_values"])
def test_a_project_that_nests_too_deeply_takes_no_target_down(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def too_deep(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(surroundings, name, too_deep)
    found = planned(project)
    assert [found.completed(plan) for plan in found.plans] == list(found.plans)
