from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

from torchlint.recording.errors import CannotRun

pytestmark = pytest.mark.torch

Load = Callable[..., Any]


def test_a_relative_import_works_without_the_start_of_its_package(load: Load) -> None:
    loaded = load(
        "from .parts import width\nfrom . import parts\ndoubled = width * 2\n",
        "pkg/model.py",
        beside={
            "pkg/__init__.py": "raise RuntimeError('reads a file that is not here')\n",
            "pkg/parts.py": "width = 8\n",
        },
    )
    assert loaded.module.doubled == 16
    assert loaded.stubs == ()
    assert (loaded.module.__name__, loaded.module.__package__) == ("pkg.model", "pkg")


def test_a_package_answers_for_what_its_start_imports(load: Load) -> None:
    loaded = load(
        "from pkg import Width, Part\n",
        "pkg/models/model.py",
        beside={
            "pkg/__init__.py": "from .parts import width as Width\nfrom .stars import *\nraise RuntimeError('no')\n",
            "pkg/parts.py": "width = 8\n",
            "pkg/stars.py": "Part = 'part'\n",
            "pkg/models/__init__.py": "",
        },
    )
    assert (loaded.module.Width, loaded.module.Part) == (8, "part")


def test_the_start_of_a_package_runs_for_a_name_that_only_it_has(load: Load) -> None:
    loaded = load(
        "from . import registry\nregistry['a'] = 1\n", "pkg/model.py", beside={"pkg/__init__.py": "registry = {}\n"}
    )
    assert loaded.module.registry == {"a": 1}
    assert sys.modules["pkg"].registry == {"a": 1}


def test_an_imported_package_that_fails_to_start_gives_its_modules_all_the_same(load: Load) -> None:
    loaded = load(
        "from compiled.ops.misc import width\n",
        beside={
            "compiled/__init__.py": "raise OSError('libcompiled.so: cannot open shared object file')\n",
            "compiled/ops/__init__.py": "",
            "compiled/ops/misc.py": "width = 3\n",
        },
    )
    assert loaded.module.width == 3
    assert loaded.stubs == ()


def test_a_missing_library_is_stood_in_for_and_named(load: Load) -> None:
    loaded = load("import absent_library.plots as plots\nfrom other_absent import Thing\nvalue = 1\n")
    assert loaded.module.value == 1
    assert loaded.stubs == ("absent_library", "other_absent")


def test_a_file_that_does_without_a_library_still_does(load: Load) -> None:
    loaded = load("try:\n    import absent_library\nexcept ImportError:\n    absent_library = None\n")
    assert loaded.module.absent_library is None
    assert loaded.stubs == ()


def test_a_generated_module_that_is_not_in_the_checkout_is_stood_in_for(load: Load) -> None:
    loaded = load("from pkg._version import __version__\n", beside={"pkg/__init__.py": ""})
    assert loaded.stubs == ("pkg._version",)
    assert loaded.module.__version__ == "0.0.0"


def test_a_name_that_a_library_has_no_more_is_stood_in_for(load: Load) -> None:
    loaded = load("from json import removed_encoder\n")
    assert loaded.stubs == ("json.removed_encoder",)
    import json

    del json.removed_encoder  # type: ignore[attr-defined]


def test_projects_with_files_named_like_libraries_are_loaded_beside_them(load: Load) -> None:
    loaded = load(
        "import random\nimport json\nimport torch\nimport parts\ndrawn = random.random\nwidth = parts.width\n",
        beside={
            "torch.py": "raise RuntimeError('not this one')\n",
            "random.py": "raise RuntimeError('not this one')\n",
            "json.py": "raise RuntimeError('not this one')\n",
            "parts.py": "width = 4\n",
        },
    )
    assert loaded.module.width == 4
    assert loaded.module.drawn is random.random


def test_argument_parsers_answer_with_their_defaults(load: Load) -> None:
    before = argparse.ArgumentParser.parse_args
    loaded = load(
        "import argparse, sys\n"
        "parser = argparse.ArgumentParser()\n"
        "parser.add_argument('--width', type=int, default='8')\n"
        "parser.add_argument('--data', required=True)\n"
        "parser.add_argument('folder')\n"
        "parser.add_argument('--amp', action='store_true')\n"
        "parser.set_defaults(depth=3)\n"
        "args = parser.parse_args()\n"
        "known, rest = parser.parse_known_args()\n"
        "argv = sys.argv\n"
    )
    args = loaded.module.args
    assert (args.width, args.data, args.folder, args.amp, args.depth) == (8, None, None, False, 3)
    assert loaded.module.rest == []
    assert loaded.module.argv == [loaded.module.__file__]
    assert argparse.ArgumentParser.parse_args is before


def test_lines_of_an_error_are_those_of_the_file(load: Load) -> None:
    with pytest.raises(CannotRun) as caught:
        load("x = 1\n\n\nundefined_name\n")
    assert caught.value.kind == "load"
    assert caught.value.reason == "model cannot be imported: NameError: name 'undefined_name' is not defined"
    traceback = caught.value.__cause__.__traceback__ if caught.value.__cause__ else None
    while traceback and traceback.tb_next:
        traceback = traceback.tb_next
    assert traceback
    assert traceback.tb_lineno == 4


def test_a_file_that_ends_its_process_cannot_be_loaded(load: Load) -> None:
    with pytest.raises(CannotRun, match="model cannot be imported: SystemExit: 3"):
        load("import sys\nsys.exit(3)\n")


def test_code_that_does_not_parse_cannot_be_loaded(load: Load) -> None:
    with pytest.raises(CannotRun, match="SyntaxError"):
        load("def broken(:\n")


def test_a_dataclass_of_the_file_finds_its_module(load: Load) -> None:
    loaded = load(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 1\n"
    )
    assert loaded.module.A().x == 1


CIRCLE = {
    "pkg/__init__.py": "import pkg.utils\nimport pkg.parts\nimport pkg.model\n",
    "pkg/parts/__init__.py": "from pkg.experimental import disable\nwidth = 3\n",
    "pkg/utils/__init__.py": "from ._dense import dense\n",
    "pkg/utils/_dense.py": "from pkg.experimental import disable\ndef dense():\n    return disable\n",
    "pkg/experimental.py": "from pkg.utils import *\ndef disable():\n    return 1\n",
    "pkg/registry.py": "known = []\ndef register(cls):\n    assert cls.__name__ not in known\n"
    "    known.append(cls.__name__)\n    return cls\n",
}
"""Modules that import each other, and load in the package's own order only."""


def test_a_circle_of_imports_is_entered_where_its_package_enters_it(load: Load) -> None:
    loaded = load(
        "import pkg.parts\nfound = 'width' in vars(pkg.parts)\n",
        "pkg/model.py",
        beside=CIRCLE,
    )
    assert loaded.module.found
    assert loaded.stubs == ()


def test_what_a_registry_holds_is_not_registered_twice(load: Load) -> None:
    loaded = load(
        "from pkg.experimental import disable\nfrom pkg.registry import register\n@register\nclass Part:\n    pass\n",
        "pkg/model.py",
        beside=CIRCLE,
    )
    assert loaded.module.Part is sys.modules["pkg.model"].Part


def test_a_file_named_like_a_library_does_not_take_its_place(load: Load) -> None:
    text = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 1\n"
    )
    loaded = load(text, "random.py")
    assert loaded.module.A().x == 1
    assert sys.modules["random"] is random


def test_a_package_named_like_one_in_use_is_refused(load: Load) -> None:
    with pytest.raises(CannotRun, match="its package has the name of torch, which is in use by the verifier"):
        load("x = 1\n", "torch/model.py", beside={"torch/__init__.py": ""})


DATA_FIRST = """
import torch
from torch import nn

words = open("words.txt").read().split()
vocabulary = {word: number for number, word in enumerate(words)}
WIDTH = 12

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Embedding(len(vocabulary), WIDTH)
        self.head = nn.Linear(WIDTH, len(vocabulary))

    def forward(self, words):
        return self.head(self.body(words))
"""


def test_statements_that_fail_are_left_out_and_what_they_bind_is_invented(build: Callable[..., Any]) -> None:
    subject, executed = build(DATA_FIRST, "Net")
    assert subject.model.body.num_embeddings == 16
    assert subject.model.body.embedding_dim == 12
    assert "without 2 statements of its file that fail here (FileNotFoundError: " in executed.built_by
    assert "with invented vocabulary=<invented vocabulary of 16 words>" in executed.built_by


def test_a_definition_that_fails_is_not_left_out(build: Callable[..., Any]) -> None:
    with pytest.raises(CannotRun, match="NameError: name 'Missing' is not defined"):
        build("class Net(Missing):\n    pass\n", "Net")


def test_what_a_module_binds_before_it_fails_stays(load: Load) -> None:
    constants = "from pathlib import Path\nWIDTH = 256\nPath('/none/weights').mkdir()\nDEPTH = 3\n"
    loaded = load(
        "from .constants import *\nfrom .constants import DEPTH\ndoubled = WIDTH * 2\n",
        "pkg/model.py",
        beside={"pkg/__init__.py": "", "pkg/constants.py": constants},
    )
    assert loaded.module.doubled == 512
    assert loaded.stubs == ("pkg.constants",)
