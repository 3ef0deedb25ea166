"""What the sources of a project say: each is read once, as far as there is room for them."""

from __future__ import annotations

from collections import Counter

import pytest

from torchlint.project import texts
from torchlint.project.answers import Interview
from torchlint.project.texts import Texts

SOURCES = {f"part{n}.py": f"def work{n % 2}():\n    return seed\n".encode() for n in range(6)}
SIZE = len(SOURCES["part0.py"])


@pytest.mark.parametrize(("room", "read"), [(1_000, 6), (2 * SIZE, 2 + 4 * 3), (0, 6 * 3)])
def test_what_fits_is_read_once(room: int, read: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "_KEPT", room)
    asked = Counter[str]()

    def reading(path: str) -> bytes:
        asked[path] += 1
        return SOURCES[path]

    told = Texts(lambda: iter(SOURCES.items()), reading, Interview(lambda _: None, None))
    assert told.naming("work1", SOURCES) == ["part1.py", "part3.py", "part5.py"]
    assert told.naming("seed", SOURCES) == sorted(SOURCES)
    assert told.naming("see", SOURCES) == []
    assert asked.total() == read
