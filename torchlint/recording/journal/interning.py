"""Texts and places by number, so that each stands in the recording once."""

from __future__ import annotations

from torchlint.recording.journal.places import Place, Stack
from torchlint.recording.journal.records import Names


class Interned:
    """Gives numbers; `news` is what got one since it was last asked."""

    def __init__(self) -> None:
        self._texts: dict[str, int] = {}
        self._places: dict[Stack, int] = {}
        self._new_texts: list[str] = []
        self._new_places: list[Stack] = []

    def text(self, text: str) -> int:
        number = self._texts.get(text)
        if number is None:
            number = self._texts[text] = len(self._texts)
            self._new_texts.append(text)
        return number

    def place(self, place: Place) -> int:
        return self.stack(place.stack)

    def stack(self, stack: Stack) -> int:
        number = self._places.get(stack)
        if number is None:
            number = self._places[stack] = len(self._places)
            self._new_places.append(stack)
        return number

    def news(self) -> list[Names]:
        """A frame with the new ones, or none."""
        if not self._new_texts and not self._new_places:
            return []
        names = Names(tuple(self._new_texts), tuple(self._new_places))
        self._new_texts, self._new_places = [], []
        return [names]
