from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.recording.messages import CallSite
from torchlint.verify.call_sites import ProjectFiles, call_sites
from torchlint.verify.configurations import configurations
from torchlint.verify.loading import kept_trees
from torchlint.verify.option_values import option_values


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("parser.add_argument('--hidden-size', type=int, default=64)", {"hidden_size": "64"}),
        ("parser.add_argument('-w', '--width', type=int, default='032')", {"width": "32"}),
        ("parser.add_argument('--net', choices=['deep', 'wide'])", {"net": "'deep'"}),
        ("parser.add_argument('--plain', action='store_true', dest='is_plain')", {"is_plain": "False"}),
        ("parser.add_argument('--a', default=1)\nparser.set_defaults(a=2)", {"a": "2"}),
        ("flags.DEFINE_integer('steps', 5, 'how many')", {"steps": "5"}),
        ("_C.MODEL.WIDTH = 24", {"WIDTH": "24", "MODEL": "{}"}),
        ("cfg['depth'] = 3", {"depth": "3"}),
        ("config = {'rows': 4, 'size': (2, 3)}", {"rows": "4", "size": "(2, 3)", "config": "{}"}),
        ("class TrainConfig:\n    width = 6\n    depth: int = 2\n    rate: float", {"width": "6", "depth": "2"}),
        ("class Config:\n    def __init__(self, heads=4):\n        self.rows = 7", {"heads": "4", "rows": "7"}),
        ("def f(cfg):\n    return cfg.MODEL.WIDTH", {"MODEL": "{}"}),
        ("width = 6\nsizes.first = 3\nmake(width=8)\ncfg.rows = count(3)", {}),
    ],
)
def test_options_of_a_file(tmp_path: Path, text: str, found: dict[str, str]) -> None:
    path = tmp_path / "settings.py"
    path.write_text(f"# the arguments and config\n{text}\n", encoding="utf-8")
    assert option_values([path], (), kept_trees()) == found


def test_options_of_tables(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(
        "MODEL:\n  WIDTH: 12  # channels\n  NAME: unet\n  PLAIN: true\n  STEPS:\n    - 4\n    - 8\n", encoding="utf-8"
    )
    (tmp_path / "more.json").write_text('{"net": {"depth": 3}, "WIDTH": 1}', encoding="utf-8")
    net = {"net": "{}", "depth": "3"}
    model = {"MODEL": "{}", "WIDTH": "1", "NAME": "'unet'", "PLAIN": "True", "STEPS": "[4, 8]"}
    assert option_values([], configurations(tmp_path), kept_trees()) == model | net


CALLS = """
WIDTH = 8
def main(args, depth=3):
    rate = 0.5
    loud = args.loud
    loud = not loud
    return Net(WIDTH, depth, rate=rate, loud=loud, mode=args.mode, words=len(args.words), rows=2 * WIDTH)
class Holder:
    def __init__(self, WIDTH):
        self.net = Net(WIDTH, 4)
net = Net(1, depth=2)
Net(*rows)
"""


def test_arguments_of_calls_are_literals_as_far_as_they_are_known(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(CALLS, encoding="utf-8")
    assert call_sites(["Net"], ProjectFiles(kept_trees()).calling(["Net"], [path]))["Net"] == (
        CallSite(args=("1",), kwargs={"depth": "2"}, place="train.py:11"),
        CallSite(
            args=("8", "3"),
            kwargs={"rate": "0.5", "loud": "loud", "mode": "args.mode", "words": "", "rows": "2 * 8"},
            place="train.py:7",
            is_literal=False,
        ),
        CallSite(args=("WIDTH", "4"), place="train.py:10", is_literal=False),
    )
