"""Real files, changed at random: most still parse, and hold what nobody writes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

Lines = list[str]
_MOST = 4
"""Changes of one file."""
_DEEP = 30
_WORDS = (
    *("None", "True", "...", "-1", "1j", "b''", "'a'", "self", "torch", "nn", "lambda: 0", "*x", "**x", "x[:]"),
    *("await x", "yield x", "f'{x!r:>{y}}'", "[*x]", "{**x}", "x if y else z", "(y := x)", "'\\ud800'"),
    "0xffffffffffffffffffff",
)
_STATEMENTS = (
    *("return", "del x", "global x", "nonlocal x", "pass", "raise", "import torch as nn", "from . import *"),
    *("match x:\n    case [*y]: pass", "async def f(): pass", "class x(x): pass", "while x: break", "x: int"),
    *("try: pass\nexcept* x: pass", "type X = int", "@x\ndef x(x=x): return x", "for x in x: x = x"),
    "with x as y: pass",
)


def mutated(lines: Sequence[str], others: Sequence[str], chance: random.Random) -> str:
    """One to four changes; `others` are lines of other files."""
    found = list(lines) or [""]
    for _ in range(chance.randint(1, _MOST)):
        chance.choice(_CHANGES)(found, others, chance)
        found = found or [""]
    return "\n".join(found) + "\n"


def _without(lines: Lines, _: Sequence[str], chance: random.Random) -> None:
    start = chance.randrange(len(lines))
    del lines[start : start + chance.choice([1, 1, 2, 8])]


def _twice(lines: Lines, _: Sequence[str], chance: random.Random) -> None:
    start, size = chance.randrange(len(lines)), chance.choice([1, 3, 10])
    place = chance.randrange(len(lines) + 1)
    lines[place:place] = lines[start : start + size]


def _swapped(lines: Lines, _: Sequence[str], chance: random.Random) -> None:
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]


def _from_elsewhere(lines: Lines, others: Sequence[str], chance: random.Random) -> None:
    start = chance.randrange(len(others))
    place = chance.randrange(len(lines) + 1)
    lines[place:place] = others[start : start + chance.choice([1, 4, 20])]


def _other_word(lines: Lines, _: Sequence[str], chance: random.Random) -> None:
    place = chance.randrange(len(lines))
    words = lines[place].split(" ")
    words[chance.randrange(len(words))] = chance.choice(_WORDS)
    lines[place] = " ".join(words)


def _statement(lines: Lines, _: Sequence[str], chance: random.Random) -> None:
    place = chance.randrange(len(lines) + 1)
    indent = lines[place - 1][: len(lines[place - 1]) - len(lines[place - 1].lstrip())] if place else ""
    lines[place:place] = [f"{indent}{line}" for line in chance.choice(_STATEMENTS).split("\n")]


def _indented(lines: Lines, _: Sequence[str], chance: random.Random) -> None:
    start = chance.randrange(len(lines))
    for place in range(start, min(start + chance.choice([1, 5]), len(lines))):
        lines[place] = chance.choice(["    ", "\t", ""]) + lines[place].lstrip(" ") * chance.choice([1, 1, 0])


def _character(lines: Lines, _: Sequence[str], chance: random.Random) -> None:
    place = chance.randrange(len(lines))
    at = chance.randrange(len(lines[place]) + 1)
    odd = chance.choice(["(", ")", "[", "'", '"""', "\\", "#", ",", ":", "é", "ﬁ", "\0", "\f", "\r", "\u2028", "@"])
    lines[place] = lines[place][:at] + odd + lines[place][at + chance.choice([0, 1]) :]


def _deeper(lines: Lines, _: Sequence[str], chance: random.Random) -> None:
    place, depth = chance.randrange(len(lines)), chance.randrange(_DEEP)
    before, equals, value = lines[place].partition(" = ")
    if equals:
        lines[place] = f"{before} = {'f(' * depth}{value}{')' * depth}"


_CHANGES: tuple[Callable[[Lines, Sequence[str], random.Random], None], ...] = (
    *(_without, _twice, _swapped, _from_elsewhere, _other_word, _statement, _indented, _character, _deeper),
)
