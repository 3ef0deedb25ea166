"""Which file an import loads, by where it stands."""

from __future__ import annotations

import pytest

from tests.facts.reading import facts_of
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


_SETS_UP = b"""
import os.path as osp
import sys

def add_path(path):
    if path not in sys.path:
        sys.path.insert(0, path)

here = osp.dirname(__file__)
add_path(osp.join(here, "..", "lib"))
"""
_GOES_UP = b"import os, sys\nsys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))\n"
_NAMED = b"import sys\nsys.path.append('core')\n"
_STARTED = b"import layers\nif __name__ == '__main__':\n    layers.show()\n"


@pytest.mark.parametrize(
    ("adds", "source", "importer", "module", "found"),
    [
        pytest.param("tools/_paths.py", _SETS_UP, "tools/fit.py", "inner.step", "lib/inner/step.py", id="joined"),
        pytest.param("tools/_paths.py", _SETS_UP, "lib/inner/loss.py", "inner.step", "lib/inner/step.py", id="inside"),
        pytest.param("tools/_paths.py", _SETS_UP, "other/fit.py", "inner.step", None, id="of another program"),
        pytest.param("lab/tools/fit.py", _GOES_UP, "lab/tools/fit.py", "step", "lab/step.py", id="two folders up"),
        pytest.param("fit.py", _NAMED, "fit.py", "step", "core/step.py", id="by name"),
        pytest.param("fit.py", b"path = 'core'\n", "fit.py", "step", None, id="nothing added"),
        pytest.param("lab/fit.py", _STARTED, "lab/fit.py", "layers", "lab/layers.py", id="beside a program"),
        pytest.param("lab/fit.py", b"import layers\n", "lab/fit.py", "layers", None, id="of a package, never started"),
    ],
)
def test_what_a_program_puts_on_the_path_is_seen_beside_and_below_it(
    adds: str, source: bytes, importer: str, module: str, found: str | None
) -> None:
    paths = {"lib/inner/step.py", "core/step.py", "lab/__init__.py", "lab/step.py", "lab/layers.py", importer, adds}
    modules = ModuleIndex(paths, "root", lambda *_: None, lambda: [(adds, source)])
    assert modules.locate(ImportTarget(module, None, 0), importer) == found


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ('"nets." + name + "_net"', {"nets/small_net.py", "nets/wave_net.py"}),
        ('f"nets.{name}_net"', {"nets/small_net.py", "nets/wave_net.py"}),
        ('"nets.%s_net" % name', {"nets/small_net.py", "nets/wave_net.py"}),
        ('"nets.{}_net".format(name)', {"nets/small_net.py", "nets/wave_net.py"}),
        ('"nets." + name', {"nets/small_net.py", "nets/wave_net.py", "nets/tools.py"}),
        ('"nets.wave_net"', {"nets/wave_net.py"}),
        ("path", {"nets/tools.py"}),
        ("name", set()),
        ("name + '.' + name", set()),
    ],
)
def test_a_text_that_is_worked_out_names_the_modules_that_it_may_be(written: str, found: set[str]) -> None:
    body = f"    path = 'nets.tools'\n    return importlib.import_module({written})\n"
    program = f"import importlib\ndef load(name):\n{body}"
    paths = ("fit.py", "nets/__init__.py", "nets/small_net.py", "nets/wave_net.py", "nets/tools.py", "other.py")
    facts = facts_of(program.encode(), "fit.py", ModuleIndex(paths, "root", lambda *_: None))
    call = facts.symbols.calls[0]
    assert {name.removesuffix("::") for name in facts.names(call.node, call.scope).of_project} == found


def test_a_check_that_broke_leaves_nothing_to_the_next() -> None:
    modules = ModuleIndex(["a.py", "b.py"], "root", lambda *_: None)
    broken = modules.own("a.py", lambda: facts_of(b"x = 1\n", "a.py", modules))
    assert modules.at("a.py") is broken
    assert modules.put_back("b.py") is None
    own = modules.own("b.py", lambda: facts_of(b"y = 1\n", "b.py", modules))
    assert modules.put_back("b.py") is own
    assert modules.at("b.py") is own
