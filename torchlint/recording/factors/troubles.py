"""What could not be held fixed in this process, in plain sentences: it never breaks the program."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` takes a while to import
if TYPE_CHECKING:
    from collections.abc import Callable

_SENTENCES: list[str] = []


def troubles() -> list[str]:
    """The sentences so far, for the recording."""
    return list(_SENTENCES)


def attempt(factor: str, action: Callable[[], None]) -> None:
    """Do something for a factor, and note where it fails."""
    try:
        action()
    except Exception as error:  # noqa: BLE001 - the user's program goes on, and the report says what was not held
        note(f"{factor} could not be held or varied in full: {type(error).__name__}: {error}")


def note(sentence: str) -> None:
    if sentence not in _SENTENCES:
        _SENTENCES.append(sentence)
