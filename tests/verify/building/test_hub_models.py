"""Models of transformers, by a package that has what torchlint touches of it: few layers, and nothing is fetched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

pytestmark = pytest.mark.torch

Build = Callable[..., Any]

LIBRARY = {
    "transformers/__init__.py": """
from transformers.modeling_utils import AutoConfig, AutoModel, BertConfig, BertModel, CONFIG_MAPPING, PreTrainedModel
""",
    "transformers/configuration_utils.py": """
class PretrainedConfig:
    @classmethod
    def from_pretrained(cls, name, **options):
        raise OSError("no connection")
""",
    "transformers/modeling_utils.py": """
from torch import nn
from transformers.configuration_utils import PretrainedConfig


class BertConfig(PretrainedConfig):
    def __init__(self, hidden_size=48, num_hidden_layers=12, vocab_size=30):
        self.hidden_size, self.num_hidden_layers, self.vocab_size = hidden_size, num_hidden_layers, vocab_size


class PreTrainedModel(nn.Module):
    config_class = None

    def __init__(self, config):
        super().__init__()
        self.config = config

    @classmethod
    def from_pretrained(cls, name, **options):
        raise OSError("no connection")


class BertModel(PreTrainedModel):
    config_class = BertConfig

    def __init__(self, config):
        super().__init__(config)
        self.embed = nn.Embedding(config.vocab_size, config.hidden_size)
        size = config.hidden_size
        self.layers = nn.ModuleList(nn.Linear(size, size) for _ in range(config.num_hidden_layers))

    def forward(self, input_ids):
        x = self.embed(input_ids)
        for layer in self.layers:
            x = layer(x)
        return x


CONFIG_MAPPING = {"bert": BertConfig}


class AutoConfig:
    @classmethod
    def from_pretrained(cls, name, **options):
        raise OSError("no connection")


class AutoModel:
    @classmethod
    def from_pretrained(cls, name, **options):
        config, options = AutoConfig.from_pretrained(name, return_unused_kwargs=True)
        return BertModel.from_pretrained(name, config=config, **options)
""",
}
CLASS = """
from transformers import {imports}

class Classifier(nn.Module):
    def __init__(self{parameters}):
        super().__init__()
        self.bert = {bert}
        self.head = nn.Linear({width}, 3)

    def forward(self, input_ids):
        return self.head(self.bert(input_ids)[:, 0])
"""


@pytest.mark.parametrize(
    ("imports", "parameters", "bert", "width"),
    [
        ("AutoModel", ", name='bert-base'", "AutoModel.from_pretrained(name)", 48),
        ("BertModel", "", "BertModel.from_pretrained('bert-large-cased')", 1024),
        ("BertModel, BertConfig", "", "BertModel(BertConfig(hidden_size=64))", 64),
        ("BertModel, AutoConfig", ", name", "BertModel(AutoConfig.from_pretrained(name))", 48),
        ("BertModel, BertConfig", ", config: BertConfig", "BertModel(config)", 48),
    ],
)
def test_it_runs_with_few_layers_and_the_width_that_the_program_counts_on(
    build: Build, imports: str, parameters: str, bert: str, width: int
) -> None:
    text = CLASS.format(imports=imports, parameters=parameters, bert=bert, width=width)
    subject, executed = build(text, "Classifier", beside=LIBRARY)
    assert len(subject.model.bert.layers) == len(subject.build().bert.layers) == 2
    assert executed.passes == "forward and backward"
    assert "its models of transformers with few layers" in executed.built_by
    assert ("without its pretrained weights" in executed.built_by) == ("from_pretrained" in bert)


def test_a_model_that_memory_does_not_hold_is_made_narrower(build: Build) -> None:
    bert = "BertModel(BertConfig(hidden_size=4096, vocab_size=32000))"
    text = CLASS.format(imports="BertModel, BertConfig", parameters="", bert=bert, width="self.bert.config.hidden_size")
    subject, _ = build(text, "Classifier", beside=LIBRARY)
    assert subject.model.bert.config.hidden_size == 1024


def test_a_class_of_the_library_gets_its_own_configuration(build: Build) -> None:
    text = """
from transformers import BertModel

class Tagger(BertModel):
    def __init__(self, config):
        super().__init__(config)
        self.tags = nn.Linear(config.hidden_size, 4)

    def forward(self, input_ids):
        return self.tags(super().forward(input_ids))
"""
    subject, executed = build(text, "Tagger", beside=LIBRARY)
    assert executed.construction == "Tagger(config=<BertConfig>)"
    assert len(subject.model.layers) == 2


LAZILY = {
    **LIBRARY,
    "transformers/__init__.py": """
import importlib

def __getattr__(name):
    if name not in ("AutoConfig", "AutoModel", "BertConfig", "BertModel", "CONFIG_MAPPING", "PreTrainedModel"):
        raise AttributeError(name)
    return getattr(importlib.import_module("transformers.modeling_utils"), name)
""",
    "transformers/auto.py": """
class AutoModel:
    @classmethod
    def from_pretrained(cls, name):
        from transformers import BertModel
        return BertModel.from_pretrained(name)
""",
}


def test_a_library_that_imports_its_models_at_their_first_use(build: Build) -> None:
    text = CLASS.format(imports="auto", parameters="", bert="auto.AutoModel.from_pretrained('bert-base')", width=48)
    subject, executed = build(text, "Classifier", beside=LAZILY)
    assert len(subject.model.bert.layers) == 2
    assert "without its pretrained weights" in executed.built_by


TAGGER = """
from transformers import BertModel, PreTrainedModel

class Tagger(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.bert = BertModel(config)
        self.tags = nn.Linear(config.hidden_size, config.tags)

    def forward(self, input_ids):
        return self.tags(self.bert(input_ids))
"""


def test_a_model_of_the_base_class_gets_the_configuration_of_what_it_holds(build: Build) -> None:
    """The library refuses options of another class: it has no word for which one is meant."""
    refused = """
    def __init__(self, config):
        super().__init__()
        if not isinstance(config, PretrainedConfig):
            raise ValueError(f"Parameter config in `{type(self).__name__}(config)` should be an instance of class"
                             " `PretrainedConfig`.")
        self.config = config
"""
    models = LIBRARY["transformers/modeling_utils.py"]
    plain = models[models.index("    def __init__(self, config):") : models.index("    @classmethod")]
    library = {**LIBRARY, "transformers/modeling_utils.py": models.replace(plain, refused, 1)}
    subject, executed = build(TAGGER, "Tagger", beside=library)
    assert executed.construction == "Tagger(config=<BertConfig>)"
    assert subject.model.tags.in_features == 48
    assert subject.model.tags.out_features == subject.model.config.tags


def test_without_the_library_nothing_of_it_is_made_small(build: Build) -> None:
    text = CLASS.format(imports="BertModel", parameters="", bert="nn.Embedding(30, 8)", width=8)
    _, executed = build(text, "Classifier")
    assert executed.passes == "forward and backward"
    assert "transformers with few layers" not in executed.built_by
