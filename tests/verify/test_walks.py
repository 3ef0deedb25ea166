"""What a new user meets: a table that was pasted or mistyped, libraries that are missing, data that is not here."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from tests.cli.command import PATIENT, run_torchlint

pytestmark = pytest.mark.torch


def project(folder: Path, files: dict[str, str], config: str = "[tool.torchlint]\n") -> None:
    for name, text in {"pyproject.toml": config, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")


def verify(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return run_torchlint(
        "verify", *PATIENT, "--probe", "trace", "--probe", "order", "--probe", "config", *options, cwd=folder
    )


def results(folder: Path, *options: str) -> dict[str, dict[str, Any]]:
    """By target."""
    done = verify(folder, "--output-format", "json", *options)
    assert done.stdout, done.stderr
    return {each["target"]: each for each in json.loads(done.stdout)["results"]}


HARD = {
    "seg/__init__.py": "",
    "seg/nets.py": """
        import torch
        from torch import nn
        from torch.nn import functional as F


        class Hard(nn.Module):
            def __init__(self, words: str, cfg):
                super().__init__()
                assert len(words.split()) == 2
                self.body = nn.Conv2d(3, cfg.model.width, 1)

            def forward(self, image):
                return F.interpolate(self.body(image), scale_factor=2.0, mode="bilinear")


        def pooled(values, index, secret):
            assert secret == 12345
            return torch.zeros(10, values.shape[1]).index_add(0, index, values)
        """,
    "seg/data.py": """
        import os

        from torch.utils.data import Dataset


        class Pairs(Dataset):
            def __init__(self, protocol, root):
                assert protocol.kind == "pairs"
                self.rows = [os.path.join(root, name) for name in os.listdir(root)]

            def __len__(self):
                return len(self.rows)

            def __getitem__(self, index):
                return self.rows[index]
        """,
}
GIVEN = {
    '"text", cfg = {}': '"open sesame", cfg = { model = { width = 4 } }',
    'secret=float32[2,3,64,64]"': 'secret=12345"',
    "values=float32[2,3,64,64]": "values=float32[2,3]",
    'protocol = 8, root = "data"': 'protocol = { kind = "pairs" }, root = "scans"',
}
"""What the user makes of the values that were printed."""


def pasted(full: str) -> str:
    """The tables of a full report, as they stand under "tell torchlint how to run it"."""
    return "\n".join(line[4:] for line in full.splitlines() if re.match(r"    (\[|#|\w+ = )", line)) + "\n"


def test_what_is_printed_to_be_pasted_can_be_pasted_and_edited(tmp_path: Path) -> None:
    project(tmp_path, HARD)
    (tmp_path / "scans").mkdir()
    for name in ("one", "two", "three"):
        (tmp_path / "scans" / name).touch()
    tables = pasted(verify(tmp_path, "--output-format", "full").stdout)
    assert set(re.findall(r'verify\."(.*)"', tables)) == {"seg.nets:Hard", "seg.nets:pooled", "seg.data:Pairs"}
    config = tmp_path / "pyproject.toml"
    config.write_text("[tool.torchlint]\n" + tables, encoding="utf-8")
    as_it_stands = verify(tmp_path, "--output-format", "full")
    assert (as_it_stands.returncode, pasted(as_it_stands.stdout)) == (0, "\n")
    for printed, given in GIVEN.items():
        assert printed in tables
        tables = tables.replace(printed, given)
    config.write_text("[tool.torchlint]\n" + tables, encoding="utf-8")
    found = {name: (each["verdict"], each["reason"]) for name, each in results(tmp_path).items()}
    assert {name: verdict for name, (verdict, _) in found.items()} == {
        "Hard": "TRACED",
        "pooled": "TRACED",
        "line 10": "CONFIRMED",
    }, found


def test_a_configuration_of_its_own_has_tables_without_a_prefix(tmp_path: Path) -> None:
    project(tmp_path, HARD)
    (tmp_path / "torchlint.toml").touch()
    (only,) = results(tmp_path, "seg/data.py").values()
    assert only["evidence"]["configure"].splitlines()[0] == '[verify."seg.data:Pairs"]'


@pytest.mark.parametrize(
    ("table", "meant"),
    [
        ("seg.nets:Hart", "; did you mean `seg.nets:Hard`?"),
        ("seg.models:Hard", "; did you mean `seg.nets:Hard`?"),
        ("data:pairs", "; did you mean `data:Pairs`?"),
        ("seg.data:line 19", '; a table is called "package.module:Name"'),
        ("Hard", "; did you mean `seg.nets:Hard`?"),
    ],
)
def test_a_table_that_names_nothing_is_told_with_the_nearest_name(tmp_path: Path, table: str, meant: str) -> None:
    project(tmp_path, HARD, config=f'[tool.torchlint.verify."nets:Hard"]\n[tool.torchlint.verify."{table}"]\n')
    done = verify(tmp_path, "--dry-run", "seg/data.py")
    assert done.returncode == 0
    notes = [line for line in done.stderr.splitlines() if "is not the name of a class" in line]
    config = tmp_path / "pyproject.toml"
    expected = f'note: {config}: `tool.torchlint.verify."{table}"` is not the name of a class or function here{meant}'
    assert notes == [expected]
    assert run_torchlint("check", cwd=tmp_path).returncode == 1


WRONG_TABLES = {
    "seg.nets:Gone": "inputs = ['flot32[2]']",
    "seg.nets:Old": "shapes = [3]",
    "seg.models:Hard": "factory = 'make'",
}
"""By targets that are not there."""


@pytest.mark.parametrize("target", WRONG_TABLES)
def test_a_wrong_table_for_a_class_that_is_gone_is_one_note(tmp_path: Path, target: str) -> None:
    project(tmp_path, HARD, config=f'[tool.torchlint.verify."{target}"]\n{WRONG_TABLES[target]}\n')
    done = verify(tmp_path, "seg/data.py", "--output-format", "json")
    assert done.returncode in (0, 1)
    assert [line for line in done.stderr.splitlines() if line.startswith("note: ") and target in line] != []
    assert json.loads(done.stdout)["results"] != []


def test_a_wrong_table_skips_its_target_alone(tmp_path: Path) -> None:
    project(tmp_path, HARD, config="[tool.torchlint.verify.\"nets:Hard\"]\ninputs = ['flot32[2]']\n")
    done = verify(tmp_path, "--output-format", "json", "seg/nets.py::Hard", "seg/nets.py::pooled")
    found = json.loads(done.stdout)["results"]
    refused = [each for each in found if "`flot32[2]` is neither a tensor" in each["reason"]]
    assert {each["verdict"] for each in refused} == {"SKIPPED"}
    assert 0 < len(refused) < len(found)


LIGHTNING = {
    "seg/__init__.py": "",
    "seg/model.py": """
        import lightning as L
        from torch import nn
        from torch.nn import functional as F


        class Net(L.LightningModule):
            def __init__(self, config):
                super().__init__()
                self.save_hyperparameters()
                self.body = nn.Conv2d(3, config.width, 3)

            def forward(self, image):
                return F.interpolate(self.body(image), scale_factor=2.0, mode="bilinear")


        class Timed(Net):
            def forward(self, image):
                grown = F.interpolate(self.body(image), scale_factor=2.0, mode="bilinear")
                return grown * self.trainer.current_epoch
        """,
    "train.py": """
        import hydra
        import lightning as L
        from omegaconf import DictConfig

        from seg.model import Net, Timed


        @hydra.main(version_base=None, config_path="configs", config_name="train")
        def main(cfg: DictConfig):
            model = (Timed if cfg.timed else Net)(cfg.model)
            L.seed_everything(cfg.seed)
            L.Trainer(max_epochs=cfg.epochs).fit(model)


        if __name__ == "__main__":
            main()
        """,
}


@pytest.mark.skipif(
    any(importlib.util.find_spec(name) for name in ("hydra", "lightning", "omegaconf")),
    reason="for where they are missing",
)
def test_missing_libraries_are_named_first_and_what_stands_in_for_them_is_never_blamed(tmp_path: Path) -> None:
    project(tmp_path, LIGHTNING)
    done = verify(tmp_path, "--output-format", "json")
    needing = "hydra (1 of 3 targets needs it), lightning (3), omegaconf (1)"
    assert (
        done.stderr.splitlines()[0] == f"note: not installed here: {needing}: run it inside the project's environment"
    )
    record = json.loads(done.stdout)
    assert record["environment"]["not_installed"] == {"hydra": 1, "lightning": 3, "omegaconf": 1}
    found = {each["target"]: each for each in record["results"]}
    assert found["Net"]["verdict"] == "TRACED"
    assert found["Timed"]["reason"] == "it needs lightning, which is not installed here"
    assert "it needs omegaconf, which is not installed here" in found["line 12"]["reason"]
    assert not any(re.search(r"[Ss]tub|keyword|Error", each["reason"]) for each in record["results"])


def test_libraries_that_the_program_can_do_without_are_not_missing(tmp_path: Path) -> None:
    text = """
        try:
            import absent_logger
        except ImportError:
            absent_logger = None
        import torch
        from torch import nn
        from typing import TYPE_CHECKING
        from seg.other import value

        if TYPE_CHECKING:
            import absent_types


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.pad = nn.ReplicationPad2d(1)

            def forward(self, image):
                return self.pad(image)
        """
    other = "value = 3\n\n\ndef plot():\n    import absent_plots\n"
    project(tmp_path, {"seg/__init__.py": "", "seg/other.py": other, "seg/net.py": text})
    assert "not installed" not in verify(tmp_path).stderr


SCANS = """
    import os

    import numpy as np
    from torch.utils.data import DataLoader, Dataset


    class Scans(Dataset):
        def __init__(self, root, split="train"):
            self.folder = os.path.join(root, split)
            self.names = os.listdir(os.path.join(self.folder, "images"))
            self.rng = np.random.default_rng(0)

        def __len__(self):
            return len(self.names)

        def __getitem__(self, index):
            image = np.load(os.path.join(self.folder, "images", self.names[index]))
            mask = np.load(os.path.join(self.folder, "masks", self.names[index]))
            assert self.names[index].endswith(".npy")
            return image[:, :: self.rng.choice([1, -1])] + mask


    def batches():
        return DataLoader(Scans("/data/of/mine"), num_workers=2)
    """


def test_a_data_set_that_reads_a_folder_is_run_on_one_that_holds_what_it_reads(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    project(tmp_path, {"scans.py": SCANS})
    done = verify(tmp_path, "--probe", "loader", "--output-format", "json")
    found = {each["code"]: each for each in json.loads(done.stdout)["results"]}
    listed, kept = found["TL401"], found["TL307"]
    assert (listed["verdict"], kept["verdict"]) == ("CONFIRMED", "CONFIRMED")
    assert "(the folder was invented)" in listed["reason"]
    assert "train/images/east.npy and 3 more" in listed["evidence"]["folder_holds"]
    assert kept["evidence"]["built_by"] == "invented arguments and an invented folder"
