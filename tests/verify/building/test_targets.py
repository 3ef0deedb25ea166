from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from torchlint.input_notation import ELEMENT_TYPES
from torchlint.recording.errors import CannotRun
from torchlint.recording.messages import Hooks

pytestmark = pytest.mark.torch

Build = Callable[..., Any]

BLOCK = """
class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.body = nn.Linear(dim, dim)
    def forward(self, x):
        return self.body(x)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 6, 3)
        self.block = Block(6)
    def forward(self, x):
        return self.block(self.stem(x).mean((2, 3)))
class Broken(nn.Module):
    def __init__(self):
        raise RuntimeError("needs a file")
class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 3)
    def forward(self, x):
        return self.body(x)
"""


def test_a_part_is_run_inside_the_module_that_holds_it(build: Build) -> None:
    subject, executed = build(BLOCK, "Block", enclosing=("Broken", "Net"))
    assert executed.name == "Net"
    assert not subject.make_input_grad
    assert "gradient of block.body.weight" in subject.run().tensors


def test_a_part_whose_surroundings_cannot_be_built_gets_inputs_with_gradients(build: Build) -> None:
    subject, executed = build(BLOCK, "Block", enclosing=("Broken",))
    assert executed.name == "Block"
    assert subject.make_input_grad
    assert "gradient of input[0][0]" in subject.run().tensors


def test_a_module_that_does_not_hold_the_part_is_not_taken(build: Build) -> None:
    _, executed = build(BLOCK, "Block", enclosing=("Other",))
    assert executed.name == "Block"


def test_a_module_of_its_own_gets_inputs_without_gradients(build: Build) -> None:
    subject, _ = build(BLOCK, "Block")
    assert not subject.make_input_grad


def test_a_function_runs_on_inputs_by_name(build: Build) -> None:
    subject, executed = build(
        "def blend(image, mask, weight: float = 0.5):\n    return image * mask * weight\n", "blend", kind="function"
    )
    assert subject.model is None
    assert len(executed.inputs) == 2
    assert not subject.run().has_backward


def test_a_method_of_a_module_runs_on_a_copy_of_it(build: Build) -> None:
    text = BLOCK.replace(
        "class Net", "    def encode(self, x):\n        self.seen = x\n        return self.body(x) * 2\nclass Net"
    )
    subject, executed = build(text, "Block.encode", kind="function")
    assert executed.name == "Block.encode"
    assert subject.run().has_backward
    assert not hasattr(subject.model.module, "seen")


def test_a_method_of_another_object_starts_from_the_same_state_each_time(build: Build) -> None:
    subject, _ = build(
        "class Counter:\n    def __init__(self):\n        self.calls = 0\n"
        "    def add(self, x):\n        self.calls += 1\n        return x + self.calls\n",
        "Counter.add",
        kind="function",
    )
    one, other = subject.run(), subject.run()
    assert one.outputs[""].equal(other.outputs[""])


def test_a_static_method_is_a_function(build: Build) -> None:
    text = "class Tools:\n    @staticmethod\n    def double(x):\n        return x * 2\n"
    subject, _ = build(text, "Tools.double", kind="function")
    assert subject.run().outputs


def test_an_object_of_the_file_is_run_as_it_is(build: Build) -> None:
    subject, executed = build(BLOCK + "model = Net()\n", "model", kind="object")
    assert executed.name == "model"
    assert executed.inputs == ("float32[2,3,32,32]",)
    assert subject.run().has_backward


def test_an_object_that_is_no_module_is_refused(build: Build) -> None:
    with pytest.raises(CannotRun, match="settings is a dict, not a module"):
        build("settings = {}\n", "settings", kind="object")


def test_a_name_that_the_file_does_not_have_is_told(build: Build) -> None:
    with pytest.raises(CannotRun, match="Missing does not exist once the file is loaded"):
        build(BLOCK, "Missing")


def test_a_class_that_is_no_module_is_told(build: Build) -> None:
    with pytest.raises(CannotRun, match="Plain is not a class of modules"):
        build("class Plain:\n    pass\n", "Plain")


def test_hooks_give_arguments_and_inputs(build: Build) -> None:
    hooks = Hooks(args=(5,), inputs=("float32[4,5]",))
    subject, executed = build(BLOCK, "Block", hooks=hooks)
    assert executed.built_by == "the configuration"
    assert executed.construction == "Block(5)"
    assert executed.inputs == ("float32[4,5]",)
    assert not executed.invented_inputs
    assert subject.run().has_backward


@pytest.mark.parametrize(
    ("text", "dtype", "low", "high"),
    [
        ("int64[100]{3..6}", torch.int64, 3, 5),
        ("float32[100]{0..1}", torch.float32, 0, 1),
        ("uint8[100]{0..256}", torch.uint8, 0, 255),
        ("float64[100]", torch.float64, -9, 9),
    ],
)
def test_bounds_are_from_the_first_up_to_the_last(text: str, dtype: object, low: float, high: float) -> None:
    from torchlint.recording.building.specification import specified

    (value,), _ = specified((text,), torch.Generator().manual_seed(0))
    assert value.dtype == dtype
    assert low <= value.min()
    assert value.max() <= high
    assert len(value.unique()) > 2


def test_inputs_can_be_literals_truths_and_keywords() -> None:
    from torchlint.recording.building.specification import specified

    args, kwargs = specified(("None", "3", "[1, 2]", "mask=bool[2,5]", "float32[]"), torch.Generator())
    assert args[:3] == (None, 3, [1, 2])
    assert args[3].shape == ()
    assert kwargs["mask"].dtype == torch.bool


def test_an_input_that_says_nothing_is_refused() -> None:
    from torchlint.recording.building.specification import specified

    with pytest.raises(CannotRun, match="`float33\\[2\\]` is neither a tensor"):
        specified(("float33[2]",), torch.Generator())


@pytest.mark.filterwarnings("ignore:ComplexHalf")
def test_every_element_type_that_can_be_asked_for_is_made() -> None:
    from torchlint.recording.building.specification import specified

    there = sorted(name for name in ELEMENT_TYPES if hasattr(torch, name))
    assert len(there) > 20
    for name in there:
        (value,), _ = specified((f"{name}[2,3]",), torch.Generator())
        assert (value.dtype, value.shape) == (getattr(torch, name), (2, 3))


def test_inputs_of_the_user_that_do_not_fit_are_told(build: Build) -> None:
    with pytest.raises(CannotRun, match=r"Block does not run on these inputs: RuntimeError: (addmm: )?mat1 and mat2"):
        build(BLOCK, "Block", hooks=Hooks(args=(5,), inputs=("float32[4,6]",)))


def test_a_factory_gives_module_inputs_and_loss(build: Build) -> None:
    subject, executed = build(
        BLOCK,
        "Block",
        hooks=Hooks(factory="factories_of_this_test:block"),
        beside={
            "factories_of_this_test.py": "import torch\nfrom model import Block\n"
            "def block():\n    return Block(4), (torch.ones(3, 4),), {}, lambda out: out.pow(2).sum()\n"
        },
    )
    assert executed.name == "Block"
    assert executed.inputs == ("float32[3,4]",)
    assert subject.loss is not None
    assert not executed.invented_inputs


def test_a_factory_that_fails_is_told(build: Build) -> None:
    with pytest.raises(CannotRun, match="no_such_module:make failed: ModuleNotFoundError"):
        build(BLOCK, "Block", hooks=Hooks(factory="no_such_module:make"))


def test_words_of_the_user_are_for_the_class_itself(build: Build) -> None:
    subject, executed = build(BLOCK, "Block", enclosing=("Net",), hooks=Hooks(args=(5,)))
    assert executed.construction == "Block(5)"
    assert subject.make_input_grad


def test_a_function_that_makes_a_module_is_run_as_what_it_makes(build: Build) -> None:
    text = """
        from torch import nn

        def block(in_channels, out_channels):
            return nn.Sequential(nn.Conv2d(in_channels, out_channels, 3), nn.BatchNorm2d(out_channels))
        """
    subject, executed = build(textwrap.dedent(text), "block", kind="function")
    assert isinstance(subject.model, nn.Sequential)
    assert executed.inputs


def test_a_class_can_be_constructed_anew(build: Build) -> None:
    text = """
        import torch
        from torch import nn

        class Scaled(nn.Module):
            def __init__(self, dim=4):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(dim))

            def forward(self, x):
                return x * self.weight
        """
    subject, _ = build(textwrap.dedent(text), "Scaled")
    assert subject.build is not None
    again = subject.build()
    assert type(again) is type(subject.model)
    assert again is not subject.model
