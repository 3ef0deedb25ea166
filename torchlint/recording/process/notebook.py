"""A notebook run as a script is: a program of its own, `python -I notebook.py FILE`, which writes no output into it."""

from __future__ import annotations

import sys
from pathlib import Path

NEEDED = ("nbclient", "nbformat", "ipykernel")
_POLITE_END = "EndOfRecording"
"""The exception by which a recorder ends a program."""


def run(path: str) -> None:
    """Run all cells, in the current folder. Raises what the notebook raises, as text."""
    import nbformat  # noqa: PLC0415 - the driver asks first whether these are installed
    from nbclient import NotebookClient  # noqa: PLC0415
    from nbclient.exceptions import CellExecutionError, DeadKernelError  # noqa: PLC0415

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=None,
        kernel_name="python3",
        resources={"metadata": {"path": str(Path.cwd())}},
        on_cell_executed=_show,
    )
    try:
        client.execute()
    except CellExecutionError as error:
        if error.ename != _POLITE_END:
            sys.exit(str(error))
    except DeadKernelError as error:
        sys.exit(str(error))


def _show(cell: object, cell_index: int, execute_reply: object) -> None:
    """What a cell printed, as its program would have."""
    del cell_index, execute_reply
    for output in getattr(cell, "outputs", ()):
        if output.output_type == "stream":
            (sys.stderr if output.name == "stderr" else sys.stdout).write(output.text)
    sys.stdout.flush()


if __name__ == "__main__":
    run(sys.argv[1])
