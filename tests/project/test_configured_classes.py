"""Which classes the sections of configurations name, and those inside of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.project.configured_classes import ConfiguredClasses

FILES = {
    "conf/train.yaml": "trainer:\n  _target_: lib.Trainer\n  callbacks:\n    stop: {_target_: lib.Stop}\n",
    "conf/model/plain.yaml": "_target_: own.Task\nnet:\n  _target_: own.Net\nhead: ${parts.head}\n",
    "conf/model/other.yaml": "_target_: own.Other\n",
    "conf/parts.yaml": "head:\n  class: own.Head\nloop: ${loop}\n",
    "conf/broken.yaml": "net: {_target_: own.Broken\n",
    "conf/words.yaml": "net:\n  target: accuracy\n",
}


@pytest.fixture
def classes(tmp_path: Path) -> ConfiguredClasses:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return ConfiguredClasses([tmp_path / name for name in FILES])


@pytest.mark.parametrize(
    ("section", "named", "inside"),
    [
        ("trainer", {"lib.Trainer"}, {"lib.Stop"}),
        ("model", {"own.Task", "own.Other"}, {"own.Net", "own.Head"}),
        ("net", {"own.Net"}, set()),
        ("loop", set(), set()),
        ("unknown", set(), set()),
    ],
)
def test_sections_name_their_classes_and_those_inside(
    classes: ConfiguredClasses, section: str, named: set[str], inside: set[str]
) -> None:
    assert (set(classes.of(section)), set(classes.within(section))) == (named, inside)
