"""What the user's configuration says about targets, and the stanza that asks for it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from torchlint.recording.messages import Hooks


def hooks_for(configured: Iterable[tuple[str, str]], module: str, name: str) -> Hooks:
    """The hooks of a target. A key may leave out the outermost packages: `models:UNet` for `pkg.models:UNet`."""
    for target, hooks in configured:
        named_module, _, named = target.partition(":")
        if named == name and f".{module}".endswith(f".{named_module}"):
            return msgspec.json.decode(hooks, type=Hooks)
    return Hooks()


def stanza(module: str, name: str, *, config_is_own_file: bool = False) -> str:
    """What to paste into the configuration, so that the target can be built."""
    table = "verify" if config_is_own_file else "tool.torchlint.verify"
    return "\n".join(
        [
            f'[{table}."{module}:{name}"]',
            "args = []                          # what the class is constructed with",
            'inputs = ["float32[2,3,64,64]"]    # what forward is called with',
            f'# or: factory = "tests.torchlint_inputs:{name.lower()}"  # returns (module, args, kwargs[, loss])',
        ]
    )
