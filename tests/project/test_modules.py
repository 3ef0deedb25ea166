"""Which file an import loads, by where it stands."""

from __future__ import annotations

import pytest

from torchlint.facts.scopes import ImportTarget
from torchlint.project.modules import ModuleIndex

PATHS = (
    *("lab/__init__.py", "lab/models/__init__.py", "lab/models/wave.py", "lab/models/small.py", "lab/wandb.py"),
    *("models/__init__.py", "models/wave.py"),
)


@pytest.mark.parametrize(
    ("importer", "module", "found"),
    [
        ("lab/fit.py", "models.wave", "models/wave.py"),
        ("lab/fit.ipynb", "models.wave", "lab/models/wave.py"),
        ("lab/fit.py", "models.small", "lab/models/small.py"),
        ("lab/fit.py", "wandb", None),
        ("lab/fit.ipynb", "wandb", "lab/wandb.py"),
        ("lab/fit.py", "lab.models.wave", "lab/models/wave.py"),
    ],
)
def test_a_notebook_begins_in_its_own_folder_and_a_script_ends_there(
    importer: str, module: str, found: str | None
) -> None:
    modules = ModuleIndex(PATHS, "root", lambda *_: None)
    assert modules.locate(ImportTarget(module, None, 0), importer) == found
