"""All of them by name. None has a race on the CPU: any two of its runs from one state must have the same bits."""

from __future__ import annotations

from tests.verify.clean_modules import numeric, sequences, stateful, vision
from tests.verify.clean_modules.entry import Table

CLEAN: Table = {name: entry for part in (vision, sequences, stateful, numeric) for name, entry in part.MODULES.items()}
