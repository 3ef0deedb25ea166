from __future__ import annotations

import os
from pathlib import Path

import pytest

from torchlint.recording.confinement import scratch
from torchlint.recording.process.excerpt import Excerpt

pytestmark = pytest.mark.skipif(os.name == "nt", reason="permissions and descriptors are those of POSIX")


def test_a_folder_is_made_and_removed(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    scratch.make(str(folder))
    assert sorted(path.name for path in folder.iterdir()) == ["home", "tmp", "work"]
    assert scratch.remove(str(folder))
    assert not folder.exists()
    assert scratch.remove(str(folder))


def test_what_links_lead_to_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("kept")
    scratch.make(str(tmp_path / "x"))
    (tmp_path / "x" / "work" / "link").symlink_to(kept)
    (tmp_path / "x" / "link").symlink_to(kept / "file")
    assert scratch.remove(str(tmp_path / "x"))
    assert (kept / "file").read_text() == "kept"


def test_windows_has_a_way_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "x" / "a").mkdir(parents=True)
    (tmp_path / "x" / "a" / "file").write_text("x")
    (tmp_path / "x" / "a" / "file").chmod(0o400)
    assert scratch._remove_on_windows(str(tmp_path / "x"))
    assert not (tmp_path / "x").exists()


def test_the_size_of_a_folder_is_what_its_files_take(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").write_bytes(bytes(1 << 20))
    assert scratch.exceeds(str(tmp_path), 1 << 19)
    assert not scratch.exceeds(str(tmp_path), 1 << 22)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_an_excerpt_holds_head_and_tail(size: int) -> None:
    stream = bytes(range(97, 123)) * 40
    excerpt = Excerpt(20)
    for place in range(0, len(stream), size):
        excerpt.feed(stream[place : place + size])
    assert excerpt.text == "abcdefghij\n[1020 bytes left out]\nqrstuvwxyz"


def test_a_short_stream_is_kept_whole() -> None:
    excerpt = Excerpt(20)
    excerpt.feed(b"twenty bytes in all.")
    assert excerpt.text == "twenty bytes in all."
