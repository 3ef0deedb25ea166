"""A room grows only where its table says so, with a word why."""

from __future__ import annotations

import pytest

from tests.budgets.rooms import REPOSITORY, lines_of, table

_SHRUNK = 300
"""Lines by which a room may be shorter than its table says: after that the table is to follow."""


@pytest.mark.parametrize("room", table())
def test_a_room_has_as_many_lines_as_its_table_says(room: str) -> None:
    most, why = table()[room]
    found = lines_of(room)
    assert found <= most, f"{room} grew to {found} lines: say so in rooms.tsv, and why"
    assert found > most - _SHRUNK, f"{room} shrank to {found} lines: run `python tests/budgets/rooms.py`"
    assert why.strip()


def test_every_room_is_in_the_table() -> None:
    folders = {path.name for path in (REPOSITORY / "torchlint").iterdir() if any(path.glob("*.py"))}
    assert folders == table().keys()
