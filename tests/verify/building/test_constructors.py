from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

from torchlint.recording.errors import CannotRun
from torchlint.recording.messages import CallSite

pytestmark = pytest.mark.torch

Build = Callable[..., Any]

CONV = """
class Conv(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size=3):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, padding=1)
    def forward(self, x):
        return self.conv(x).relu()
"""


def test_literal_arguments_of_the_project_come_first(build: Build) -> None:
    calls = (CallSite(args=("6",), kwargs={"out_channels": "2 * 5"}, place="train.py:12"),)
    subject, executed = build(CONV, "Conv", calls=calls)
    assert executed.built_by == "literal arguments at train.py:12"
    assert executed.construction == "Conv(6, out_channels=10)"
    assert executed.inputs == ("float32[2,6,32,32]",)
    assert subject.run().has_backward


def test_a_call_whose_names_are_not_in_the_file_is_passed_over(build: Build) -> None:
    calls = (CallSite(args=("WIDTH", "3"), place="train.py:1"), CallSite(args=("4", "3"), place="train.py:9"))
    _, executed = build(CONV, "Conv", calls=calls)
    assert executed.built_by == "literal arguments at train.py:9"


def test_defaults_come_before_invented_arguments(build: Build) -> None:
    text = CONV.replace("(self, in_channels, out_channels", "(self, in_channels=5, out_channels=7")
    _, executed = build(text, "Conv")
    assert executed.built_by == "the constructor's defaults"
    assert executed.construction == "Conv()"
    assert executed.inputs == ("float32[2,5,32,32]",)


def test_names_and_annotations_give_arguments(build: Build) -> None:
    text = """
from __future__ import annotations
from enum import Enum
from typing import Literal, Optional, Sequence
class Kind(Enum):
    A = "a"
class Net(nn.Module):
    def __init__(self, dim: int, widths: Sequence[int], dropout: float, size: tuple[int, int], kind: Kind,
                 mode: Literal["sum", "mean"], down: Optional[nn.Module], act_layer: type[nn.Module], use_bias: bool):
        super().__init__()
        assert isinstance(kind, Kind) and mode == "sum" and down is None and len(size) == 2
        self.layers = nn.Sequential(*(nn.Linear(dim, width, bias=use_bias) for width in widths[:1]), act_layer())
        self.drop = nn.Dropout(dropout)
    def forward(self, x):
        return self.drop(self.layers(x))
"""
    _, executed = build(text.replace("from __future__ import annotations\n", ""), "Net")
    assert executed.built_by == "invented arguments"
    assert executed.attempts == 1


def test_a_configuration_nobody_described_gets_values_by_name(build: Build) -> None:
    _, executed = build(
        """
class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.body = nn.Linear(cfg.hidden_size, cfg.model.num_classes)
        self.drop = nn.Dropout(cfg["dropout"])
    def forward(self, x):
        return self.drop(self.body(x))
""",
        "Net",
    )
    assert executed.inputs == ("float32[2,16]",)


def test_a_configuration_class_of_the_file_is_made_with_its_defaults(build: Build) -> None:
    subject, _ = build(
        """
from dataclasses import dataclass
@dataclass
class Config:
    width: int = 6
class Net(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.body = nn.Linear(config.width, 2)
    def forward(self, x):
        return self.body(x)
""",
        "Net",
    )
    assert subject.model.body.in_features == 6


@pytest.mark.parametrize(
    ("arguments", "body"),
    [
        ("dim, num_heads=6", "assert dim % num_heads == 0, 'dim must be divisible by num_heads'"),
        ("dim, depths", "self.depth = sum(depths)"),
        ("dim, sizes", "a, b, c, d = sizes"),
        (
            "dim, mode",
            "if getattr(self, 'mode', mode) not in ('linear', 'cubic'): raise ValueError('linear or cubic', mode)",
        ),
        ("dim, flavour: str", "kind = flavour; assert kind in KINDS, f'{flavour} is none of {KINDS}'"),
        ("dim, flavour: str", "self.known = 1 if flavour in ('x', 'y') else self.fail()"),
        ("dim, inner", "self.inner = nn.Sequential(inner)"),
        ("dim, kind=None", "if kind is None: raise ValueError('kind must be given')"),
        ("dim, **rest", "self.width = self.take(**rest)"),
    ],
)
def test_arguments_are_repaired_from_the_error(build: Build, arguments: str, body: str) -> None:
    _, executed = build(
        f"""
KINDS = ["vanilla", "plain"]
class Net(nn.Module):
    def __init__(self, {arguments}):
        super().__init__()
        {body}
        self.body = nn.Linear(dim, dim)
    def fail(self):
        raise ValueError("flavour must be one of 'x', 'y'")
    def take(self, width):
        return width
    def forward(self, x):
        return self.body(x)
""",
        "Net",
    )
    assert executed.attempts > 1
    assert executed.built_by == "invented arguments"


def test_pretrained_weights_are_not_fetched(build: Build) -> None:
    _, executed = build(
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 2)
        state = torch.hub.load_state_dict_from_url("https://example.invalid/weights.pth")
        self.load_state_dict(state["model"])
    def forward(self, x):
        return self.body(x)
""",
        "Net",
    )
    assert executed.built_by == "the constructor's defaults, without its pretrained weights"


def test_programs_for_cuda_are_built_on_the_device_at_hand(build: Build) -> None:
    subject, _ = build(
        """
class Net(nn.Module):
    def __init__(self, device=torch.device("cuda")):
        super().__init__()
        self.body = nn.Linear(3, 2, device=device)
        self.table = torch.zeros(2).cuda()
    def forward(self, x):
        return self.body(x) + self.table
""",
        "Net",
    )
    assert subject.model.table.device.type == "cpu"


def test_a_constructor_that_always_fails_is_told_with_its_error(build: Build) -> None:
    with pytest.raises(CannotRun) as caught:
        build(
            "class Net(nn.Module):\n    def __init__(self):\n        raise OSError('no\\nfile')\n",
            "Net",
        )
    assert caught.value.kind == "constructor"
    assert caught.value.reason == "Net could not be constructed: OSError: no file"


def test_a_constructor_that_computes_with_a_missing_library_names_it(build: Build) -> None:
    with pytest.raises(CannotRun) as caught:
        build(
            "import absent\nclass Net(nn.Module):\n    def __init__(self):\n        absent.solve(torch.ones(2))\n",
            "Net",
        )
    assert caught.value.kind == "load"
    assert caught.value.reason == "it computes with absent.solve, which is not installed"


def test_weights_depend_on_the_seed_alone(build: Build) -> None:
    one, _ = build(CONV, "Conv")
    other, _ = build(CONV, "Conv")
    assert one.model.conv.weight.equal(other.model.conv.weight)
    assert one.args[0].equal(other.args[0])


def test_a_class_for_a_parameter_is_looked_for_in_the_file(build: Build) -> None:
    subject, _ = build(
        """
class Bottleneck(nn.Module):
    expansion = 4
    def __init__(self, dim):
        super().__init__()
        self.body = nn.Linear(dim, dim)
    def forward(self, x):
        return self.body(x)
class Net(nn.Module):
    def __init__(self, block, dim):
        super().__init__()
        self.body = nn.Sequential(block(dim), nn.Linear(dim, dim * block.expansion))
    def forward(self, x):
        return self.body(x)
""",
        "Net",
    )
    assert type(subject.model.body[0]).__name__ == "Bottleneck"


def test_a_part_is_constructed_with_repairs_of_its_own(build: Build) -> None:
    subject, _ = build(
        """
class Encoder(nn.Module):
    def __init__(self, dim, mode):
        super().__init__()
        if mode not in ("plain", "fancy"):
            raise ValueError(mode)
        self.body = nn.Linear(dim, dim)
    def forward(self, x):
        return self.body(x)
class Net(nn.Module):
    def __init__(self, encoder: Encoder):
        super().__init__()
        self.encoder = encoder
        assert isinstance(encoder, Encoder)
    def forward(self, x):
        return self.encoder(x)
""",
        "Net",
    )
    assert type(subject.model.encoder).__name__ == "Encoder"


def test_arguments_that_are_handed_on_are_found_by_their_names(build: Build) -> None:
    _, executed = build(
        """
class Inner(nn.Module):
    def __init__(self, depth, heads):
        super().__init__()
        self.body = nn.Linear(8, 8)
class Net(nn.Module):
    def __init__(self, inner_params, **rest):
        super().__init__()
        self.inner = Inner(**inner_params)
        assert "width" in rest, "`width` must be passed in"
    def forward(self, x):
        return self.inner.body(x)
""",
        "Net",
    )
    assert "width=" in executed.construction
    assert "'depth': 2" in executed.construction


def test_weights_that_cannot_be_had_are_not_asked_for(build: Build) -> None:
    _, executed = build(
        """
class Net(nn.Module):
    def __init__(self, pretrained=True):
        super().__init__()
        if pretrained:
            raise RuntimeError("could not download weights")
        self.body = nn.Linear(8, 8)
    def forward(self, x):
        return self.body(x)
""",
        "Net",
    )
    assert executed.construction == "Net(pretrained=False)"
    assert executed.attempts == 2


def test_a_part_that_cannot_be_shown_does_no_harm(build: Build) -> None:
    _, executed = build(
        """
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)
    def __repr__(self):
        return self.absent
class Net(nn.Module):
    def __init__(self, part: Part):
        super().__init__()
        self.part = part
    def forward(self, x):
        return self.part.body(x)
""",
        "Net",
    )
    assert executed.construction == "Net(part=<Part>)"
