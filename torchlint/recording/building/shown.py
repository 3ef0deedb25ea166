"""Inputs that the project itself gives to what is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from torchlint.recording.messages import CallSite


@dataclass(frozen=True)
class Shown:
    """The inputs of one call in the project, made anew each time: a run may write to them."""

    call: CallSite
    namespace: Mapping[str, Any]

    def values(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword inputs. Raises what evaluating them raises."""
        names = {"device": torch.device("cpu"), **self.namespace}
        exec("\n".join(self.call.imports), names)  # noqa: S102 - imports of torch and NumPy
        args = tuple(eval(source, names) for source in self.call.args)  # noqa: S307 - the project's own inputs
        return args, {name: eval(source, names) for name, source in self.call.kwargs.items()}  # noqa: S307 - likewise

    @property
    def place(self) -> str:
        return f"inputs at {self.call.place}"
