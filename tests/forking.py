"""Processes that are forked from one which has imported torchlint, and torch where it is installed.

A new Python would do the same, a third of a second later for torchlint and more than one for torch.
"""

from __future__ import annotations

import multiprocessing
import pkgutil
from multiprocessing.context import ForkServerContext, SpawnContext

import torchlint.checks

_NEEDED = ("torchlint.cli.group", "torchlint.cli.findings", "torchlint.api", "torchlint.lossless.reader", "torch")
_CHECKS = [module.name for module in pkgutil.walk_packages(torchlint.checks.__path__, "torchlint.checks.")]

CONTEXT = ForkServerContext() if "forkserver" in multiprocessing.get_all_start_methods() else SpawnContext()
CONTEXT.set_forkserver_preload([*_NEEDED, *_CHECKS])
