from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

pytestmark = pytest.mark.torch

Load = Callable[..., Any]


def test_a_class_can_derive_from_a_missing_one(load: Load) -> None:
    loaded = load(
        "from absent import Base, Other\n"
        "class Mine(Base):\n    def __init__(self, x):\n        self.x = x\n"
        "class Both(Mine, Other[int]):\n    pass\n"
        "mine = Both(3)\n"
    )
    assert loaded.module.mine.x == 3


def test_a_lightning_module_stays_a_module_and_keeps_its_hyperparameters(load: Load) -> None:
    loaded = load(
        "import torch, absent_lightning as pl\n"
        "class Net(pl.LightningModule):\n"
        "    def __init__(self, width=3):\n"
        "        super().__init__()\n"
        "        self.save_hyperparameters()\n"
        "        self.head = torch.nn.Linear(self.hparams.width, 2)\n"
        "    def forward(self, x):\n"
        "        self.log('seen', x.sum())\n"
        "        return self.head(x.to(self.device))\n"
    )
    assert loaded.module.Net()(torch.ones(4, 3)).shape == (4, 2)


def test_a_base_module_takes_arguments_of_its_own(load: Load) -> None:
    loaded = load(
        "from absent import PreTrainedModel\n"
        "class Net(PreTrainedModel):\n"
        "    def __init__(self, config):\n        super().__init__(config, add=1)\n        self.post_init()\n"
    )
    assert isinstance(loaded.module.Net("c"), torch.nn.Module)
    assert loaded.module.Net("c").config == "c"


def test_decorators_return_what_they_decorate(load: Load) -> None:
    loaded = load(
        "import absent\nfrom absent.registry import register\n"
        "@absent.jit\ndef one():\n    return 1\n"
        "@absent.jit(nopython=True)\ndef two():\n    return 2\n"
        "@register.module('name')\nclass Three:\n    value = 3\n"
        "sum_of_all = one() + two() + Three.value\n"
    )
    assert loaded.module.sum_of_all == 6


def test_what_is_missing_is_empty_and_false_and_can_be_entered(load: Load) -> None:
    loaded = load(
        "import absent\n"
        "items = list(absent.things())\n"
        "available = bool(absent.is_available())\n"
        "with absent.open_it('x') as found:\n    inside = found['key']\n"
        "matches = absent.__version__ >= '1.0'\n"
    )
    assert loaded.module.items == []
    assert loaded.module.available is False
    assert loaded.module.matches is False


def test_computing_with_a_missing_library_is_refused_by_name(load: Load) -> None:
    loaded = load("from absent import rearrange\ndef forward(x):\n    return rearrange(x, 'b c -> c b')\n")
    with pytest.raises(ImportError, match=r"it computes with absent\.rearrange, which is not installed"):
        loaded.module.forward(torch.ones(2, 2))


@pytest.mark.parametrize(
    ("text", "library"),
    [
        ("from absent.conf import Options\ndef run():\n    return [0] * Options().width\n", "absent"),
        ("import absent\ndef run():\n    return len(absent.names()) / absent.count()\n", "absent"),
        ("import absent\nclass Net(absent.Thing):\n    pass\ndef run():\n    return Net().__weights__\n", "absent"),
        ("import absent\ndef run():\n    options = absent.load()\n    raise ValueError(options)\n", "absent"),
        ("import absent\ndef run():\n    return [1][2]\n", ""),
        ("import absent\nwidths = {}\ndef run():\n    return widths['absent']\n", ""),
        ("import absent\nclass Net(absent.Module):\n    pass\ndef run():\n    Net()\n    return 1 / 0\n", ""),
    ],
)
def test_an_error_that_a_stand_in_caused_names_the_missing_library(load: Load, text: str, library: str) -> None:
    from torchlint.recording.loading.standing_in import told

    with pytest.raises(Exception) as caught:
        load(text).module.run()
    words = told(caught.value)
    assert (words == f"it needs {library}, which is not installed here") == bool(library), words


def test_hyperparameters_are_entries_and_attributes_and_can_be_copied(load: Load) -> None:
    import copy

    net = load(
        "import absent_lightning as pl\n"
        "class Net(pl.LightningModule):\n"
        "    def __init__(self, width=3, **options):\n        super().__init__()\n        self.save_hyperparameters()\n"
    ).module.Net(4, depth=2)
    assert (net.hparams.width, net.hparams["width"]) == (4, 4)
    assert "self" not in copy.deepcopy(net).hparams


@pytest.mark.skipif(importlib.util.find_spec("tqdm") is not None, reason="for where it is missing")
def test_a_missing_progress_bar_hands_on_what_it_goes_through(load: Load) -> None:
    loaded = load(
        "from tqdm.auto import tqdm, trange\nimport tqdm as bars\n"
        "seen = [*tqdm([1, 2], total=2), *trange(3), *bars.tqdm(x for x in 'ab')]\n"
        "for _ in (bar := tqdm(range(2))):\n    bar.set_postfix(loss=1)\n"
        "with tqdm(total=3) as bar:\n    bar.update(1)\n"
    )
    assert loaded.module.seen == [1, 2, 0, 1, 2, "a", "b"]
