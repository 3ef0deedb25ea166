"""torchlint finds the reasons why a PyTorch program does not give the same numbers twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__version__ = "0.2.0"


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Called by `%load_ext torchlint`."""
    from torchlint.ipython import TorchlintMagics, run_below  # noqa: PLC0415 - IPython is there where this is called

    shell.register_magics(TorchlintMagics)
    shell.input_transformers_cleanup.insert(0, run_below)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Called by `%unload_ext torchlint`."""
    from torchlint.ipython import run_below  # noqa: PLC0415

    shell.input_transformers_cleanup.remove(run_below)
    del shell.magics_manager.magics["line"]["torchlint"]
