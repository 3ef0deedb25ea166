"""Folders are listed in sorted order, or backwards, by whatever lists them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.diverge.factors.held_program import output_of

PROGRAM = """
import glob, json, os, pathlib, shutil

def names(found):
    return [os.path.basename(os.fsdecode(each)) for each in found]

folder = pathlib.Path("listed")
number = os.open(folder, os.O_RDONLY)
with os.scandir(folder) as entries:
    first = next(entries)
    rest = [entry.name for entry in entries]
assert list(entries) == [] and {os.listdir, os.scandir} <= os.supports_fd and shutil.rmtree.avoids_symlink_attacks
closed = os.scandir(folder)
closed.close()
assert list(closed) == [] and first.is_file() in (True, False)
os.chdir(folder)
here = [names(os.listdir()), names(entry.name for entry in os.scandir())]
os.chdir("..")
shutil.copytree(folder, "copied")
print(json.dumps([
    *here, [first.name, *rest],
    names(os.listdir(folder)), names(os.listdir(b"listed")), names(os.listdir(number)), names(os.listdir("copied")),
    [entry.name for entry in os.scandir(number)], [os.fsdecode(entry.name) for entry in os.scandir(b"listed")],
    *[directories + files for _, directories, files in os.walk(folder)][:1],
    names(glob.glob("listed/*")), names(glob.iglob("listed/*")), names(folder.iterdir()), names(folder.glob("*")),
    names(each for each in folder.rglob("*") if each.parent == folder),
]))
for wrong, error in (("nowhere", FileNotFoundError), ("program.py", NotADirectoryError)):
    for function in (os.listdir, os.scandir):
        try:
            function(wrong)
        except error as raised:
            assert raised.filename == wrong
        else:
            raise SystemExit("no error")
shutil.rmtree("copied")
"""
NAMES = [f"{letter}{number}.txt" for letter in "qazwsx" for number in range(6)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "listed").mkdir()
    for name in NAMES:
        (tmp_path / "listed" / name).touch()
    return tmp_path


def test_every_way_to_list_a_folder_is_sorted(folder: Path) -> None:
    listings = json.loads(output_of(PROGRAM, folder, {"listing"}))
    assert len(listings) == 15
    assert all(names == sorted(NAMES) for names in listings)


def test_every_way_to_list_a_folder_is_sorted_backwards_where_it_is_varied(folder: Path) -> None:
    listings = json.loads(output_of(PROGRAM, folder, varied={"listing"}))
    assert all(names == sorted(NAMES, reverse=True) for names in listings)


def test_what_was_imported_before_lists_in_order_too(folder: Path) -> None:
    program = """
    import pathlib, glob, json, sys
    from os import listdir, scandir
    from torchlint.recording.factors.start import begin
    begin(frozenset({"listing"}), frozenset())
    names = [each.name for each in pathlib.Path("listed").iterdir()]
    print(json.dumps([names, [each.name for each in pathlib.Path("listed").glob("*")], listdir("listed")]))
    """
    listings = json.loads(output_of(program, folder))
    assert all(names == sorted(NAMES) for names in listings)
