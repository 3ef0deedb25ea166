"""What can go wrong for the user, each with one clear line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class TorchlintError(Exception):
    """A problem the user can fix; the command line prints it as one line and exits with 2."""


class NoProgram(TorchlintError):  # noqa: N818 - what is asked for does not exist
    """A file or command that was asked for starts no program."""


class ConfigError(TorchlintError):
    """A configuration file or option holds a wrong key or value."""


class CatalogueError(TorchlintError):
    """A rule or registry file is not valid; the message names the file and the field."""


class Terminated(KeyboardInterrupt):
    """SIGTERM: to be obeyed as an interrupt is, with all that was started."""


class UnreadableSource(Exception):  # noqa: N818 - it is reported as a finding (TL001), not raised to the user
    """A file, or a cell, that cannot be decoded or parsed.

    Lines and columns count from 1, columns in code points.
    """

    def __init__(self, reason: str, line: int = 1, column: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column


class OverBudget(UnreadableSource):
    """A file that asks for more work than any file of people: what was found until then counts."""


class Python2Source(UnreadableSource):
    """A file, or a cell, for Python 2."""


class SkippedSource(UnreadableSource):
    """A file, or a cell, that torchlint does not check although nothing is wrong with it: worth a note, no finding."""


_DEVICES_MEANT = {"metal": "mps", "apple": "mps", "intel": "xpu", "amd": "rocm", "hip": "rocm", "rocm": "rocm"}
_DEVICES_MEANT |= dict.fromkeys(("gpu", "nvidia"), "cuda")


def device_hint(word: str, choices: Iterable[str]) -> str:
    """`; did you mean ...?` for another name of a device that torch knows by one of these, or for a slip."""
    meant = _DEVICES_MEANT.get(word.lower())
    if word.lower() in ("amd", "hip", "rocm") and "rocm" not in choices:
        # https://docs.pytorch.org/docs/stable/notes/hip.html: PyTorch for HIP reuses the torch.cuda interfaces
        return "; did you mean `cuda`? (torch calls ROCm devices cuda)"
    return nearest(word, choices) if meant is None else f"; did you mean `{meant}`?"


def nearest(word: str, choices: Iterable[str], *, cutoff: float = 0.7) -> str:
    """`; did you mean ...?` when a choice resembles the word, else nothing."""
    close = difflib.get_close_matches(word, list(choices), n=1, cutoff=cutoff)
    return f"; did you mean `{close[0]}`?" if close else ""
