"""YAML that a program loads, whatever it holds: it takes no finding down, and nothing in it is made or called."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.counting import MOST_A_LINE, counted_calls
from tests.harness.programs import check

PROGRAM = """\
import torch
import yaml

with open("config.yaml") as file:
    config = yaml.safe_load(file)
model = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"])
model(torch.load("batch.pt")).sum().backward()
optimizer.step()
torch.manual_seed = 1
"""
START = b"lr: 0.1\nseed: 3\n"
HOSTILE = {
    "bytes": bytes(range(256)) + START,
    "Latin-1": START + "note: Größe\n".encode("latin-1"),
    "UTF-16": START.decode().encode("utf-16"),
    "a null byte": START + b"note: \x00\n",
    "tabs": START + b"\tnote: 1\n",
    "an open bracket": START + b"note: [1, 2\n",
    "brackets without end": START + b"note: " + b"[" * 90_000,
    "braces without end": START + b"note: " + b"{a: " * 20_000,
    "a ladder of keys": START + b"".join(b" " * n + b"a:\n" for n in range(400)),
    "itself inside": START + b"note: &note [*note]\n",
    "itself as a key": START + b"note: &note {? *note : 1}\n",
    "many aliases": START
    + b"a0: &a0 [1]\n"
    + b"".join(b"a%d: &a%d [%s]\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 30)),
    "an unknown alias": START + b"note: *gone\n",
    "an escape above Unicode": START + b'note: "\\UFFFFFFFF"\n',
    "a version of letters": b"%YAML x.y\n---\n" + START,
    "an unknown tag": b"--- !unknown%ZZ\n" + START,
    "two documents": START + b"---\n" + START,
    "a list": b"- seed: 3\n- lr: 0.1\n",
    "a number": b"3 # seed\n",
    "nothing": b"# seed\n",
    "a key that is a mapping": START + b"? {seed: 1}\n: 2\n",
    "a key that is no text": START + b"3: 4\nnull: 5\n",
    "a megabyte": START + b"# seed\n" * 150_000,
}


def codes(folder: Path, config: bytes) -> list[str]:
    (folder / "torchlint.toml").write_text('select = ["TL201", "TL305"]\n')
    (folder / "train.py").write_text(PROGRAM)
    (folder / "config.yaml").write_bytes(config)
    return [diagnostic.code for diagnostic in check(folder).diagnostics]


def test_the_program_fires_with_plain_yaml(tmp_path: Path) -> None:
    assert codes(tmp_path, START) == ["TL305", "TL201"]


@pytest.mark.parametrize("config", HOSTILE.values(), ids=HOSTILE)
def test_hostile_yaml_takes_no_finding_down(config: bytes, tmp_path: Path) -> None:
    with counted_calls() as calls:
        found = codes(tmp_path, config)
    assert found[-1:] == ["TL201"]
    assert found[:-1] in ([], ["TL305"])
    assert calls() < MOST_A_LINE * (20 + len(config.splitlines()))


def test_tags_of_python_objects_make_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "made"
    config = (
        START
        + f"note: !!python/object/apply:pathlib.Path.touch [!!python/object/apply:pathlib.Path [{mark}]]\n".encode()
    )
    assert codes(tmp_path, config)[-1:] == ["TL201"]
    assert not mark.exists()


def test_a_link_that_leads_nowhere_is_no_configuration(tmp_path: Path) -> None:
    codes(tmp_path, START)
    (tmp_path / "config.yaml").unlink()
    (tmp_path / "config.yaml").symlink_to(tmp_path / "nowhere.yaml")
    assert [diagnostic.code for diagnostic in check(tmp_path).diagnostics] == ["TL201"]
