"""The pages whose examples are run, and what runs them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"


def _load_examples() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_examples", DOCS / "examples.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAMPLES = _load_examples()
_WITH_TORCH = ("$ torchlint verify ", "$ torchlint diverge ")
WITH_TORCH = [page for page in EXAMPLES.PAGES if any(each in page.read_text(encoding="utf-8") for each in _WITH_TORCH)]
"""Pages whose examples run torch."""
