"""The result cache: after any change of a project the answer is that of a run without it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from unittest import mock

import pytest

from tests.fuzz.checking import as_it_comes_back
from torchlint.api import CheckOptions, audit_paths, check_paths
from torchlint.catalogue import load_catalogue
from torchlint.config import Overrides, load_settings
from torchlint.diagnostics import Report
from torchlint.encoding import decoded
from torchlint.engine import process_state
from torchlint.engine.cache.layout import CHECK, INTERFACE
from torchlint.engine.cache.results import ResultCache, _KeptReport
from torchlint.engine.projects import Execution, ProjectRun

FIXTURES = Path(__file__).parents[2] / "fixtures"
PROJECT = {
    "train.py": (
        "import random\nfrom zoo import build\nfrom tools.seeding import seed_all\nfrom data import *\n\n"
        "def main():\n    seed_all(3)\n    net = build('small').cuda()\n    random.shuffle(rows())\n"
        "    net(first()).sum().backward()\n\nif __name__ == '__main__':\n    main()\n"
    ),
    "zoo/__init__.py": (
        "from zoo.nets import Net\n\nKINDS = {'small': Net}\n\ndef build(kind):\n    return KINDS[kind]('bilinear')\n"
    ),
    "zoo/nets.py": (
        "import torch\nfrom torch import nn\nfrom tools.resizing import resize\n\nclass Net(nn.Module):\n"
        "    def __init__(self, mode):\n        super().__init__()\n        self.mode = mode\n"
        "        self.one = nn.Conv2d(3, 3, 3, padding=1, padding_mode='replicate')\n\n"
        "    def forward(self, x):\n        return resize(self.one(x), self.mode)\n"
    ),
    "tools/__init__.py": "",
    "tools/resizing.py": (
        "import torch.nn.functional as F\n\ndef resize(x, mode):\n"
        "    return F.interpolate(x, scale_factor=2, mode=mode)\n"
    ),
    "tools/seeding.py": "import torch\n\ndef seed_all(seed):\n    torch.manual_seed(seed)\n",
    "data/__init__.py": "from data.listing import rows, first\n",
    "data/listing.py": (
        "import os\nimport torch\n\ndef rows():\n    return os.listdir('rows')\n\n"
        "def first():\n    return torch.load(rows()[0])\n"
    ),
    "config.yaml": "mode: bilinear\n",
    "requirements.txt": "torch==2.6.0\n",
    "run.sh": "export PYTHONHASHSEED=0\npython train.py\n",
}


def write(folder: Path) -> Path:
    for name, text in PROJECT.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / ".git").mkdir()
    return folder


def answer(path: Path, cache: ResultCache | None) -> Report:
    return check_paths([path], CheckOptions(jobs=1, cache=cache))


def on_disk() -> ResultCache:
    """A cache as a new process has it."""
    return ResultCache(is_on_disk=True)


def _without_a_line(path: Path, other: Path, _: random.Random) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: len(lines) // 2] + lines[len(lines) // 2 + 1 :]))
    other.write_text(other.read_text() + "\n# read again\n")


def _gone(path: Path, _: Path, __: random.Random) -> None:
    path.unlink()


def _renamed(path: Path, _: Path, chance: random.Random) -> None:
    path.rename(path.with_name(f"r{chance.randrange(99)}_{path.name}"))


def _moved(path: Path, other: Path, _: random.Random) -> None:
    if not (other.parent / path.name).exists():
        path.rename(other.parent / path.name)


def _copied(path: Path, other: Path, chance: random.Random) -> None:
    (other.parent / f"n{chance.randrange(99)}.py").write_text(path.read_text())


def _importing_all(path: Path, other: Path, _: random.Random) -> None:
    path.write_text(f"from {other.stem} import *\n{path.read_text()}")


def _unreadable(path: Path, _: Path, __: random.Random) -> None:
    path.write_text(f"{path.read_text()}\ndef (:\n")


def _environment(path: Path, _: Path, chance: random.Random) -> None:
    root = next(folder for folder in path.parents if (folder / ".git").exists())
    (root / "requirements.txt").write_text(f"torch==2.{chance.randrange(1, 13)}.0\n")
    (root / "config.yaml").write_text(f"mode: {chance.choice(['nearest', 'bilinear'])}\n")


def _shifted(path: Path, _: Path, __: random.Random) -> None:
    path.write_text(f"# one line more\n{path.read_text()}")


def _bound_anew(path: Path, other: Path, chance: random.Random) -> None:
    """A name that others may import is something else, or its definition says something else."""
    old, new = chance.choice(
        [("resize", "resize_all"), ("return", "return not"), ("KINDS = ", "KINDS = KINDS_2 = "), ("mode", "kind")]
    )
    for one in (path, other):
        one.write_text(one.read_text().replace(old, new, 1))


def _touched(path: Path, _: Path, __: random.Random) -> None:
    path.touch()


def _same_size_and_time(path: Path, _: Path, __: random.Random) -> None:
    """As some tools write: only the time at which the file system noticed it tells."""
    before = path.stat()
    path.write_text(path.read_text().replace("bilinear", "bicubic ").replace("os.", "so."))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


STEPS: tuple[Callable[[Path, Path, random.Random], None], ...] = (
    *(_without_a_line, _gone, _renamed, _moved, _copied, _importing_all, _unreadable, _environment),
    *(_shifted, _bound_anew, _touched, _same_size_and_time),
)


@pytest.mark.parametrize("seed", range(12))
def test_after_any_change_the_answer_is_that_of_a_cold_run(seed: int, tmp_path: Path) -> None:
    """In one process, and in a new one after each change, which finds the cache on disk; also of a single file."""
    chance = random.Random(seed)  # noqa: S311 - edits that can be made again
    folder, kept = write(tmp_path / "project"), ResultCache()
    assert answer(folder, kept) == answer(folder, on_disk()) == answer(folder, None)
    for _ in range(12):
        files = sorted(folder.rglob("*.py"))
        if len(files) < 2:
            break
        step = chance.choice(STEPS)
        one, other = chance.sample(files, 2)
        step(one, other, chance)
        asked = chance.choice([folder, *sorted(folder.rglob("*.py"))])
        assert answer(asked, kept) == answer(asked, on_disk()) == answer(asked, None), step.__name__


def _written_into(text: str, chance: random.Random) -> str:
    """What somebody may do to a text in an editor: names come, go and change, lines move, half a line stands there."""
    lines = text.split("\n")
    at = chance.randrange(len(lines) + 1)
    line = chance.choice(
        [
            *("", "# a word", "import os", "from resizing import *", "from zoo.nets import resize", "def resize(x):"),
            *("    return x", "resize = print", "KINDS = ['bicubic']", "x = (", "    import os", "mode = 'nearest'"),
            *("from tools.resizing import (", "    resize)", "import zoo", "zoo.nets.resize(1)", "getattr(zoo, 'os')"),
        ]
    )
    if chance.random() < 0.5:
        return "\n".join([*lines[:at], line, *lines[at:]])
    if chance.random() < 0.5:
        return "\n".join([*lines[:at], *lines[at + 1 :]])
    words = sorted({word for one in lines for word in one.replace("(", " ").split() if word.isidentifier()}) or ["x"]
    return text.replace(chance.choice(words), chance.choice([*words, "fresh"]))


@pytest.mark.parametrize("seed", range(16))
def test_after_any_unsaved_edit_the_answer_is_that_of_a_cold_run(seed: int, tmp_path: Path) -> None:
    """Of the same bytes: in a process that stays, as `torchlint server` does, with several texts open."""
    chance = random.Random(seed)  # noqa: S311 - as above
    folder, kept = write(tmp_path / "project"), ResultCache(stays=True)
    files = sorted(folder.rglob("*.py"))
    opened = {path: path.read_text(encoding="utf-8") for path in chance.sample(files, 3)}
    for _ in range(20):
        edited = chance.choice(list(opened))
        opened[edited] = _written_into(opened[edited], chance)
        contents = {path: text.encode() for path, text in opened.items()}
        asked = chance.choice([[folder], [edited], sorted(opened)])
        warm = check_paths(asked, CheckOptions(jobs=1, cache=kept), contents)
        assert warm == check_paths(asked, CheckOptions(jobs=1), contents), opened[edited]


@pytest.mark.parametrize("seed", range(4))
def test_pages_of_an_audit_are_those_of_a_cold_run(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)  # noqa: S311 - as above
    folder = write(tmp_path / "project")
    for step in chance.sample(STEPS, 8):
        pages = audit_paths([str(folder)], CheckOptions(jobs=1, cache=on_disk()))
        assert pages == audit_paths([str(folder)], CheckOptions(jobs=1)), step.__name__
        files = sorted(folder.rglob("*.py"))
        if len(files) < 2:
            break
        one, other = chance.sample(files, 2)
        step(one, other, chance)


def _read_again(folder: Path, kept: ResultCache) -> set[str]:
    """The files that a run analyses."""
    read: set[str] = set()
    analyse = process_state.ProcessState.check

    def counted(state: process_state.ProcessState, path: str) -> object:
        read.add(path)
        return analyse(state, path)

    with mock.patch.object(process_state.ProcessState, "check", counted):
        answer(folder, kept)
    return read


def test_a_file_is_read_again_and_where_it_shows_something_else_those_that_asked_for_it(tmp_path: Path) -> None:
    folder, kept = write(tmp_path / "project"), ResultCache()
    answer(folder, kept)
    assert _read_again(folder, kept) == set()
    (folder / "tools/resizing.py").write_text("# moved\n" + PROJECT["tools/resizing.py"] + "    return 1\n")
    assert _read_again(folder, kept) == {"tools/resizing.py"}
    (folder / "tools/resizing.py").write_text(PROJECT["tools/resizing.py"] + "resize = print\n")
    assert _read_again(folder, kept) == {"tools/resizing.py", "zoo/__init__.py", "zoo/nets.py"}
    (folder / "train.py").write_text(PROJECT["train.py"] + "\n")
    assert _read_again(folder, kept) == {"train.py"}
    (folder / "requirements.txt").write_text("torch==2.5.0\n")
    assert len(_read_again(folder, kept)) == 8
    (folder / "new.py").write_text("")
    assert len(_read_again(folder, kept)) == 9


def test_what_is_too_large_and_what_notebooks_write_are_looked_at(tmp_path: Path) -> None:
    folder, kept = write(tmp_path / "project"), ResultCache()
    writing = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "source": "%%writefile w.py\nimport torch\ntorch.x = 1",
    }
    other = {**writing, "source": "print(1)"}

    def notebook(*cells: Mapping[str, object], output: str = "") -> str:
        return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"x": output}, "cells": cells})

    for text in (notebook(other, writing), notebook(other, other, writing), notebook(writing, output="x" * 2_100_000)):
        (folder / "nb.ipynb").write_text(text)
        assert answer(folder, kept) == answer(folder, None)
    for text in ("", "x = 1\n" * 400_000):
        (folder / "empty.py").write_text(text)
        assert answer(folder, kept) == answer(folder, None)


def test_every_result_is_as_it_was_when_it_comes_back() -> None:
    """Of all fixtures, which hold what no project does."""
    settings = load_settings(FIXTURES, Overrides(), isolated=True)
    files = sorted(FIXTURES.rglob("*.py"))
    run = ProjectRun(settings, load_catalogue(), files, {}, execution=Execution(jobs=1))
    for result in run.results(run.files):
        assert as_it_comes_back(result, settings) == result


@pytest.mark.parametrize(
    "value", ["1 << 80", "0xffffffffffffffffffff", "'\\ud800'", "'\\udc80'.encode()", "1e999", "2j"]
)
def test_values_that_no_file_can_hold(value: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "project")
    (folder / "data/listing.py").write_text(
        f"import torch\nLIMIT = {value}\n\ndef first(limit={value}):\n    if limit == {value}:\n"
        f"        torch.manual_seed(LIMIT)\n    return rows(limit={value})\n\n"
        f"def rows(limit):\n    return first({value})\n"
    )
    for _ in range(3):
        assert answer(folder, on_disk()) == answer(folder, None)


def test_names_that_are_no_utf_8(tmp_path: Path) -> None:
    """Of a project, of a file in it, and in an option."""
    folder = write(tmp_path / os.fsdecode(b"caf\xe9"))
    (folder / os.fsdecode(b"nets\xff.py")).write_text(PROJECT["zoo/nets.py"])
    for _ in range(3):
        assert answer(folder, on_disk()) == answer(folder, None)
        overrides = Overrides(extend_exclude=(os.fsdecode(b"x\xfe*"),))
        cached = check_paths([folder], CheckOptions(overrides, jobs=1, cache=on_disk()))
        assert cached == check_paths([folder], CheckOptions(overrides, jobs=1))


def test_a_large_lock_file_is_looked_at(tmp_path: Path) -> None:
    """Larger than any source that is checked; an edit that keeps its size and its time."""
    folder = write(tmp_path / "project")
    (folder / "requirements.txt").unlink()
    lock, padding = folder / "uv.lock", "# " + "x" * 3_000_000 + "\n"
    for version in ("2.6.0", "1.9.0"):
        lock.write_text(f'{padding}[[package]]\nname = "torch"\nversion = "{version}"\n')
        assert answer(folder, on_disk()) == answer(folder, None)


def _store(folder: Path) -> Path:
    [file] = (folder / ".torchlint_cache" / "check").iterdir()
    return file


@pytest.mark.parametrize("seed", range(8))
def test_a_damaged_cache_is_none(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)  # noqa: S311 - damage that can be done again
    folder = write(tmp_path / "project")
    expected = answer(folder, on_disk())
    file = _store(folder)
    data = bytearray(file.read_bytes())
    for _ in range(chance.choice([1, 3, 200])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data[: chance.choice([len(data), len(data) // 2, 20, 0])])
    assert answer(folder, on_disk()) == expected
    assert answer(folder, on_disk()) == expected


def test_another_build_reads_nothing_of_it(tmp_path: Path) -> None:
    folder = write(tmp_path / "project")
    answer(folder, on_disk())
    with mock.patch("torchlint.engine.cache.results.build", return_value="another"):
        assert len(_read_again(folder, on_disk())) == 8
    assert _read_again(folder, on_disk()) == set()


def test_a_folder_that_cannot_be_written_in_changes_nothing(tmp_path: Path) -> None:
    folder = write(tmp_path / "project")
    (folder / ".torchlint_cache").write_text("a file, where the folder should be")
    assert answer(folder, on_disk()) == answer(folder, None)
    (folder / ".torchlint_cache").unlink()
    with mock.patch("torchlint.engine.cache.store.os.replace", side_effect=OSError(28, "No space left on device")):
        assert answer(folder, on_disk()) == answer(folder, None)
    assert list((folder / ".torchlint_cache" / "check").iterdir()) == []


def _command(folder: Path) -> subprocess.Popen[bytes]:
    command = (sys.executable, "-m", "torchlint", "check", "--jobs", "1", "--output-format", "json", str(folder))
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_several_runs_at_once(tmp_path: Path) -> None:
    folder = write(tmp_path / "project")
    for text in ("", "\nx = 1\n", "\nx = 2\n"):
        (folder / "zoo" / "nets.py").write_text(PROJECT["zoo/nets.py"] + text)
        said = [process.communicate()[0] for process in [_command(folder) for _ in range(4)]]
        assert len(set(said)) == 1
        assert answer(folder, on_disk()) == answer(folder, None)


def test_a_run_that_is_killed(tmp_path: Path) -> None:
    """Wherever it was: what it leaves is whole, or counts for nothing."""
    folder = write(tmp_path / "project")
    for part in range(6):
        process = _command(folder)
        time.sleep(0.05 * part)
        process.kill()
        process.communicate()
        assert answer(folder, on_disk()) == answer(folder, None)


def test_what_a_killed_run_was_writing_goes_in_time(tmp_path: Path) -> None:
    folder = write(tmp_path / "project")
    answer(folder, on_disk())
    old, new = (_store(folder).with_name(f"{_store(folder).stem}-7-{number}.tmp") for number in (1, 2))
    for left in (old, new):
        left.write_bytes(b"half")
    os.utime(old, (0, 0))
    (folder / "train.py").write_text(PROJECT["train.py"] + "\n")
    answer(folder, on_disk())
    assert (old.exists(), new.exists()) == (False, True)


def test_what_another_build_kept_goes_in_time(tmp_path: Path) -> None:
    folder = write(tmp_path / "project")
    with mock.patch("torchlint.engine.cache.results.build", return_value="another"):
        answer(folder, on_disk())
    other = _store(folder)
    assert answer(folder, on_disk()) == answer(folder, None)
    assert other.exists()
    os.utime(other, (0, 0))
    (folder / "train.py").write_text(PROJECT["train.py"] + "\n")
    answer(folder, on_disk())
    assert not other.exists()


def test_files_of_the_user_stay(tmp_path: Path) -> None:
    """The folder of results is a link to one with models; and the directory that was named is a project's own."""
    folder, models = write(tmp_path / "project"), tmp_path / "models"
    models.mkdir()
    kept = [models / f"pytorch_model-{number}.bin" for number in range(12)] + [models / "download.tmp"]
    for path in kept:
        path.write_bytes(b"weights")
        os.utime(path, (0, 0))
    (folder / ".torchlint_cache").mkdir()
    (folder / ".torchlint_cache" / "check").symlink_to(models)
    assert answer(folder, on_disk()) == answer(folder, None)
    assert all(path.read_bytes() == b"weights" for path in kept)
    answer(folder, ResultCache(is_on_disk=True, directory=folder))
    assert not (folder / ".gitignore").exists()


@pytest.mark.parametrize("included", ["/dev/zero", "/dev/stdin", ".", "missing.txt"])
def test_what_no_requirements_are_is_not_read(included: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "project")
    (folder / "requirements.txt").write_text(f"-r {included}\ntorch==1.9.0\n")
    assert answer(folder, on_disk()) == answer(folder, on_disk()) == answer(folder, None)


def test_git_does_not_see_it_and_no_more_than_eight_ways_to_check_are_kept(tmp_path: Path) -> None:
    folder = write(tmp_path / "project")
    for number in range(12):
        overrides = Overrides(torch=f"2.{number}")
        check_paths([folder], CheckOptions(overrides, jobs=1, cache=on_disk()))
    assert len(list((folder / ".torchlint_cache" / "check").iterdir())) == 8
    assert (folder / ".torchlint_cache" / ".gitignore").read_text() == "*\n"


def test_it_lies_where_it_is_told_to(tmp_path: Path) -> None:
    folder, elsewhere = write(tmp_path / "project"), tmp_path / "elsewhere"
    answer(folder, ResultCache(is_on_disk=True, directory=elsewhere))
    assert not (folder / ".torchlint_cache").exists()
    [own] = elsewhere.iterdir()
    assert own.name.startswith("project-")
    assert len(list(own.glob("*.bin"))) == 1
    assert (own / ".gitignore").read_text() == "*\n"
    assert _read_again(folder, ResultCache(is_on_disk=True, directory=elsewhere)) == set()


def test_unsaved_text_is_not_kept(tmp_path: Path) -> None:
    folder = write(tmp_path / "project")
    answer(folder, on_disk())
    before, unsaved = _store(folder).read_bytes(), {folder / "train.py": b"import torch\ntorch.rand(3)\n"}
    options = CheckOptions(jobs=1, cache=on_disk())
    plain = CheckOptions(jobs=1)
    assert check_paths([folder], options, unsaved) == check_paths([folder], plain, unsaved)
    assert _store(folder).read_bytes() == before


def test_what_a_file_outside_the_lists_says_is_asked_again(tmp_path: Path) -> None:
    """A file that requirements include, and C++ sources: no list of the project names them."""
    folder = write(tmp_path / "project")
    (folder / "requirements.txt").write_text("-r pins/base.in\n")
    (folder / "pins").mkdir()
    for version in ("2.6.0", "1.9.0"):
        (folder / "pins" / "base.in").write_text(f"torch=={version}\n")
        assert answer(folder, on_disk()) == answer(folder, None)


def test_a_file_that_was_not_read_shows_others_nothing_that_is_kept(tmp_path: Path) -> None:
    """Where no library is named, files are parsed and no more; and one that cannot be parsed shows nothing yet."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "net.py").write_text(
        "from passing import Module, kernel\n\n\nclass Sampler(Module):\n    def forward(self, x, grid):\n"
        "        return kernel(x, grid)\n"
    )
    (tmp_path / "passing.py").write_text("from ops import Module, kernel\n")
    for text in (
        "class Module:\n    pass\n\n\ndef kernel(x, grid):\n    return x\n",
        "from torch.nn import Module\nfrom torch.nn.functional import grid_sample as kernel\ndef (:\n",
        "from torch.nn import Module\nfrom torch.nn.functional import grid_sample as kernel\n",
    ):
        (tmp_path / "ops.py").write_text(text)
        cold = answer(tmp_path, None)
        assert answer(tmp_path, on_disk()).diagnostics == cold.diagnostics
    assert [one.code for one in cold.diagnostics] == ["TL104"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="elsewhere one process judges")
def test_what_several_processes_learn_as_they_judge_is_kept(tmp_path: Path) -> None:
    """The same answers of files, and the same questions to the file system, as where one process judges."""
    (tmp_path / "project").mkdir()
    project = write(tmp_path / "project")
    (project / "requirements.txt").unlink()
    for number in range(40):
        (project / f"part_{number}.py").write_text(f"from zoo import build\n\nnet_{number} = build('small')\n")
    reports, asked, outside = [], [], []
    for jobs in (1, 2):
        cache = ResultCache(is_on_disk=True, directory=tmp_path / f"cache_{jobs}")
        reports.append(check_paths([project], CheckOptions(jobs=jobs, cache=cache)))
        (known,) = cache._known.values()
        asked.append(set(known.said))
        (body,) = known.reports.values()
        kept = decoded(body(), _KeptReport)
        outside.append(set(kept.outside) if kept is not None else None)
    assert reports[0] == reports[1]
    assert reports[0].diagnostics
    assert asked[0] == asked[1]
    assert {path for path, question in asked[0] if question not in (CHECK, INTERFACE)}
    assert outside[0] == outside[1]
    assert outside[0]
