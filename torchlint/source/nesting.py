"""How deep code is nested, from its characters alone: asked before a native parser may see the text."""

from __future__ import annotations

import re

from torchlint.source.decoding import position_at

_OPENERS = frozenset("([{")
_CLOSERS = frozenset(")]}")
_BRACKETS = re.compile(r"[()\[\]{}]")

# Branches begin with a plain character each, so that the search skips quickly to the next candidate.
# Unclosed strings end with the line, or with the text.
STRING = (
    r'"""(?:[^"\\]|\\.|"(?!""))*(?:"""|\\?\Z)'
    r"|'''(?:[^'\\]|\\.|'(?!''))*(?:'''|\\?\Z)"
    r'|"(?:[^"\\\n]|\\.)*"?'
    r"|'(?:[^'\\\n]|\\.)*'?"
)
_SCAN = re.compile(rf"[()\[\]{{}}]|#[^\n]*|{STRING}", re.DOTALL)
_CHAIN = re.compile(
    rf"[()\[\]{{}}]|[,;:]|\\\n|\n|#[^\n]*|{STRING}|[-+~*/%@&|^<>.!=]|\b(?:not|lambda|if|elif|and|or|await|else|in|is)\b",
    re.DOTALL,
)
_LONGEST_CHAIN = 300
_MOST_ELIFS = 500


def bracket_depth_exceeds(text: str, limit: int = 200) -> tuple[int, int] | None:
    """Line and column of the first bracket nested deeper than the limit, brackets in plain strings aside."""
    if text.count("(") + text.count("[") + text.count("{") <= limit:
        return None
    depth = 0
    for match in _SCAN.finditer(text):
        piece = match[0]
        if piece in _OPENERS:
            depth += 1
            if depth > limit:
                return position_at(text, match.start())
        elif piece in _CLOSERS:
            depth = max(depth - 1, 0)
        elif _is_formatted(text, match.start()) and depth + _deepest(piece) > limit:
            return position_at(text, match.start())
    return None


def is_safe_to_parse_natively(text: str) -> bool:
    """Whether LibCST's recursive parser, which has no limits of its own, can read the text on a small stack.

    Brackets are not all: `- - - x`, `a + a + …` and `f()()()…` nest as well. Errs towards no.
    """
    if bracket_depth_exceeds(text) or text.count("elif") > _MOST_ELIFS:
        return False
    if any(_is_crowded(text, match) for match in _SCAN.finditer(text)):
        return False
    chains = [0]  # operators seen at each level of brackets since its last separator
    total = 0
    for match in _CHAIN.finditer(text):
        piece = match[0]
        if piece in {",", ";", ":"} or (piece == "\n" and len(chains) == 1):
            total -= chains[-1]
            chains[-1] = 0
        elif piece in _CLOSERS:
            total -= chains.pop() if len(chains) > 1 else 0
        elif piece[0] not in "#\\\n\"'":
            chains[-1] += 1
            total += 1
            if piece in _OPENERS:
                chains.append(0)
        if total > _LONGEST_CHAIN:
            return False
    return True


def _is_crowded(text: str, match: re.Match[str]) -> bool:
    """Whether a formatted string holds so much code that it would have to be read as code."""
    return _is_formatted(text, match.start()) and len(_CHAIN.findall(match[0], 1)) > _LONGEST_CHAIN


def _is_formatted(text: str, start: int) -> bool:
    """Whether the string that starts here is an f-string or t-string, whose braces hold code."""
    if text[start] not in "\"'":
        return False
    return any(letter in "fFtT" for letter in text[max(start - 2, 0) : start])


def _deepest(string: str) -> int:
    depth = deepest = 0
    for bracket in _BRACKETS.findall(string.replace("{{", "").replace("}}", "")):
        depth = depth - 1 if bracket in _CLOSERS else depth + 1
        deepest = max(deepest, depth)
    return deepest
