"""A notebook as a command: which one runs it, and what its cells are called while it runs."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from torchlint.diverge.sources import Cell
from torchlint.errors import SkippedSource, TorchlintError, UnreadableSource
from torchlint.recording.process.notebook import NEEDED
from torchlint.source.notebook import code_cells

_RUNNER = Path(__file__).resolve().parents[1] / "recording" / "process" / "notebook.py"


def command_for(notebook: Path) -> tuple[str, ...]:
    """The command that runs all cells in a kernel of this Python. Raises TorchlintError where it cannot."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise TorchlintError(f"{notebook}: to run a notebook, install {' and '.join(missing)} beside torchlint")
    return sys.executable, "-I", str(_RUNNER), str(notebook)


def cells_of(notebook: Path) -> dict[str, Cell]:
    """The code cells, by the name of the file that ipykernel gives to the code of each."""
    try:
        cells = code_cells(notebook.read_bytes())
    except (UnreadableSource, SkippedSource) as error:
        raise TorchlintError(f"{notebook}: {error}") from None
    except OSError as error:
        raise TorchlintError(f"{notebook}: {error.strerror or error}") from None
    from ipykernel.compiler import get_file_name  # noqa: PLC0415 - only where a notebook runs

    return {Path(get_file_name(cell.text)).stem: Cell(str(notebook), cell.index, cell.text) for cell in cells}
