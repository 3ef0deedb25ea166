"""Folders for programs whose own data is not here: what the code looks for is there, valid, and said to be invented."""

from __future__ import annotations

import io
import json
import os
import sys
import textwrap
import wave
import zlib
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.skipif(sys.platform == "win32", reason="runs are forked")]

from tests.verify.statements.asking import ask_about  # noqa: E402
from torchlint.recording.probes import loader, order  # noqa: E402
from torchlint.recording.statements.apart import run_apart  # noqa: E402
from torchlint.recording.statements.invented_folder import InventedFolder  # noqa: E402
from torchlint.recording.statements.tiny_files import tiny_file  # noqa: E402


def class_of(listing: str, more: str = "") -> str:
    """A data set whose constructor has these lines."""
    head = "import csv, glob, json, os\nfrom pathlib import Path\nfrom torch.utils.data import Dataset\n\n\n"
    lines = ["class Scans(Dataset):", "    def __init__(self, root, split='train'):"]
    lines += [f"        {line}" for line in textwrap.dedent(listing).strip().splitlines()]
    lines += ["    def __len__(self):", "        return len(self.files)", "    def __getitem__(self, index):"]
    return head + "\n".join([*lines, f"        {more or 'return self.files[index]'}"]) + "\n"


@pytest.mark.parametrize(
    "listing",
    [
        "self.files = os.listdir(os.path.join(root, 'images'))  # here",
        "self.files = glob.glob(os.path.join(root, 'images', '*.tif'))  # here",
        "self.files = glob.glob(f'{root}/{split}/*/scan_[0-9]*.jpg')  # here",
        "self.files = list((Path(root) / 'depth' / split).glob('*/*.npy'))  # here",
        "self.files = list(Path(root).rglob('*.wav'))  # here",
        "self.files = glob.glob('%s/*xml' % root)  # here",
        "self.files = [os.path.join(at, name) for at, _, names in os.walk(root + '/left') for name in names]  # here",
        """
        for name in os.listdir(root):  # here
            for file in os.listdir(os.path.join(root, name)):
                self.files = [*getattr(self, 'files', []), os.path.join(name, file)]
        """,
        """
        with open(os.path.join(root, 'index.csv')) as file:
            self.labels = {row['image_id']: row['label'] for row in csv.DictReader(file)}
        self.files = [(name, self.labels[name]) for name in os.listdir(os.path.join(root, 'png'))]  # here
        """,
        """
        assert os.path.isdir(os.path.join(root, 'masks', split)), 'no masks'
        names = json.load(open(os.path.join(root, 'splits.json')))
        self.files = [name for name in os.listdir(os.path.join(root, 'images')) if name.endswith('.png')]  # here
        assert {row['file'] for row in names} <= set(self.files)
        """,
    ],
)
def test_what_the_code_looks_for_is_there_and_its_order_shows(tmp_path: Path, listing: str) -> None:
    said = order.probe(*ask_about(tmp_path, class_of(listing), "TL401"))
    assert said.verdict == "CONFIRMED", said.reason
    assert "the folder was invented" in said.reason
    assert said.evidence["folder_holds"]


def test_a_folder_that_holds_nothing_of_the_kind_says_so(tmp_path: Path) -> None:
    listing = "self.files = [name for name in os.listdir(root) if len(name) > 40]  # here"
    said = order.probe(*ask_about(tmp_path, class_of(listing), "TL401"))
    assert said.verdict == "NOT REPRODUCED"
    assert "but the folder was invented" in said.reason
    listing = "self.files = glob.glob(root + '/../elsewhere/*.png')  # here"
    said = order.probe(*ask_about(tmp_path, class_of(listing), "TL401"))
    assert "the folder was invented, and contains no files that the code looks for" in said.reason


def test_an_unseeded_generator_beside_the_files_hides_no_order(tmp_path: Path) -> None:
    listing = "import random\nself.chance = random.Random()\nself.files = os.listdir(root)  # here"
    assert order.probe(*ask_about(tmp_path, class_of(listing), "TL401")).verdict == "CONFIRMED"


def test_a_path_of_the_machine_that_runs_is_not_told(tmp_path: Path) -> None:
    listing = "self.files = os.listdir(root)  # here\nopen(root + '/missing/file').read(1) + 1"
    said = order.probe(*ask_about(tmp_path, class_of(listing), "TL401"))
    assert str(Path("/tmp")) not in said.reason  # noqa: S108 - it is looked for, not used


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked only on Linux")
def test_workers_read_from_an_invented_folder(tmp_path: Path) -> None:
    text = """
    import os
    import numpy as np
    from torch.utils.data import Dataset


    class Scans(Dataset):
        def __init__(self, image_dir, mask_dir):
            self.image_dir, self.mask_dir = image_dir, mask_dir
            self.names = sorted(os.listdir(image_dir))
            self.rng = np.random.default_rng(0)

        def __len__(self):
            return 64

        def __getitem__(self, index):
            name = self.names[index % len(self.names)]
            image = np.load(os.path.join(self.image_dir, name))
            mask = np.load(os.path.join(self.mask_dir, name.replace(".npy", "_mask.npy")))
            return image * mask + self.rng.normal()  # here
    """
    pytest.importorskip("numpy")
    said = loader.probe(*ask_about(tmp_path, text, "TL307"))
    assert said.verdict == "CONFIRMED", said.reason
    assert said.evidence["built_by"] == "invented arguments and an invented folder"


def test_nothing_is_made_outside_the_folder_or_where_something_is_written(tmp_path: Path) -> None:
    folder = InventedFolder(tmp_path / "data", "names = ['*.png']")
    folder.fill()

    def use() -> list[str]:
        with folder.served():
            (folder.path / "log.txt").open("w").close()
            Path(folder.path / "deep" / "list.txt").read_text()
        for path in (tmp_path / "beside.png", folder.path / "later.png"):
            with pytest.raises(FileNotFoundError):
                path.open()
        return sorted(os.listdir(folder.path))  # noqa: PTH208

    made = run_apart(use, list[str], 30)
    assert made == ["deep", "east.png", "first", "log.txt", "north.png", "second", "south.png", "west.png"]
    assert (folder.path / "log.txt").read_bytes() == b""


def test_tiny_files_are_valid() -> None:
    names, columns = ["a.png", "b.png"], ["file", "label", "x"]
    png = tiny_file(".png", names, columns)
    start = png.index(b"IDAT") + 4
    assert len(zlib.decompress(png[start : png.index(b"IEND") - 8])) == 8 * (1 + 3 * 8)
    assert tiny_file(".JPG", names, columns)[:2] + tiny_file(".jpg", names, columns)[-2:] == b"\xff\xd8\xff\xd9"
    assert tiny_file(".csv", names, columns).decode() == "file,label,x\na.png,first,0\nb.png,second,1\n"
    assert json.loads(tiny_file(".json", names, columns))[1] == {"file": "b.png", "label": "second", "x": 1}
    assert tiny_file(".txt", names, columns) == b"a.png\nb.png\n"
    assert torch.load(io.BytesIO(tiny_file(".pt", names, columns))).shape == (3, 8, 8)
    with wave.open(io.BytesIO(tiny_file(".wav", names, columns))) as sound:
        assert sound.getnframes() == 8000
    numpy = pytest.importorskip("numpy")
    assert numpy.load(io.BytesIO(tiny_file(".npy", names, columns))).shape == (8, 8)
    assert tiny_file(".nothing", names, columns) == b""


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked only on Linux")
def test_a_file_that_reads_its_data_when_it_is_loaded_finds_some(tmp_path: Path) -> None:
    text = """
    import os
    import random
    import torch
    from torch.utils.data import DataLoader, Dataset


    class Scans(Dataset):
        def __init__(self, root):
            self.files = [os.path.join(root, "scans", name) for name in sorted(os.listdir(os.path.join(root, "scans")))]
            self.rng = random.Random(0)

        def __len__(self):
            return len(self.files)

        def __getitem__(self, index):
            return torch.load(self.files[index]) + self.rng.random()  # here


    kind = ".pt"
    loader = DataLoader(Scans("data"), num_workers=2)
    """
    said = loader.probe(*ask_about(tmp_path, text, "TL307"))
    assert said.verdict == "CONFIRMED", said.reason
    assert said.evidence["loader"] == "of the program"


@pytest.mark.parametrize(
    "text",
    [
        """
        import os

        def listed(args):
            folder = os.path.join(args.data_root, "scans")
            return [name for name in os.listdir(folder) if len(name) > args.min_size]  # here
        """,
        """
        import os

        class Pairs:
            def __init__(self, config):
                self.opt = config
                self.names = os.listdir(config["path"]["raw_path"])  # here
        """,
    ],
)
def test_options_are_invented_as_they_are_read(tmp_path: Path, text: str) -> None:
    said = order.probe(*ask_about(tmp_path, text, "TL401"))
    assert said.verdict == "CONFIRMED", said.reason


def test_a_reason_does_not_blame_the_program_for_what_was_invented(tmp_path: Path) -> None:
    text = """
    import os

    def listed(count: int, root):
        names = count.names()
        return names + os.listdir(root)  # here
    """
    said = order.probe(*ask_about(tmp_path, text, "TL401"))
    assert "the arguments that were invented do not fit: AttributeError: 'int' object has no" in said.reason
