"""Each file is read alone: the order of the files changes nothing, and of others none but the interface is asked."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from tests.robustness.test_result_cache import PROJECT
from torchlint.catalogue import load_catalogue
from torchlint.config import Overrides, load_settings
from torchlint.encoding import encoded
from torchlint.engine.analysis import FileResult
from torchlint.engine.cache.results import ResultCache
from torchlint.engine.process_state import ProcessState
from torchlint.engine.projects import Execution, ProjectRun
from torchlint.facts.exports import interface_of

torch = pytest.importorskip("torch")

SAMPLING = """from torch import nn
from net.{} import kernel


class Sampler(nn.Module):
    def forward(self, x, grid):
        return kernel(x, grid)
"""
CIRCLES = {
    "fit.py": (
        "from net import *\nfrom net.head import Head, LOSSES\nimport net.body as body\n\n"
        "loss = LOSSES['sum']\nnet = Head(body.resize)\nprint(getattr(body, kind)(rows), picked)\n"
    ),
    "net/__init__.py": "from .head import *\nfrom .body import *\nfrom . import body\n",
    "net/head.py": (
        "from torch import nn\nfrom net import *\nfrom net.body import resize as resized, set_up\n\n"
        "class Head(nn.Module):\n    losses = {'sum': nn.CTCLoss}\n    def forward(self, x):\n"
        "        return resized(x, mode='bilinear')\n\nLOSSES = Head.losses\n"
        "for picked in [nn.NLLLoss, Head]:\n    pass\n"
    ),
    "net/body.py": (
        "import torch.nn.functional as F\nfrom net.head import *\nfrom net.tools import scatter\n\n"
        "def resize(x, mode):\n    return F.interpolate(x, scale_factor=2, mode=mode)\n\n"
        "def set_up():\n    global scatter\n    scatter = F.grid_sample\n\nresize = resize or scatter\n"
    ),
    "net/one.py": "from net.two import kernel\n\nkernel(1, 2)\n",
    "net/two.py": (
        "import torch.nn.functional as F\n\ntry:\n    from net.one import kernel\nexcept ImportError:\n"
        "    kernel = F.grid_sample\n"
    ),
    "of_one.py": SAMPLING.format("one"),
    "of_two.py": SAMPLING.format("two"),
    "net/tools.py": "from net.body import scatter, LOSSES\nimport net\n\nscatter = scatter\npicked = net.picked\n",
}


@pytest.fixture(scope="module", params=["distributions", "optim", "utils/data", "own", "circles"])
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ProjectRun:
    """Three packages of torch, and two small programs."""
    root = tmp_path_factory.mktemp("project")
    texts = {"own": PROJECT, "circles": CIRCLES}.get(request.param)
    if texts is None:
        shutil.copytree(Path(torch.__file__).parent / request.param, root / "package")
    for name, text in (texts or {}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / ".git").mkdir()
    return _run(root)


def _run(root: Path, contents: Mapping[Path, bytes] | None = None) -> ProjectRun:
    settings, files = load_settings(root, Overrides()), sorted(root.rglob("*.py"))
    return ProjectRun(settings, load_catalogue(), files, contents or {}, execution=Execution(cache=ResultCache()))


def _said(run: ProjectRun, paths: Iterable[str]) -> dict[str, bytes | None]:
    state = ProcessState(run.context)
    return {path: _encoded(state.check(path)) for path in paths}


def _encoded(result: FileResult) -> bytes | None:
    """All but the list of files that were asked, which grows with the questions."""
    assert result.reading is not None
    return encoded(replace(result, reading=replace(result.reading, consulted=(), gone_through=())))


def test_the_order_of_files_changes_nothing(project: ProjectRun) -> None:
    first = _said(project, project.files)
    drawn = [Random(seed).sample(project.files, len(project.files)) for seed in range(3)]  # noqa: S311
    led = [[one, *(other for other in project.files if other != one)] for one in project.files[: len(CIRCLES)]]
    for order in [*drawn, *led]:
        assert _said(project, order) == first


def test_of_others_only_the_interface_is_read(project: ProjectRun) -> None:
    texts = {project.root / path: (project.root / path).read_text(encoding="utf-8") for path in project.files}
    bare = {path: interface_of(text, ast.parse(text)).encode() for path, text in texts.items()}
    together = _said(project, project.files)
    for path in project.files:
        others = {other: data for other, data in bare.items() if other != project.root / path}
        assert _said(_run(project.root, others), [path])[path] == together[path], path
