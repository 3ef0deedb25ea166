"""The order probe: listings, sets, salted hashes and completion, each with a control in which the order is settled."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.skipif(sys.platform == "win32", reason="runs are forked")]

from tests.verify.statements.asking import ask_about  # noqa: E402
from torchlint.recording.probes.order import probe  # noqa: E402

_IN_A_DATASET = """
import os
from torch.utils.data import Dataset


class Images(Dataset):
    def __init__(self, root: str) -> None:
        names = {listed}  # here
        self.files = [os.path.join(root, name) for name in names if name.endswith(".jpg")]

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> str:
        return self.files[index]
"""


def test_a_listing_that_fills_a_data_set_is_confirmed_in_an_invented_folder(tmp_path: Path) -> None:
    said = probe(*ask_about(tmp_path, _IN_A_DATASET.format(listed="os.listdir(root)"), "TL401"))
    assert said.verdict == "CONFIRMED", said.reason
    assert "the folder was invented" in said.reason
    assert said.evidence["place"] == "object.files[0]"
    assert said.evidence["first"] != said.evidence["second"]


def test_a_sorted_listing_of_an_invented_folder_is_not_reproduced(tmp_path: Path) -> None:
    said = probe(*ask_about(tmp_path, _IN_A_DATASET.format(listed="sorted(os.listdir(root))"), "TL401"))
    assert said.verdict == "NOT REPRODUCED"
    assert "invented" in said.reason


_REAL = """
import glob
import os
from pathlib import Path

ROOT = {root!r}
files = {listed}  # here
{then}
classes = {{name: index for index, name in enumerate(files)}}
"""


@pytest.mark.parametrize(
    "listed",
    [
        "os.listdir(ROOT)",
        "[entry.name for entry in os.scandir(ROOT)]",
        'glob.glob(ROOT + "/*.png")',
        "list(Path(ROOT).iterdir())",
        'list(Path(ROOT).glob("*.png"))',
        'list(Path(ROOT).rglob("*.png"))',
        "[name for _, _, names in os.walk(ROOT) for name in names]",
    ],
)
@pytest.mark.parametrize(("then", "verdict"), [("", "CONFIRMED"), ("files.sort()", "REFUTED")])
def test_every_way_to_list_a_folder_is_shuffled(tmp_path: Path, listed: str, then: str, verdict: str) -> None:
    root = tmp_path / "images"
    root.mkdir()
    for name in ("cat.png", "dog.png", "owl.png"):
        (root / name).touch()
    said = probe(*ask_about(tmp_path, _REAL.format(root=str(root), listed=listed, then=then), "TL401"))
    assert said.verdict == verdict, said.reason
    assert "invented_folder" not in said.evidence


def test_a_folder_with_one_file_refutes_nothing(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "cat.png").touch()
    text = _REAL.format(root=str(tmp_path / "images"), listed="os.listdir(ROOT)", then="")
    assert probe(*ask_about(tmp_path, text, "TL401")).verdict == "NOT REPRODUCED"


def test_another_listing_of_the_file_keeps_its_order(tmp_path: Path) -> None:
    """Only the flagged line is shuffled: what another line lists must not be laid at its door."""
    (tmp_path / "images").mkdir()
    for name in ("cat.png", "dog.png"):
        (tmp_path / "images" / name).touch()
    text = f"""
    import os
    ROOT = {str(tmp_path / "images")!r}
    count = len(os.listdir(ROOT))  # here
    names = os.listdir(ROOT)
    table = [(count, name) for name in names]
    """
    said = probe(*ask_about(tmp_path, text, "TL401"))
    assert said.verdict == "REFUTED", said.reason


def test_a_relative_folder_that_is_missing_is_invented(tmp_path: Path) -> None:
    text = 'import glob\nfiles = glob.glob("data/train/*.npy")  # here\nfirst = files[:2]\n'
    said = probe(*ask_about(tmp_path, text, "TL401"))
    assert said.verdict == "CONFIRMED", said.reason
    assert said.evidence["invented_folder"] is True
    assert not Path("data/train").exists()


def test_entries_under_the_same_keys_are_no_change(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    for name in ("cat.png", "dog.png"):
        (tmp_path / "images" / name).touch()
    root = str(tmp_path / "images")
    text = f"""
    import os
    ROOT = {root!r}
    sizes = {{name: os.path.getsize(os.path.join(ROOT, name)) for name in os.listdir(ROOT)}}  # here
    """
    said = probe(*ask_about(tmp_path, text, "TL401"))
    assert said.verdict == "NOT REPRODUCED", said.reason
    assert "order of its keys" in said.reason


def test_what_differs_anyway_is_not_laid_at_the_orders_door(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    for name in ("cat.png", "dog.png"):
        (tmp_path / "images" / name).touch()
    text = f"""
    import os
    runs = [(os.getpid(), name) for name in os.listdir({str(tmp_path / "images")!r})]  # here
    """
    assert probe(*ask_about(tmp_path, text, "TL401")).verdict == "NOT REPRODUCED"


_WORDS = """
import torch

words = {words}
vocabulary = {{word: index for index, word in enumerate({order})}}  # here
tokens = torch.tensor([vocabulary[word] for word in {words}])
"""


def test_a_vocabulary_in_the_order_of_a_set_is_confirmed(tmp_path: Path) -> None:
    text = _WORDS.format(words='{"river", "mountain", "forest", "meadow"}', order="words")
    said = probe(*ask_about(tmp_path, text, "TL402"))
    assert said.verdict == "CONFIRMED", said.reason
    assert said.evidence["place"].startswith("vocabulary[")  # type: ignore[attr-defined]


def test_a_set_whose_order_is_settled_refutes(tmp_path: Path) -> None:
    text = """
    words = {"river", "mountain", "forest", "meadow"}
    vocabulary = {word: index for index, word in enumerate(sorted(words))}  # here
    """
    said = probe(*ask_about(tmp_path, text, "TL402"))
    assert said.verdict == "REFUTED", said.reason


def test_a_set_of_numbers_refutes(tmp_path: Path) -> None:
    text = "numbers = {30, 10, 20}\nplaces = {number: index for index, number in enumerate(numbers)}  # here\n"
    said = probe(*ask_about(tmp_path, text, "TL402"))
    assert said.verdict == "REFUTED", said.reason
    assert "only int" in said.reason


def test_a_set_that_a_later_line_numbers_is_followed(tmp_path: Path) -> None:
    text = """
    tokens = ["river", "mountain", "forest", "meadow", "river"]
    unique = set(tokens)  # here
    mapping = {}
    for index, token in enumerate(unique):
        mapping[token] = index
    """
    said = probe(*ask_about(tmp_path, text, "TL402"))
    assert said.verdict == "CONFIRMED", said.reason
    assert said.evidence["place"].startswith("mapping[")  # type: ignore[attr-defined]


_HASHED = """
def fold(item: {kind}) -> int:
    return {hashed} % 1000  # here
"""


def test_a_bucket_by_the_hash_of_a_text_is_confirmed(tmp_path: Path) -> None:
    said = probe(*ask_about(tmp_path, _HASHED.format(kind="str", hashed="hash(item)"), "TL403"))
    assert said.verdict == "CONFIRMED", said.reason
    assert said.evidence["hashed"] == ["str"]


def test_the_hash_of_a_number_refutes(tmp_path: Path) -> None:
    said = probe(*ask_about(tmp_path, "rows = [1, 2, 3]\nfolds = [hash(row) % 2 for row in rows]  # here\n", "TL403"))
    assert said.verdict == "REFUTED", said.reason


_FINISHED = """
from concurrent.futures import ThreadPoolExecutor, as_completed
from multiprocessing.pool import ThreadPool

import torch


def features(paths, extract):
    with {pool} as executor:
        {rows}
    return torch.stack(rows)
"""
_AS_COMPLETED = """futures = [executor.submit(extract, path) for path in paths]
        rows = []
        for future in as_completed(futures):  # here
            rows.append(future.result())"""
_BY_PLACE = """futures = {executor.submit(extract, path): index for index, path in enumerate(paths)}
        rows = [None] * len(futures)
        for future in as_completed(futures):  # here
            rows[futures[future]] = future.result()"""


@pytest.mark.parametrize(
    ("pool", "rows", "verdict"),
    [
        ("ThreadPoolExecutor()", _AS_COMPLETED, "CONFIRMED"),
        ("ThreadPoolExecutor()", _BY_PLACE, "NOT REPRODUCED"),
        ("ThreadPoolExecutor(max_workers=1)", _AS_COMPLETED, "NOT REPRODUCED"),
        ("ThreadPool(2)", "rows = list(executor.imap_unordered(extract, paths))  # here", "CONFIRMED"),
    ],
)
def test_results_taken_as_they_finish_are_turned_round(tmp_path: Path, pool: str, rows: str, verdict: str) -> None:
    said = probe(*ask_about(tmp_path, _FINISHED.format(pool=pool, rows=rows), "TL404"))
    assert said.verdict == verdict, said.reason


def test_results_of_real_tasks_that_keep_their_place_refute(tmp_path: Path) -> None:
    text = """
    from concurrent.futures import ThreadPoolExecutor, as_completed

    with ThreadPoolExecutor(4) as executor:
        futures = {executor.submit(abs, -number): number for number in range(4)}
    found = sorted(future.result() for future in as_completed(futures))  # here
    """
    said = probe(*ask_about(tmp_path, text, "TL404"))
    assert said.verdict == "REFUTED", said.reason


def test_a_function_whose_arguments_nobody_knows_is_skipped(tmp_path: Path) -> None:
    text = "def ids(protocol):\n    return {name: i for i, name in enumerate(set(protocol))}  # here\n"
    said = probe(*ask_about(tmp_path, text, "TL402"))
    assert said.verdict == "SKIPPED", said.reason
    assert said.evidence["skipped"] == "inputs"


@pytest.mark.parametrize("code", ["TL401", "TL402", "TL404"])
def test_an_order_that_is_not_reached_in_time_is_skipped(tmp_path: Path, code: str) -> None:
    text = "import os, time\nwhile True:\n    time.sleep(0.01)\nnames = os.listdir('.')  # here\n"
    said = probe(*ask_about(tmp_path, text, code, seconds=4.0))
    assert said.verdict == "SKIPPED"
    assert "line 4 was not reached: it was stopped after" in said.reason
    assert said.reason.endswith("try a larger one, such as 20")
