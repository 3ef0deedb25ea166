"""How an interpreter is brought to run a function of this very torchlint, and of no other."""

from __future__ import annotations

import json
import os
import site
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import torchlint
from torchlint.recording.confinement import surroundings

_PROGRAM = """\
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import importlib, importlib.util, json, os.path
package, paths, module, arguments = json.loads(sys.argv.pop())
sys.argv[:] = [""]
sys.path += paths
spec = importlib.util.spec_from_file_location(
    "torchlint", os.path.join(package, "__init__.py"), submodule_search_locations=[package])
sys.modules["torchlint"] = torchlint = importlib.util.module_from_spec(spec)
spec.loader.exec_module(torchlint)
importlib.import_module(module).main(**arguments)
"""
"""The package is taken by its file: from a checkout, an editable install or a wheel, without its neighbours, so that
nothing beside it is found in place of the standard library."""


def command(python: str, module: str, arguments: Mapping[str, object], paths: Sequence[Path] = ()) -> list[str]:
    """`main(**arguments)` of a module of torchlint, in a fresh interpreter."""
    package = str(Path(torchlint.__file__).resolve().parent)
    searched = [str(path) for path in paths] + _own_paths(python)
    return [python, "-c", _PROGRAM, json.dumps([package, searched, module, arguments])]


def environment(python: str, *, hash_seed: int) -> dict[str, str]:
    chosen = surroundings.starting_environment(os.environ, hash_seed=hash_seed)
    if python == sys.executable and site.ENABLE_USER_SITE:
        chosen["PYTHONUSERBASE"] = site.getuserbase()  # it depends on HOME, which will be another
    else:
        chosen["PYTHONNOUSERSITE"] = "1"
    return chosen


def _own_paths(python: str) -> list[str]:
    """Where PYTHONPATH led this interpreter: torch may have been found there. Searched after everything else."""
    if python != sys.executable:
        return []
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.path.isabs(path)]  # noqa: PTH117
