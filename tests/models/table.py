"""`rules/registry/models/`: one file for each library, the same bytes whenever the same releases are measured."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.models.measuring import Held
from tests.models.subjects import Subject

FOLDER = Path(__file__).parents[2] / "rules" / "registry" / "models"


@dataclass(frozen=True)
class Library:
    """What of a library is measured."""

    package: str
    """As code imports it."""
    distribution: str
    makers: tuple[str, ...] = ()
    argument: str = ""
    namespaces: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    @property
    def release(self) -> str:
        return importlib.metadata.version(self.distribution)

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.package}.toml"

    def subjects(self) -> Iterator[Subject]:
        found: Iterator[Subject] = importlib.import_module(f"tests.models.libraries.of_{self.package}").subjects()
        return found


_PRETRAINED = ("from_pretrained", "from_config", "_from_config")
_TASKS = (
    "",
    *("ForAudioClassification", "ForCTC", "ForCausalLM", "ForDepthEstimation", "ForImageClassification"),
    *("ForImageSegmentation", "ForImageTextToText", "ForInstanceSegmentation", "ForMaskedImageModeling"),
    *("ForMaskedLM", "ForMultipleChoice", "ForNextSentencePrediction", "ForObjectDetection", "ForPreTraining"),
    *("ForQuestionAnswering", "ForSemanticSegmentation", "ForSeq2SeqLM", "ForSequenceClassification"),
    *("ForSpeechSeq2Seq", "ForTokenClassification", "ForUniversalSegmentation", "ForVideoClassification"),
    *("ForZeroShotImageClassification", "ForZeroShotObjectDetection"),
)
"""What else than its body `transformers.AutoModel...` brings of a model."""
LIBRARIES = (
    Library("torchvision", "torchvision", ("torchvision.models.get_model",), "name"),
    Library("timm", "timm", ("timm.create_model", "timm.models.create_model"), "model_name", ("timm.models",)),
    Library(
        "segmentation_models_pytorch",
        "segmentation-models-pytorch",
        ("segmentation_models_pytorch.create_model",),
        "arch",
    ),
    Library(
        "transformers",
        "transformers",
        tuple(f"transformers.AutoModel{task}.from_pretrained" for task in _TASKS),
        "pretrained_model_name_or_path",
        ("transformers.models",),
        _PRETRAINED,
    ),
    Library("diffusers", "diffusers", namespaces=("diffusers.models",), methods=_PRETRAINED),
    Library("torch_geometric", "torch-geometric"),
    Library("torchaudio", "torchaudio"),
    Library("monai", "monai"),
)


def written(library: Library, torch: str, measured: Mapping[Held, Iterable[Subject]]) -> str:
    """The text of a library's file: builders that hold the same stand together."""
    lines = [
        f"# What the models of {library.package} run, forward and backward, in training.",
        "# Written by `python -m tests.models`: measure again instead of editing it.",
        "",
        f"package = {json.dumps(library.package)}",
        f"release = {json.dumps(library.release)}",
        f"torch = {json.dumps(torch)}",
    ]
    lines += [f"makers = {json.dumps(library.makers)}"] if library.makers else []
    lines += [f"argument = {json.dumps(library.argument)}"] if library.argument else []
    lines += [f"methods = {json.dumps(library.methods)}"] if library.methods else []
    lines += [f"namespaces = {json.dumps(library.namespaces)}"] if library.namespaces else []
    for held in sorted(measured, key=lambda held: (held.operators, held.draws)):
        lines += ["", "[[holding]]", *_holding(held, list(measured[held]))]
    return "\n".join(lines) + "\n"


def _holding(held: Held, subjects: list[Subject]) -> Iterator[str]:
    yield f"operators = {json.dumps(held.operators)}"
    yield f"draws = {json.dumps(held.draws)}"
    yield f"convolutions = {json.dumps(held.convolutions)}"
    calls = sorted(call for subject in subjects for call in subject.calls)
    if calls:
        yield "calls = ["
        yield from (f"    {json.dumps(call)}," for call in calls)
        yield "]"
    models = sorted((subject.model, subject.measured) for subject in subjects if subject.model)
    if models:
        yield "[holding.models]"
        yield from (f"{json.dumps(model)} = {json.dumps(chosen)}" for model, chosen in models)
