"""What `rules/registry/models/` says about models of libraries, and how a call is looked up there."""

from __future__ import annotations

import pytest

from torchlint.catalogue import Catalogue
from torchlint.catalogue.load import load_models, measured_packages
from torchlint.catalogue.models import Holding, ModelFile


@pytest.mark.parametrize("package", sorted(measured_packages()))
def test_a_file_hangs_together(package: str, catalogue: Catalogue) -> None:
    known = load_models(package)
    assert known.package == package
    assert known.release
    assert known.torch
    ids = {operator.id for operator in catalogue.operators}
    for holding in known.holding:
        assert set(holding.operators) <= ids
        assert list(holding.operators) == sorted(set(holding.operators))
        assert holding.convolutions is ("convolution" in holding.operators)
        assert all(call.startswith(f"{package}.") for call in holding.calls)


def test_a_builder_stands_once() -> None:
    twice = [Holding(operators=(), draws=False, convolutions=False, calls=("lib.net",))] * 2
    with pytest.raises(ValueError, match=r"`lib\.net` stands twice"):
        ModelFile(package="lib", release="1.0", torch="2.13.0", holding=tuple(twice))


def test_the_longest_beginning_decides() -> None:
    short = Holding(operators=("convolution",), draws=False, convolutions=True, models={"resnet": "resnet18"})
    longer = Holding(operators=("cublas_gemm",), draws=False, convolutions=False, models={"resmlp_": "resmlp_12"})
    known = ModelFile(
        package="lib",
        release="1.0",
        torch="2.13.0",
        makers=("lib.make",),
        namespaces=("lib.models",),
        holding=(short, longer),
    )
    assert known.held_by("lib.make", "resnet50") == ("convolution",)
    assert known.held_by("lib.make", "resmlp_24") == ("cublas_gemm",)
    assert known.held_by("lib.models.mlp.resmlp_24", None) == ("cublas_gemm",)
    assert known.held_by("lib.make", "unknown") is None
    assert known.held_by("lib.make", "resnets") is None
    assert known.held_by("lib.make", None) is None
    assert known.held_by("lib.other", "resnet50") is None


def test_the_last_part_of_a_checkpoint_decides() -> None:
    kind = Holding(
        operators=("convolution",), draws=False, convolutions=True, calls=("lib.Net",), models={"vit-": "Net"}
    )
    whole = Holding(operators=("cublas_gemm",), draws=False, convolutions=False, models={"gpt2": "Words"})
    known = ModelFile(
        package="lib",
        release="1.0",
        torch="2.13.0",
        makers=("lib.Auto.from_pretrained",),
        namespaces=("lib.models",),
        methods=("from_pretrained",),
        holding=(kind, whole),
    )
    assert known.held_by("lib.Auto.from_pretrained", "somebody/ViT-base") == ("convolution",)
    assert known.held_by("lib.Auto.from_pretrained", "somebody/gpt2-medium") == ("cublas_gemm",)
    assert known.held_by("lib.Auto.from_pretrained", "vit-base/others") is None
    assert known.held_by("lib.Auto.from_pretrained", "somebody/vitamin") is None
    assert known.held_by("lib.Auto.from_pretrained", "somebody/gpt2x") is None


def test_a_class_builds_by_its_methods_and_goes_by_its_long_name() -> None:
    kind = Holding(operators=("convolution",), draws=False, convolutions=True, calls=("lib.Net",))
    known = ModelFile(
        package="lib",
        release="1.0",
        torch="2.13.0",
        namespaces=("lib.models",),
        methods=("from_pretrained",),
        holding=(kind,),
    )
    assert known.held_by("lib.Net.from_pretrained", None) == ("convolution",)
    assert known.held_by("lib.models.net.Net", None) == ("convolution",)
    assert known.held_by("lib.models.net.Net.from_pretrained", None) == ("convolution",)
    assert known.held_by("lib.Net.load_config", None) is None
    assert known.held_by("lib.other.Net", None) is None
