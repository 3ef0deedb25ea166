"""The start block of a program: what is in it, and what it does when it runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import run_torchlint
from torchlint.api import CheckOptions, needs_of_programs
from torchlint.audit.needs import Needs
from torchlint.report.start_block import lines

TRAINING = """\
import torch
from torch import nn

{imports}
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(144, 2)){device}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
{body}
for step in range(3):
    optimizer.zero_grad()
    net(torch.rand(2, 3, 8, 8){device}).sum().backward()
    optimizer.step()
{end}
"""


def needs_of(folder: Path, *, imports: str = "", body: str = "", device: str = "", end: str = "") -> Needs:
    """Of a small training."""
    text = TRAINING.format(imports=imports, body=body, device=device, end=end)
    (folder / "train.py").write_text(text, encoding="utf-8")
    (needs,) = needs_of_programs([str(folder / "train.py")], CheckOptions(jobs=1))
    return needs


def test_it_seeds_what_is_drawn_and_nothing_more(tmp_path: Path) -> None:
    assert needs_of(tmp_path).seeds == ("torch",)
    assert needs_of(tmp_path, imports="import random", body="lr = random.random()").seeds == ("random", "torch")
    numpy = needs_of(tmp_path, imports="import numpy as np", body="noise = np.random.rand(3)")
    assert numpy.seeds == ("numpy", "torch")


def test_what_is_seeded_is_left_out(tmp_path: Path) -> None:
    assert needs_of(tmp_path, imports="torch.manual_seed(3)").seeds == ()
    optional = (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--seed', type=int)\na = p.parse_args()\n"
    )
    needs = needs_of(tmp_path, imports=f"{optional}if a.seed is not None:\n    torch.manual_seed(a.seed)")
    assert needs.seeds == ("torch",), "a seed that only an option brings is none"


def test_the_mode_is_for_programs_on_a_gpu_that_do_not_turn_it_on(tmp_path: Path) -> None:
    assert not needs_of(tmp_path).mode
    assert needs_of(tmp_path, device=".cuda()").mode
    assert not needs_of(tmp_path, device=".cuda()", imports="torch.use_deterministic_algorithms(True)").mode


@pytest.mark.parametrize(
    ("torch", "done"),
    [("==2.13.*", {"mode"}), ("==2.6.*", {"mode", "workspace"}), ("==1.6.*", {"cudnn"})],
)
def test_it_is_for_the_torch_of_the_project(tmp_path: Path, torch: str, done: set[str]) -> None:
    (tmp_path / "requirements.txt").write_text(f"torch{torch}\n", encoding="utf-8")
    needs = needs_of(tmp_path, device=".cuda()")
    assert {name for name in ("mode", "cudnn", "workspace") if getattr(needs, name)} == done


def test_a_variable_that_is_set_is_not_set_again(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.6.*\n", encoding="utf-8")
    (tmp_path / "run.sh").write_text("export CUBLAS_WORKSPACE_CONFIG=:4096:8\npython train.py\n", encoding="utf-8")
    assert not needs_of(tmp_path, device=".cuda()").workspace


RESUMING = (
    "import os\nif os.path.exists('c.pt'):\n    state = torch.load('c.pt')\n    optimizer.load_state_dict(state['o'])"
)
SAVING = "torch.save({'o': optimizer.state_dict()}, 'c.pt')"


def test_a_training_that_goes_on_restores_its_generators(tmp_path: Path) -> None:
    assert needs_of(tmp_path).restored == ()
    assert needs_of(tmp_path, body=RESUMING, end=SAVING).restored == ("torch",)
    assert needs_of(tmp_path, body=RESUMING, end=SAVING, device=".cuda()").restored == ("torch", "cuda")
    restoring = f"{RESUMING}\n    torch.set_rng_state(state['r'])"
    assert needs_of(tmp_path, body=restoring, end=SAVING).restored == ()


def test_a_selection_of_rules_changes_no_block(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text('select = ["TL101"]\n', encoding="utf-8")
    assert needs_of(tmp_path, body=RESUMING, end=SAVING).restored == ("torch",)


def test_workers_are_seeded_by_hand_where_torch_does_not(tmp_path: Path) -> None:
    data = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset
class Data(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, index):
        return np.random.rand(3)
"""
    made = "loader = DataLoader(Data(), num_workers=4)\nfor batch in loader:\n    print(batch)"
    assert not needs_of(tmp_path, imports=data, body=made).workers
    assert needs_of(tmp_path, imports=data, body=made).seeds == ("torch",), "workers take their seeds from torch's"
    (tmp_path / "requirements.txt").write_text("torch==1.8.*\n", encoding="utf-8")
    assert needs_of(tmp_path, imports=data, body=made).workers


def test_every_block_is_code_with_each_import_once() -> None:
    for seeds in ((), ("torch",), ("random", "numpy", "torch")):
        for restored in ((), ("torch", "cuda"), ("random", "numpy", "torch")):
            for mode, workers in ((True, False), (False, True), (True, True)):
                needs = Needs(
                    "train.py", "2.6", seeds=seeds, mode=mode, workspace=mode, workers=workers, restored=restored
                )
                text = "\n".join(lines(needs))
                compile(text, "block", "exec")
                imports = [line for line in text.splitlines() if line.startswith("import ")]
                assert len(imports) == len(set(imports))
                used = {
                    "random": "import random",
                    "np": "import numpy as np",
                    "torch": "import torch",
                    "os": "import os",
                }
                assert {used[name] for name in used if f"{name}." in text} <= set(imports)
                assert max(map(len, text.splitlines())) <= 120


def test_nothing_is_said_in_a_line(tmp_path: Path) -> None:
    shown = list(lines(needs_of(tmp_path, imports="torch.manual_seed(0)")))
    assert len(shown) == 3
    assert shown[2].startswith("# Nothing is missing")


@pytest.mark.torch
def test_two_runs_with_the_block_agree_and_so_does_one_that_goes_on(tmp_path: Path) -> None:
    """Random numbers of all three generators, in two epochs: in one run, in another, and with a break between."""
    needs = Needs(
        "train.py", "2.13", seeds=("random", "numpy", "torch"), mode=True, restored=("random", "numpy", "torch")
    )
    body = """
import sys
def epoch():
    return [random.random(), float(np.random.rand()), float(torch.rand(()))]
if sys.argv[1] == "whole":
    print(epoch() + epoch())
elif sys.argv[1] == "first":
    first = epoch()
    torch.save({"random": random_states(), "first": first}, "c.pt")
else:
    loaded = torch.load("c.pt", map_location="cpu", weights_only=False)
    restore_random_states(loaded["random"])
    print(loaded["first"] + epoch())
"""
    (tmp_path / "train.py").write_text("\n".join(lines(needs)) + body, encoding="utf-8")

    def run(word: str) -> str:
        command = [sys.executable, "train.py", word]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, timeout=600).stdout.decode()

    whole = run("whole")
    run("first")
    assert len(whole) > 60
    assert run("whole") == whole
    assert run("second") == whole


def test_the_command_prints_the_blocks_of_programs_that_train(tmp_path: Path) -> None:
    needs_of(tmp_path, device=".cuda()")
    text = "import random\nimport torch\nif __name__ == '__main__':\n    torch.save([random.random()], 'x.pt')\n"
    (tmp_path / "show.py").write_text(text, encoding="utf-8")
    shown = run_torchlint("init", "--preamble", cwd=tmp_path)
    assert shown.returncode == 0
    assert shown.stdout.startswith("# Start of train.py for torch ")
    assert shown.stdout.count("# Start of") == 1
    assert "torch.use_deterministic_algorithms(True)" in shown.stdout
    named = run_torchlint("init", "--preamble", "show.py", cwd=tmp_path)
    assert "random.seed(SEED)" in named.stdout


@pytest.mark.parametrize(("path", "words"), [("gone.py", "no such file"), ("empty", "no program found")])
def test_what_is_no_program_is_an_error(tmp_path: Path, path: str, words: str) -> None:
    (tmp_path / "empty").mkdir()
    ended = run_torchlint("init", "--preamble", path, cwd=tmp_path)
    assert ended.returncode == 2
    assert words in ended.stderr
