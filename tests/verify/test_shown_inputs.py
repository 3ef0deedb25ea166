"""Inputs that the project shows: of an instance, a function or a method, as source that can be evaluated anywhere."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from torchlint.verify.call_sites import ProjectFiles, call_sites
from torchlint.verify.loading import kept_trees
from torchlint.verify.shown_inputs import makers, shown_inputs

NET = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self, width):
            super().__init__()

        def encode(self, x):
            return x

    def _made(width, **options):
        net = Net(width, **options)
        return net

    def small():
        return _made(4)
    """


def shown(tmp_path: Path, text: str, *names: str) -> dict[str, list[tuple[str, ...]]]:
    path = tmp_path / "net.py"
    path.write_text(textwrap.dedent(NET) + textwrap.dedent(text), encoding="utf-8")
    found = shown_inputs(names, ProjectFiles(kept_trees()).calling([name.partition(".")[0] for name in names], [path]))
    return {
        name: [(*each.args, *(f"{key}={value}" for key, value in each.kwargs.items())) for each in sites]
        for name, sites in found.items()
    }


@pytest.mark.parametrize(
    "text",
    [
        "def demo():\n    net = Net(3)\n    net(torch.zeros(2, 3))\n",
        "if __name__ == '__main__':\n    net = Net(width=3).cuda()\n    x = torch.zeros(2, 3)\n    y = net(x)\n",
        "def test_net():\n    sizes = (2, 3)\n    for each in range(2):\n        assert Net(3)(torch.zeros(2, 3))\n",
        "def demo():\n    nn.DataParallel(small()).forward(torch.zeros(2, 3))\n",
        "model = small().eval()\nwith torch.no_grad():\n    print(model(torch.zeros(2, 3)))\n",
        "def test_it():\n    net, x = Net(1), torch.zeros(2, 3)\n    try:\n        net(x)\n    finally: pass\n",
        "def run():\n    '''Run.\n\n    >>> net = Net(3)\n    >>> x = torch.zeros(2, 3)\n    >>> net(x)\n    '''\n",
    ],
)
def test_an_instance_that_is_called(tmp_path: Path, text: str) -> None:
    assert shown(tmp_path, text, "Net") == {"Net": [("torch.zeros(2, 3)",)]}


@pytest.mark.parametrize(
    "text",
    [
        "for images, labels in loader:\n    Net(3)(images)\n",  # of data that nobody has here
        "def run(net, x):\n    return net(x)\n",
        "net = Net(3)\nnet = other()\nnet(torch.zeros(2, 3))\n",
        "x = torch.zeros(2, 3)\nx = load()\nNet(3)(x)\n",
        "Net(3)(*torch.zeros(2, 3))\n",
        "first, x = *rows, (yield)\nnet, *rest = Net(3), *x\nnet(x, **rest)\n",
        "Net(torch.zeros(2, 3))\n",  # of the constructor
        "Net(3).encode(torch.zeros(2, 3))\n",
        "Net(3)(read('x.png'))\n",
    ],
)
def test_what_shows_no_inputs(tmp_path: Path, text: str) -> None:
    assert shown(tmp_path, text, "Net") == {}


def test_names_stand_for_what_they_were_last(tmp_path: Path) -> None:
    text = "net = Net(3)\nx = torch.zeros(2)\nnet(x)\nx = torch.ones(2)\nnet(x, mask=(x > 0).bool())\n"
    assert shown(tmp_path, text, "Net")["Net"] == [
        ("torch.zeros(2)",),
        ("torch.ones(2)", "mask=(torch.ones(2) > 0).bool()"),
    ]


def test_functions_and_methods(tmp_path: Path) -> None:
    text = """
        def total(x, index):
            return x[index]

        total(torch.ones(3), index=torch.tensor([0, 0]))
        Net(3).encode(torch.ones(2, device=device))
        """
    assert shown(tmp_path, text, "total") == {"total": [("torch.ones(3)", "index=torch.tensor([0, 0])")]}
    assert shown(tmp_path, text, "Net.encode") == {"Net.encode": [("torch.ones(2, device=device)",)]}


def test_the_imports_of_the_file_come_along(tmp_path: Path) -> None:
    path = tmp_path / "demo.py"
    path.write_text(
        "import numpy as np\nfrom torch import from_numpy as t\nfrom net import Net\n\nNet()(t(np.ones(3)))\n"
    )
    (site,) = shown_inputs(["Net"], ProjectFiles(kept_trees()).calling(["Net"], [path]))["Net"]
    assert site.imports == ("import numpy as np", "from torch import from_numpy as t")
    assert site.place == "demo.py:5"


def test_what_makes_an_instance(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(textwrap.dedent(NET), encoding="utf-8")
    (file,) = ProjectFiles(kept_trees()).calling(["Net"], [path])
    assert makers(file.tree, ["Net"]) == {"Net": "Net", "_made": "Net", "small": "Net"}


def test_a_docstring_shows_how_a_class_is_made(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text('class Net:\n    """A net.\n\n    >>> Net(3, depth=2)\n    """\n', encoding="utf-8")
    (site,) = call_sites(["Net"], ProjectFiles(kept_trees()).calling(["Net"], [path]))["Net"]
    assert (site.args, site.kwargs, site.place) == (("3",), {"depth": "2"}, "net.py:4")


def test_another_file_may_have_its_own_of_the_name(tmp_path: Path) -> None:
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("class Net:\n    pass\n", encoding="utf-8")
    other.write_text("import torch\nclass Net:\n    pass\nNet()(torch.ones(3))\n", encoding="utf-8")
    assert not shown_inputs(["Net"], ProjectFiles(kept_trees()).calling(["Net"], [one, other]))
    assert shown_inputs(["Net"], ProjectFiles(kept_trees()).calling(["Net"], [other, one]))
