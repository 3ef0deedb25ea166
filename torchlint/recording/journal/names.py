"""The name of a recording's file and the levels of recording: free of every import, so that `--help` may list them."""

from __future__ import annotations

from typing import Literal

SUFFIX = ".tlrec"

Level = Literal["step", "module", "operator"]
