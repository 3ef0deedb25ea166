"""What findings name: the draw that draws, the argument that matters, the layers of a class, the order that varies."""

from __future__ import annotations

from pathlib import Path

from tests.harness.programs import check, fixture, lint
from torchlint.diagnostics import Diagnostic


def found(folder: Path, code: str, **files: str) -> list[Diagnostic]:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return [one for one in check(folder).diagnostics if one.code == code]


TRAINING = """
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import transforms

augment = transforms.Compose([transforms.RandomCrop(32), transforms.ToTensor()])


def main(dataset):
    model = nn.Sequential(nn.Dropout(0.1), {layer})
    {loaded}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for images in DataLoader(dataset, batch_size=8, shuffle={shuffle}):
        model(images.cuda()).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main(torch.load("data.pt"))
"""


def named(folder: Path, layer: str, loaded: str = "pass", *, shuffle: bool = True) -> str:
    text = TRAINING.format(layer=layer, loaded=loaded, shuffle=shuffle)
    (finding,) = found(folder, "TL301", train=text)
    return finding.message.rpartition(" by ")[2]


def test_a_layer_that_draws_only_in_use_is_named_after_what_draws(tmp_path: Path) -> None:
    assert named(tmp_path, "nn.Conv2d(3, 8, 3)").startswith("`torch.nn.Conv2d`")
    assert named(tmp_path, "nn.ReLU()").startswith("`torch.utils.data.DataLoader`")
    assert named(tmp_path, "nn.ReLU()", shuffle=False).startswith("`torchvision.transforms.RandomCrop`")


def test_weights_that_others_replace_are_not_named_before_the_order_of_the_data(tmp_path: Path) -> None:
    loaded = 'model.load_state_dict(torch.load("start.pt"))'
    assert named(tmp_path, "nn.Conv2d(3, 8, 3)", loaded).startswith("`torch.utils.data.DataLoader`")
    assert named(tmp_path, "nn.Conv2d(3, 8, 3)", f"if dataset: {loaded}").startswith("`torch.nn.Conv2d`")
    optimizers = loaded.replace("model", "model.optimizer")
    assert named(tmp_path, "nn.Conv2d(3, 8, 3)", optimizers).startswith("`torch.nn.Conv2d`")


def test_a_long_call_is_quoted_with_the_argument_that_matters(tmp_path: Path) -> None:
    call = 'pl.Trainer(max_epochs=100, benchmark=True, accelerator="gpu", precision="16-mixed", logger=False)'
    (finding,) = found(tmp_path, "TL207", train=f"import lightning.pytorch as pl\n\ntrainer = {call}\n")
    assert finding.message.startswith("`pl.Trainer(..., benchmark=True)` lets cuDNN")


def test_the_layers_of_a_class_are_related_places_of_the_first(tmp_path: Path) -> None:
    report = lint(fixture("TL601/one_line_a_class.py"), tmp_path)
    first, *_ = [one for one in report.diagnostics if one.code == "TL601"]
    assert "the biases of 3 layers of `Encoder` are cancelled" in first.message
    assert [place.message for place in first.related] == ["the norm that subtracts it", *["this layer's as well"] * 2]


RESTORING = """
import torch


def load_checkpoint(path, model, optimizer=None):
    states = torch.load(path)
    if optimizer is not None:
        optimizer.load_state_dict(states["optimizer"])
    model.load_state_dict(states["model"])
"""

RESUMING = """
import torch
from states import load_checkpoint

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters())
load_checkpoint("last.pt", model, optimizer)
for batch in torch.load("data.pt"):
    model(batch).sum().backward()
    optimizer.step()
"""

PREDICTING = """
import torch
from states import load_checkpoint

model = torch.nn.Linear(4, 2)
load_checkpoint("last.pt", model)
torch.save(model(torch.load("data.pt")), "predicted.pt")
"""


def test_a_helper_that_restores_is_shown_with_the_programs_that_go_on_by_it(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, "TL313", states=RESTORING, train=RESUMING, predict=PREDICTING)
    assert Path(finding.location.path).name == "states.py"
    assert [(Path(one.location.path).name, one.location.line) for one in finding.related] == [("train.py", 7)]
