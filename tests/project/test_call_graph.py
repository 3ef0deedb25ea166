"""What runs when a program starts: each way in which code of one file reaches that of another."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from torchlint.catalogue import load_catalogue
from torchlint.config import Overrides, load_settings
from torchlint.engine.projects import ProjectRun

PARTS = """
class Net:
    def __init__(self): ...
    def __call__(self, x): ...
    def step(self, x): ...

def work(x): ...
"""

REGISTRY = """
TABLE = {}

def register(name):
    def keep(made):
        TABLE[name] = made
        return made
    return keep

def build(name):
    return TABLE[name]()

class Registry:
    def __init__(self):
        self.table = {}
    def register(self, made):
        self._keep(made.__name__, made)
        return made
    def _keep(self, name, made):
        self.table[name] = made
    def get(self, name):
        return self.table.get(name)

MODELS = Registry()
"""

WAYS = {
    "function": ("from parts import work\nwork(1)", "parts.work"),
    "method of an object": ("from parts import Net\nnet = Net()\nnet.step(1)", "parts.Net.step"),
    "object that is called": ("from parts import Net\nnet = Net()\nnet(1)", "parts.Net.__call__"),
    "inherited": ("from parts import Net\nclass Own(Net): ...\nOwn().step(1)", "parts.Net.step"),
    "super": (
        "from parts import Net\nclass Own(Net):\n    def step(self, x): super().step(x)\nOwn().step(1)",
        "parts.Net.step",
    ),
    "kept in an attribute": (
        """
        from parts import work
        class Own:
            def __init__(self): self.fn = work
            def run(self): self.fn(1)
        Own().run()
        """,
        "parts.work",
    ),
    "part": (
        """
        from parts import Net
        class Own:
            def __init__(self): self.net = Net()
            def run(self): self.net.step(1)
        Own().run()
        """,
        "parts.Net.step",
    ),
    "property": (
        """
        from parts import work
        class Own:
            @property
            def size(self): return work(1)
            def run(self): return self.size
        Own().run()
        """,
        "parts.work",
    ),
    "partial": ("from functools import partial\nfrom parts import work\nrun = partial(work, 1)\nrun()", "parts.work"),
    "table": ("from parts import Net, work\nTABLE = {'net': Net, 'work': work}\nTABLE[name](1)", "parts.work"),
    "choice": ("from parts import Net, work\nrun = work if fast else Net\nrun(1)", "parts.work"),
    "made by a function": (
        "from parts import work\ndef make():\n    def run(): work(1)\n    return run\nmake()()",
        "parts.work",
    ),
    "process": ("from multiprocessing import Process\nfrom parts import work\nProcess(target=work)", "parts.work"),
    "spawn": ("import torch.multiprocessing as mp\nfrom parts import work\nmp.spawn(work, (1,), 2)", "parts.work"),
    "pool": (
        "from multiprocessing import Pool\nfrom parts import work\nwith Pool() as p: p.map(work, [1])",
        "parts.work",
    ),
    "getattr": ("import parts\ngetattr(parts, 'work')(1)", "parts.work"),
    "hydra": (
        "from hydra.utils import instantiate\nnet = instantiate({'_target_': 'parts.Net'})\nnet.step(1)",
        "parts.Net.step",
    ),
    "hydra by keyword": (
        "import hydra\nhydra.utils.instantiate(options, _target_='parts.Net').step(1)",
        "parts.Net.step",
    ),
    "hydra makes it": ("import hydra\nhydra.utils.instantiate({'_target_': 'parts.Net'})", "parts.Net.__init__"),
    "registry": (
        "from registry import build, register\n@register('own')\nclass Own: ...\nbuild('own')",
        "main.Own",
    ),
    "registry object": (
        "from registry import MODELS\n@MODELS.register\nclass Own: ...\nMODELS.get('Own')()",
        "main.Own",
    ),
}


def run_by(folder: Path, program: str, *, only_calls: bool) -> set[str]:
    """The symbols that a program runs, by file and name."""
    for name, text in {"parts": PARTS, "registry": REGISTRY, "main": textwrap.dedent(program)}.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    settings = load_settings(folder, Overrides())
    project = ProjectRun(settings, load_catalogue(), sorted(folder.glob("*.py")), {}).project()
    calls = project.programs.calls
    found = (calls.run if only_calls else calls.reached)([("main.py", "")])
    return {f"{path.removesuffix('.py')}.{symbol}" for path, symbol in found}


@pytest.mark.parametrize("way", WAYS)
def test_code_is_reached(tmp_path: Path, way: str) -> None:
    program, expected = WAYS[way]
    assert expected in run_by(tmp_path, program, only_calls=True)


def test_what_is_only_mentioned_does_not_run_for_certain(tmp_path: Path) -> None:
    program = "from parts import work\nkept = [work]\nprint(work)"
    assert "parts.work" in run_by(tmp_path, program, only_calls=False)
    assert "parts.work" not in run_by(tmp_path, program, only_calls=True)


def test_another_registry_stays_apart(tmp_path: Path) -> None:
    program = "from registry import MODELS, register\n@register('own')\nclass Own: ...\nMODELS.get('Own')()"
    assert "main.Own" not in run_by(tmp_path, program, only_calls=True)
