"""How many lines each room of torchlint has: `python tests/budgets/rooms.py` prints the table anew."""

from __future__ import annotations

import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("rooms.tsv")


def lines_of(room: str) -> int:
    """Of all its Python files."""
    files = (REPOSITORY / "torchlint" / room).rglob("*.py")
    return sum(path.read_bytes().count(b"\n") for path in files)


def table() -> dict[str, tuple[int, str]]:
    """The lines that each room may have, and why it last grew."""
    rows = (line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()[1:])
    return {room: (int(most), why) for room, most, why in rows}


def main() -> int:
    rows = [f"{room}\t{lines_of(room)}\t{why}" for room, (_, why) in table().items()]
    TABLE.write_text("\n".join(["room\tlines\twhy it last grew", *rows, ""]), encoding="utf-8")
    print(TABLE.read_text(encoding="utf-8"), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
