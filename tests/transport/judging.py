"""What was found, against what is true and what is known: the problem in words, with the program, or None."""

from __future__ import annotations

from collections.abc import Sequence

from tests.transport.programs import Files, Place, place


def problem_of_a_finding(files: Files, words: str, found: Sequence[Place], *, is_known_gap: bool) -> str | None:
    """For a program that should be reported where some words stand."""
    wanted = place(files, words)
    if found not in ([], [wanted]):
        return _told(f"reported at {found}, not at {wanted}", files)
    if found and is_known_gap:
        return "no longer a gap: remove it from known.toml"
    if not found and not is_known_gap:
        return _told("not reported", files)
    return None


def problem_of_a_silence(files: Files, found: Sequence[Place], *, is_known_false_alarm: bool) -> str | None:
    """For a program that should be silent."""
    if found and not is_known_false_alarm:
        return _told(f"a false alarm at {found}", files)
    if not found and is_known_false_alarm:
        return "no longer a false alarm: remove it from known.toml"
    return None


def _told(problem: str, files: Files) -> str:
    return "\n\n".join([problem, *(f"# {path}\n{text}" for path, text in files.items())])
