"""What enters a program from outside torch: the events of a step, by line and in their order."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")

from tests.diverge.journal.program import NAME, Program, details_of, recorded_program
from torchlint.diverge.recordings import Event

pytestmark = [pytest.mark.torch, pytest.mark.skipif(sys.platform == "win32", reason="it forks")]

EVENTS = """\
import os
import random
import secrets
import uuid
from pathlib import Path

import numpy
import torch
import packaged
import settings

random.seed(3)  # seeded
numpy.random.seed(4)  # numpy_seeded
torch.manual_seed(5)  # torch_seeded
random.random()  # drawn
random.random()  # drawn_again
numpy.random.rand(2)  # numpy_drawn
numpy.random.rand(2)  # numpy_drawn_again
numpy.random.default_rng(1).random()  # own_generator
uuid.uuid4()  # entropy
numpy.random.default_rng()  # entropy_of_numpy
secrets.token_hex(4)  # entropy_again

os.listdir("data")  # listed
[entry.name for entry in os.scandir("data")]  # scanned
list(Path("data").iterdir())  # iterated
os.listdir(".")  # here


def load(name):
    with open(name) as file:  # opened
        return file.read()


load("data/one.txt")  # first_load
load("data/two.txt")  # second_load
Path("data/one.txt").read_bytes()  # read_by_path
Path("log.txt").write_text("a line")  # written
with open("log.txt", "a") as file:  # appended
    file.write("another")
Path("log.txt").read_text()  # read_back
packaged.read()  # read_of_a_library
Path("helper.py").read_text()  # source
try:
    open("missing.txt")  # missing
except FileNotFoundError:
    pass
first = torch.ones(2) + 1  # before
Path("data/two.txt").read_text()  # between
first * 2  # after

model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.step()
    random.random()  # drawn_each_step
    load("data/one.txt")  # loaded_each_step
"""
LOADER = """\
import os
import random

import torch
from torch.utils.data import DataLoader, Dataset


class Items(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        return torch.rand(2) + index  # item


def main():
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in DataLoader(Items(), batch_size=2, num_workers=2, multiprocessing_context="fork"):
        optimizer.zero_grad()
        model(batch).sum().backward()  # trained
        optimizer.step()
    optimizer.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    child = os.fork()
    if not child:
        model(torch.zeros(3, 2))  # forked
        open("forked.txt", "w").close()  # forked_write
        os._exit(0)
    os.waitpid(child, 0)
    silent = os.fork()
    if not silent:
        os._exit(0)
    os.waitpid(silent, 0)


if __name__ == "__main__":
    main()
"""
SETTINGS = """\
import os
import packaged_too

NAMES = os.listdir("data")
WORDS = open("data/one.txt").read()
"""
PACKAGED_TOO = """\
import os

NAMES = os.listdir("data")
TOKEN = os.urandom(2)
"""
PACKAGED = """\
from pathlib import Path


def read():
    return Path(__file__).with_name("words.txt").read_text()
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("outside")
    library = folder / "site-packages"
    for each in (folder / "data", library):
        each.mkdir()
    (folder / "data" / "one.txt").write_text("one", encoding="utf-8")
    (folder / "data" / "two.txt").write_text("two", encoding="utf-8")
    (folder / "helper.py").write_text("", encoding="utf-8")
    (library / "words.txt").write_text("words", encoding="utf-8")
    (folder / "settings.py").write_text(SETTINGS, encoding="utf-8")
    (library / "packaged_too.py").write_text(PACKAGED_TOO, encoding="utf-8")
    (library / "packaged.py").write_text(PACKAGED, encoding="utf-8")
    return recorded_program(folder, EVENTS, libraries=library)


@pytest.fixture(scope="module")
def loader(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return recorded_program(tmp_path_factory.mktemp("loader"), LOADER)


def one(program: Program, mark: str) -> Event:
    (found,) = program.events(mark)
    return found


# -- seeds, draws and entropy -----------------------------------------------------------------------------


def test_seeds_are_told_with_their_numbers_in_their_order(program: Program) -> None:
    marks = ("seeded", "numpy_seeded", "torch_seeded")
    seeds = [one(program, mark) for mark in marks]
    assert [each.what for each in seeds] == ["random.seed(3)", "numpy.random.seed(4)", "torch.manual_seed(5)"]
    assert {each.kind for each in seeds} == {"seed"}
    assert len({each.digest for each in seeds}) == 3
    assert sorted(seeds, key=program.details[0].events.index) == seeds


def test_the_first_draw_of_a_step_is_told_and_the_others_are_counted(program: Program) -> None:
    assert (one(program, "drawn").kind, one(program, "drawn").what) == ("draw", "random.random")
    assert (one(program, "numpy_drawn").kind, one(program, "numpy_drawn").what) == ("draw", "numpy.random.rand")
    assert program.events("drawn_again") == program.events("numpy_drawn_again") == []
    assert program.details[0].step.draws == {"python": 2, "numpy": 2}
    assert program.details[1].step.draws == {"python": 1}


def test_each_step_begins_with_a_first_draw_from_another_state(program: Program) -> None:
    second, third = program.events("drawn_each_step")
    assert [second.step, third.step] == [2, 3]
    assert len({second.digest, third.digest, one(program, "drawn").digest}) == 3


def test_entropy_of_the_system_is_told(program: Program) -> None:
    assert one(program, "entropy_of_numpy").what == "numpy.random.default_rng()"
    found = [each for each in program.details[0].events if each.kind == "entropy"]
    assert [each.what for each in found] == ["os.urandom", "numpy.random.default_rng()"]  # each once in a step
    assert {each.digest for each in found} == {0}
    assert (NAME, program.line("entropy")) in found[0].stack
    assert program.events("own_generator") == []


# -- listings and files -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["listed", "scanned", "iterated"])
def test_a_listing_is_told_with_its_folder(program: Program, mark: str) -> None:
    found = [
        each
        for each in program.details[0].events
        if each.kind == "listing" and (NAME, program.line(mark)) in each.stack
    ]
    assert [each.what for each in found] == ["data"]
    assert found[0].digest != one(program, "here").digest


def test_ways_of_listing_give_one_digest(program: Program) -> None:
    assert one(program, "listed").digest == one(program, "scanned").digest


def test_a_file_that_is_read_is_told_with_all_lines_that_led_to_it(program: Program) -> None:
    found = program.events("opened")
    assert [(each.kind, each.what) for each in found[:2]] == [("read", "data/one.txt"), ("read", "data/two.txt")]
    assert found[0].digest != found[1].digest
    assert [each.stack for each in found[:2]] == [
        ((NAME, program.line("opened")), (NAME, program.line(mark))) for mark in ("first_load", "second_load")
    ]


def test_the_content_of_a_file_has_one_digest_however_it_is_read(program: Program) -> None:
    (by_path,) = (each for each in program.details[0].events if (NAME, program.line("read_by_path")) in each.stack)
    first, _, later, last = program.events("opened")
    assert {each.digest for each in (by_path, later, last)} == {first.digest}
    assert [later.step, last.step] == [2, 3]


def test_a_file_that_is_written_is_told_without_its_content(program: Program) -> None:
    (written,) = (each for each in program.details[0].events if (NAME, program.line("written")) in each.stack)
    appended = one(program, "appended")
    assert [(each.kind, each.what, each.digest) for each in (written, appended)] == [("write", "log.txt", 0)] * 2


def test_what_was_written_is_read_with_its_new_content(program: Program) -> None:
    (back,) = (each for each in program.details[0].events if (NAME, program.line("read_back")) in each.stack)
    assert (back.kind, back.what) == ("read", "log.txt")
    assert back.digest not in (0, program.events("opened")[0].digest)


@pytest.mark.parametrize("mark", ["read_of_a_library", "source", "missing"])
def test_files_of_libraries_and_sources_and_those_that_are_not_there_are_not_told(program: Program, mark: str) -> None:
    assert not any((NAME, program.line(mark)) in each.stack for each in program.details[0].events)


def test_a_module_of_the_program_tells_what_it_reads_while_it_is_imported(program: Program) -> None:
    found = [each for each in program.details[0].events if each.stack[0][0] == "settings.py"]
    assert [(each.kind, each.what, each.stack[0][1]) for each in found] == [
        ("listing", "data", 4),
        ("read", "data/one.txt", 5),
    ]
    assert found == list(program.details[0].events[:2])


def test_an_event_knows_the_operators_before_it(program: Program) -> None:
    (between,) = (each for each in program.details[0].events if (NAME, program.line("between")) in each.stack)
    before, after = program.operators("before")[-1], program.one("after")
    assert before.number < between.row == after.number


def test_the_events_of_a_step_stand_in_the_order_of_the_program(program: Program) -> None:
    lines = [each.stack[-1][1] for each in program.details[0].events]
    assert lines == sorted(lines)
    assert len(lines) > 10


# -- other processes --------------------------------------------------------------------------------------


def test_workers_of_a_loader_tell_the_samples_that_they_make(loader: Program) -> None:
    names = sorted(loader.recorded.processes)
    assert names == ["child of main", "main", "worker 0 of main", "worker 1 of main"]
    for worker, indices in (("worker 0 of main", ["[0, 1]", "[4, 5]"]), ("worker 1 of main", ["[2, 3]"])):
        steps = [each for each in details_of(loader.recorded, worker) if each.step.ends_with == "fetch"]
        samples = [event for each in steps for event in each.events if event.kind == "sample"]
        assert [each.what for each in samples] == indices
        assert len({each.digest for each in samples}) == len(indices)


def test_a_worker_has_rows_of_its_own_lines(loader: Program) -> None:
    first = details_of(loader.recorded, "worker 0 of main")[0]
    rows = [each for thread in first.threads for each in thread]
    assert (NAME, loader.line("item")) in {each.stack[0] for each in rows}
    assert any(each.row.generator for each in rows)


def test_a_batch_is_what_the_process_that_trains_takes(loader: Program) -> None:
    samples = {
        event.digest
        for number in (0, 1)
        for each in details_of(loader.recorded, f"worker {number} of main")
        for event in each.events
        if event.kind == "sample"
    }
    taken = {operand.digest for each in loader.operators("trained") for operand in each.row.operands}
    assert len(samples) == 3
    assert samples <= taken


def test_a_forked_child_has_a_file_of_its_own_if_it_has_something_to_say(loader: Program) -> None:
    (child,) = details_of(loader.recorded, "child of main")
    assert (NAME, loader.line("forked")) in {each.stack[0] for thread in child.threads for each in thread}
    assert [each.what for each in child.events if each.kind == "write"] == ["forked.txt"]
    header = loader.recorded.processes["child of main"].header
    assert header.parent == loader.recorded.processes["main"].header.pid
    assert not loader.operators("forked")
    assert not loader.events("forked_write")


def test_the_file_of_the_parent_goes_on(loader: Program) -> None:
    assert loader.recorded.steps == 4
    assert loader.recorded.principals.keys() == {"main"}
