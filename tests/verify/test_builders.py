"""Models that a project's own builder makes, by the names and numbers of a configuration that it ships."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from tests.cli.command import PATIENT, run_torchlint

pytestmark = pytest.mark.torch

NET = """
    import torch.nn.functional as F
    from torch import nn
    {imports}

    {table}

    {decorator}
    class UNet(nn.Module):
        def __init__(self, in_channels, widths, classes):
            super().__init__()
            self.down = nn.ModuleList()
            for width in widths:
                self.down.append(nn.Conv2d(in_channels, width, 3, padding=1))
                in_channels = width
            self.head = nn.Conv2d(in_channels, classes, 1)

        def forward(self, x):
            size = x.shape[-2:]
            for layer in self.down:
                x = F.max_pool2d(layer(x).relu(), 2)
            return F.interpolate(self.head(x), size, mode="bilinear")

    {builder}
"""
TABLE = """
    MODELS = {}

    def register(name):
        def add(cls):
            MODELS[name] = cls
            return cls
        return add
"""
BUILDER = """
    def build_model(cfg):
        options = dict(cfg["model"])
        return MODELS[options.pop("name")](**options)
"""
IN_ONE_FILE = {
    "models.py": NET.format(imports="", table=TABLE, decorator='@register("unet")', builder=BUILDER),
    "configs/large.yaml": "lr: 0.1\nmodel: {name: unet, in_channels: 3, widths: [1024, 4096], classes: 21}\n",
    "configs/small.yaml": "lr: 0.1\nmodel: {name: unet, in_channels: 3, widths: [16, 32], classes: 21}\n",
}
REGISTRY = """
    class Registry:
        def __init__(self):
            self.classes = {}

        def register(self, cls):
            self.classes[cls.__name__] = cls
            return cls

        def get(self, name):
            return self.classes[name]

    MODELS = Registry()
"""
IN_SEVERAL = {
    "nets/__init__.py": "from .build import build_model\nfrom .unet import UNet\n",
    "nets/registry.py": REGISTRY,
    "nets/unet.py": NET.format(
        imports="from .registry import MODELS", table="", decorator="@MODELS.register", builder=""
    ),
    "nets/build.py": """
    from .registry import MODELS

    def build_model(cfg):
        options = dict(cfg.model)
        return MODELS.get(options.pop("name"))(**options)
    """,
    "conf/train.yaml": "seed: 1\ndefaults: [{model: small}]\n",
    "conf/model/large.yaml": "name: UNet\nin_channels: 3\nwidths: [1024, 4096]\nclasses: 21\n",
    "conf/model/small.yaml": "name: UNet\nin_channels: 3\nwidths: [16, 32]\nclasses: 21\n",
}


def built(folder: Path, files: dict[str, str], place: str) -> dict[str, Any]:
    for name, text in {"torchlint.toml": "", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    done = run_torchlint("verify", *PATIENT, place, "--probe", "trace", "--output-format", "json", cwd=folder)
    (result,) = json.loads(done.stdout)["results"]
    assert isinstance(result, dict)
    return result


@pytest.mark.parametrize(
    ("files", "place", "used"),
    [
        (IN_ONE_FILE, "models.py::build_model", "configs/small.yaml"),
        (IN_SEVERAL, "nets/build.py::build_model", "conf/model/small.yaml"),
    ],
)
def test_a_builder_gets_the_smallest_configuration_that_has_what_it_reads(
    tmp_path: Path, files: dict[str, str], place: str, used: str
) -> None:
    result = built(tmp_path, files, place)
    assert result["verdict"] == "TRACED"
    assert result["evidence"]["operator"] == "aten.upsample_bilinear2d_backward.default"
    assert result["executed"]["construction"] == f"build_model(cfg=<options of {used}>)"
    assert result["executed"]["inputs"] == ["float32[2,3,32,32]"]
    assert result["executed"]["passes"] == "forward and backward"
