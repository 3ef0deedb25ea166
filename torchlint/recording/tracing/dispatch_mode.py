"""What all of torchlint's dispatch modes are made of."""

from __future__ import annotations

from torch.utils._python_dispatch import TorchDispatchMode


class PlainMode(TorchDispatchMode):
    """A mode in code that nobody compiles: to keep the compiler out, torch would import it, which takes seconds."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False
