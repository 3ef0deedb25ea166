"""`torchlint operators`: the registry in the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import run_torchlint
from torchlint.catalogue import load_catalogue

OWN = """
[[operator]]
id = "acme_pool"
rule = "TL115"
title = "voxel pooling"
library = "acme"
direction = "forward"
confidence = "high"
condition = { text = "several points fall into one voxel" }
spelling = [{ call = "kit.ops.pool" }]
row = [{ device = "cuda", torch = ">=1.13", under_mode = "silent_nondeterministic", confidence = "high" }]
advice = "sort the points first"
sources = ["csrc/pool.cu"]
"""


def test_the_list_holds_every_operator_and_what_holds_for_a_release(tmp_path: Path) -> None:
    done = run_torchlint("operators", "--torch", "2.6", cwd=tmp_path)
    assert done.returncode == 0
    heading, *lines = done.stdout.splitlines()
    assert heading == "With the determinism mode on, torch 2.6:"
    assert {line.split()[1] for line in lines} == {operator.id for operator in load_catalogue().operators}
    line = next(line for line in lines if " reflection_pad2d " in line)
    assert line.split() == ["TL102", "reflection_pad2d", "backward", "CUDA", "raises"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("kthvalue", "kthvalue"),
        ("F.grid_sample", "grid_sampler_2d"),
        ("nn.AvgPool3d", "avg_pool3d"),
        ("scatter_add_", "scatter_add"),
        ("aten.index_add_.default", "index_add"),
        ("max_unpooling2d_forward_out does not have a deterministic implementation", "max_unpool"),
    ],
)
def test_an_operator_is_found_by_any_of_its_names(name: str, expected: str, tmp_path: Path) -> None:
    done = run_torchlint("operators", name, "--output-format", "json", cwd=tmp_path)
    assert done.returncode == 0
    assert expected in {record["id"] for record in json.loads(done.stdout)}


def test_a_page_says_where_the_documentation_is_wrong(tmp_path: Path) -> None:
    page = run_torchlint("operators", "reflection_pad2d", cwd=tmp_path).stdout
    assert "Where PyTorch's documentation differs" in page
    assert "CUDA  torch 1.9 to 2.6" in page
    assert "reported by TL102 reflection-padding" in page


def test_json_for_a_release_says_what_holds_there(tmp_path: Path) -> None:
    done = run_torchlint("operators", "kthvalue", "--torch", "2.9", "--output-format", "json", cwd=tmp_path)
    (record,) = json.loads(done.stdout)
    assert record["under_mode"]["cuda"] == "raises"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("grid_smple",), "did you mean `grid_sample`?"),
        (("--torch", "3.7"), "knows the releases"),
        (("--torch", "newest"), "is no release such as 2.6"),
        ((" ",), "no operator"),
    ],
)
def test_a_wrong_question_is_told_so(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    done = run_torchlint("operators", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


def test_a_team_s_own_operator_is_listed_and_reported(tmp_path: Path) -> None:
    (tmp_path / "operators.toml").write_text(OWN)
    (tmp_path / "torchlint.toml").write_text('extend-operators = ["operators.toml"]\n')
    kit = tmp_path / "src" / "kit"
    kit.mkdir(parents=True)
    (kit / "__init__.py").touch()
    (kit / "ops.py").write_text("import torch\n\n\ndef pool(x):\n    return torch.ops.kit.pool(x)\n")
    (kit / "model.py").write_text("from kit.ops import pool\n\n\ndef encode(x):\n    return pool(x)\n")
    assert "voxel pooling (acme)" in run_torchlint("operators", "acme_pool", cwd=tmp_path).stdout
    done = run_torchlint("check", "src", cwd=tmp_path)
    assert done.returncode == 1
    assert "src/kit/model.py:5:12: TL115 warning: `pool(x)`: its forward pass varies" in done.stdout


STEADIED = """
unless_set = { ACME_STEADY = ["1"] }
unless_within = [{ call = "kit.modes.exact", where = [{ argument = "level", position = 0, equals = ["high"] }] }]
"""


@pytest.mark.parametrize(
    ("name", "content", "reported"),
    [
        ("run.sh", "ACME_STEADY=1 python model.py\n", []),
        ("run.sh", "ACME_STEADY=0 python model.py\n", [5, 7]),
        (".env", "ACME_STEADY=1\n", []),
        ("setup_run.py", "import os\n\nos.environ['ACME_STEADY'] = '1'\n", []),
        ("notes.md", "ACME_STEADY=1\n", [5, 7]),
    ],
)
def test_a_team_says_what_makes_its_operator_steady(
    name: str, content: str, reported: list[int], tmp_path: Path
) -> None:
    (tmp_path / "operators.toml").write_text(OWN + STEADIED)
    (tmp_path / "torchlint.toml").write_text('extend-operators = ["operators.toml"]\n')
    (tmp_path / name).write_text(content)
    (tmp_path / "model.py").write_text(
        "from kit.ops import pool\nfrom kit.modes import exact\n\ndef encode(x):\n    x = pool(x)\n"
        "    with exact('low'):\n        x = pool(x)\n    with exact('high'):\n        return pool(x)\n"
    )
    done = run_torchlint("check", ".", "--output-format", "json", cwd=tmp_path)
    assert [finding["line"] for finding in json.loads(done.stdout)] == reported


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('rule = "TL115"', 'rule = "TL501"', "TL501 reports no registry entries"),
        ('rule = "TL115"', 'rule = "TL999"', "no rule TL999"),
        ('id = "acme_pool"', 'id = "index_add"', "operator `index_add` stands twice"),
        ('under_mode = "silent_nondeterministic"', 'under_mode = "varies"', ".under_mode"),
        ('sources = ["csrc/pool.cu"]', "sources = []", "names no source"),
        ('advice = "sort', 'unless_within = [{ with = "kit.exact" }]\nadvice = "sort', "unless_within[0]"),
        ('advice = "sort', 'unless_set = { ACME = "1" }\nadvice = "sort', "unless_set"),
    ],
)
def test_a_mistake_names_the_file_and_the_field(old: str, new: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "operators.toml").write_text(OWN.replace(old, new))
    (tmp_path / "torchlint.toml").write_text('extend-operators = ["operators.toml"]\n')
    (tmp_path / "a.py").touch()
    done = run_torchlint("check", "a.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "operators.toml" in done.stderr
    assert words in done.stderr
