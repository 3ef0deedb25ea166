"""Which devices a file names: what its code says, wherever that stands, and nothing that its prose says."""

from __future__ import annotations

import pytest

from tests.facts.reading import facts_of_program
from torchlint.catalogue import load_catalogue
from torchlint.facts.accelerators import DeviceWords, devices_named, devices_spoken_of

_WORDS = DeviceWords.of(load_catalogue().devices)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("import torch\n# moved with cuda\nx = torch.ones(2)\n", set()),
        ('def f(x):\n    """Moved with cuda."""\n    return x\n', set()),
        ("def f(x, y):\n    return x.new_ones(2, device=y.device)\n", set()),
        ("def f(args):\n    return args.device\n", {"open"}),
        ("import torch\nx = torch.ones(2)\nif x.sum():\n    x = x.cuda()\n", {"cuda"}),
        ('SCRIPT = """\n# cuda\n"""\n', {"cuda"}),
        ("import numpy as np\n\n\n@np.errstate(gpu=1)\ndef f(x):\n    return x\n", {"cuda"}),
        ("import torch\ntorch.cuda.manual_seed(0)\n", set()),
        ('"""Doc."""; x = "xpu"\n', {"xpu"}),
        ('print(f"""\n{\nx.cuda()}\n""")\n', {"cuda"}),
        ("def f(x,\n      gpu=0):\n    return x\n", {"cuda"}),
        ("def f(x: 'cuda',\n      y=0):\n    return x\n", {"cuda"}),
    ],
)
def test_devices_are_those_of_the_code(text: str, named: set[str]) -> None:
    facts = facts_of_program(text)
    assert devices_named(facts, _WORDS, devices_spoken_of(facts, _WORDS)) == named
