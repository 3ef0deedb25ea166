"""Compiles the catalogue before a wheel is built, or the checkout installed (torchlint/catalogue/compiled.py)."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileCatalogue(BuildHookInterface[Any]):
    """Called by hatchling."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write a `compiled.msgpack` into each folder of rules; they ship with the rules."""
        del version, build_data
        path = Path(self.root) / "torchlint" / "catalogue" / "compiled.py"
        spec = importlib.util.spec_from_file_location("compiled", path)
        if spec is None or spec.loader is None:
            raise RuntimeError(f"{path} cannot be loaded")
        compiled = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(compiled)
        compiled.compile_files(Path(self.root) / "rules")
