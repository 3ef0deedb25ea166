"""How users spell an option that is a seed, and what they say of one that they keep though it does nothing."""

from __future__ import annotations

import re

SEED = re.compile(
    r"(?:(?:random|rand|rng|global|manual|torch|np|numpy|data|train|training|base|master|init|initial|split|shuffle)_?)?seed"
)
KEPT = re.compile(r"deprecat|unused|not used|ignored|compat|legacy|no effect|obsolete|suppress", re.IGNORECASE)
"""Said of an option that is known to do nothing."""
