from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from torchlint.verify.loading import File
from torchlint.verify.registries import Registrations

FILES = {
    "nets/__init__.py": "",
    "nets/registry.py": "MODELS = {}\ndef register(cls):\n    MODELS[cls.__name__] = cls\n    return cls\n",
    "nets/unet.py": "from .registry import register\n@register\nclass UNet: ...\n",
    "nets/fcn.py": "from .registry import register\n@register\nclass FCN: ...\n",
    "nets/broken.py": "from .registry import register\n@register\nclass (",
}


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("from .registry import MODELS\ndef build(name):\n    return MODELS[name]()\n", ["nets.fcn", "nets.unet"]),
        ("from .registry import register\n@register\nclass Net:\n    pass\n", []),
        ("from .registry import MODELS\nclass Net:\n    pass\n", []),
        ("from .other import MODELS\nnet = MODELS['UNet']()\n", []),
    ],
    ids=["looks up", "registers", "imports", "other module"],
)
def test_only_what_looks_names_up_needs_the_modules_that_register(tmp_path: Path, text: str, needed: list[str]) -> None:
    for place, source in {**FILES, "nets/asked.py": text}.items():
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(textwrap.dedent(source), encoding="utf-8")
    registrations = Registrations(sorted(tmp_path.rglob("*.py")))
    assert sorted(registrations.into_those_of(File.read(tmp_path / "nets" / "asked.py"), text)) == needed
