"""How many of the everyday ways each rule follows, and what moved against `known.toml`: `python -m tests.transport`."""

from __future__ import annotations

from collections.abc import Iterator

from tests.transport.reading import CASES, GROUPS, KNOWN, ways_of
from tests.transport.running import found_on_near_misses, found_on_ways

LABEL = 1 + max(len(group.name) for group in GROUPS)
WIDTH = 8


def main() -> None:
    """Print the table, a rule a column, and what is not as known."""
    for line in (*_table(), "", *_moved()):
        print(line)


def _table() -> Iterator[str]:
    names = [name.partition("-") for name in CASES]
    yield _row("", [code for code, _, _ in names])
    yield _row("", [form for _, _, form in names])
    for group in GROUPS:
        ways = [[way for way in group.ways if way in ways_of(case)] for case in CASES.values()]
        yield _row(group.name, [_cell(name, own) for name, own in zip(CASES, ways, strict=True)])
    yield _row("all", [_cell(name, ways_of(case)) for name, case in CASES.items()])
    followed = sum(len(_followed(name)) for name in CASES)
    yield f"followed: {followed} of {sum(len(ways_of(case)) for case in CASES.values())}"


def _row(label: str, cells: list[str]) -> str:
    return f"{label:<{LABEL}}{''.join(f'{cell:>{WIDTH}}' for cell in cells)}".rstrip()


def _cell(name: str, ways: list[str]) -> str:
    return f"{len(_followed(name).intersection(ways))}/{len(ways)}" if ways else "."


def _followed(name: str) -> set[str]:
    return {way for way, found in found_on_ways(name).items() if found}


def _moved() -> Iterator[str]:
    for name, case in CASES.items():
        yield from _differences(f"{name} on the way", set(ways_of(case)) - _followed(name), KNOWN.gaps.get(name, ()))
        missed = {miss for miss, found in found_on_near_misses(name).items() if not found}
        yield from _differences(f"{name}, near miss", missed, KNOWN.near_misses.get(name, ()))


def _differences(what: str, missed: set[str], known: tuple[str, ...]) -> Iterator[str]:
    yield from (f"{what} {one}: reported now, remove it from known.toml" for one in known if one not in missed)
    yield from (f"{what} {one}: no longer reported" for one in sorted(missed - set(known)))


if __name__ == "__main__":
    main()
