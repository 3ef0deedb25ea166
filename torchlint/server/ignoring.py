"""An ignore comment as edits of the texts that are open."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from lsprotocol import types

from torchlint.adoption.ignore_comments import with_ignores
from torchlint.diagnostics import Diagnostic
from torchlint.errors import UnreadableSource
from torchlint.server.opened import OpenFile, cell_sources, is_json_of_notebook
from torchlint.server.places import Places
from torchlint.source.decoding import decode_python, normalised


def ignore_edits(
    file: OpenFile, finding: Diagnostic, reason: str, places: Places
) -> Iterator[tuple[str, list[types.TextEdit]]]:
    """The edits by URI; none where no line of the statement can take a comment."""
    try:
        commented = with_ignores(file.data, finding.location.path, [finding], reason)
    except UnreadableSource:
        return
    if commented.silenced:
        for part, text in zip(file.parts, _texts(file, commented.data), strict=True):
            edits = _line_edits(normalised(part.text), normalised(text))
            if edits:
                yield part.uri, [_text_edit(part.text, places, *edit) for edit in edits]


def _texts(file: OpenFile, data: bytes) -> Sequence[str]:
    if file.has_cells:
        return cell_sources(json.loads(data))
    return [data.decode() if is_json_of_notebook(file) else decode_python(data)[0]]


def _line_edits(before: str, after: str) -> list[tuple[int, int, int, str]]:
    """Line, first column, column behind, and the new text, where two texts of as many lines differ.

    >>> _line_edits("x = f()", "x = f()  # fine")
    [(1, 8, 8, '  # fine')]
    """
    found = []
    for number, (old, new) in enumerate(zip(before.split("\n"), after.split("\n"), strict=True), 1):
        if old != new:
            start = _common(old, new)
            end = _common(old[start:][::-1], new[start:][::-1])
            found.append((number, start + 1, len(old) - end + 1, new[start : len(new) - end]))
    return found


def _common(one: str, other: str) -> int:
    """How many letters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


def _text_edit(text: str, places: Places, line: int, column: int, end: int, new: str) -> types.TextEdit:
    start, behind = places.position(text, line, column), places.position(text, line, end)
    return types.TextEdit(types.Range(start, behind), new)
