"""Which calls load weights into a model."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from torchlint.facts.control.conditions import tests_around
from torchlint.facts.tree import is_method_call

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.scopes import CallSite

LOADERS = frozenset({"load_state_dict", "load_from_checkpoint"})
_BESIDE_MODELS = re.compile(r"opt|sched|scaler|solver|sgd|adam|loader|sampler|ema", re.IGNORECASE)
"""What else has a state to be loaded."""


def weight_loaders(facts: FileFacts) -> frozenset[str]:
    """The symbols that load weights under no condition, so that the weights that were drawn decide nothing."""
    return frozenset(facts.symbol_of(site) for site in facts.calls.find(words=LOADERS) if _loads_weights(facts, site))


def _loads_weights(facts: FileFacts, site: CallSite) -> bool:
    if not is_method_call(site.node):
        return False
    is_model = not _BESIDE_MODELS.search(ast.unparse(site.node.func.value))
    return is_model and not any(True for _ in tests_around(facts, site.statement))
