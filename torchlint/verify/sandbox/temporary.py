"""Where temporary folders can be made."""

from __future__ import annotations

import tempfile

from torchlint.errors import TorchlintError


def temporary_folder() -> str:
    """The system's folder for temporary files. TorchlintError where none can be written to."""
    try:
        return tempfile.gettempdir()
    except FileNotFoundError as error:
        raise TorchlintError(f"{error.strerror}: set TMPDIR to a folder that can be written to") from None
