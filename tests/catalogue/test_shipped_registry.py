"""The registry as shipped: it hangs together, and its names are the ones that code resolves to."""

from __future__ import annotations

import pytest

from torchlint.catalogue import Catalogue
from torchlint.catalogue.load import load_values
from torchlint.catalogue.programs import NameFile
from torchlint.catalogue.versions import VersionRange, parse_minor


def canonical(name: str, names: NameFile) -> str:
    """The longest prefix of `same`, replaced once."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        public = names.same.get(".".join(parts[:length]))
        if public is not None:
            return ".".join([public, *parts[length:]])
    return name


def test_every_registry_rule_that_is_built_has_operators(catalogue: Catalogue) -> None:
    built = {code for code, rule in catalogue.rules.items() if rule.registry}
    assert built <= {operator.rule for operator in catalogue.operators}


def test_catalogue_names_are_public_names(catalogue: Catalogue) -> None:
    patterns = [pattern for rule in catalogue.rules.values() for pattern in rule.detect]
    names = [name for pattern in patterns for name in (*pattern.call, *pattern.assign, *pattern.import_)]
    names += [spelling.call for operator in catalogue.operators for spelling in operator.spelling if spelling.call]
    names += [mode.call for mode in catalogue.programs.mode]
    values = load_values()
    names += [name for listed in (*values.calls.values(), *values.annotations.values()) for name in listed]
    assert [name for name in names if canonical(name, catalogue.names) != name] == []


def test_a_private_home_leads_to_a_public_name(catalogue: Catalogue) -> None:
    private = {
        "torch.nn.modules.conv.Conv2d": "torch.nn.Conv2d",
        "torch.nn.modules.Conv2d": "torch.nn.Conv2d",
        "torch.functional.stft": "torch.stft",
        "torch.nn.parallel.data_parallel.DataParallel": "torch.nn.DataParallel",
        "torch.nn.parallel.data_parallel": "torch.nn.parallel.data_parallel",
        "torch.random.manual_seed": "torch.manual_seed",
        "pytorch_lightning.Trainer": "lightning.pytorch.Trainer",
        "pytorch_lightning.trainer.Trainer": "lightning.pytorch.Trainer",
        "lightning.seed_everything": "lightning.pytorch.seed_everything",
        "transformers.trainer_utils.set_seed": "transformers.set_seed",
    }
    assert {name: canonical(name, catalogue.names) for name in private} == private


def test_a_public_name_is_final(catalogue: Catalogue) -> None:
    for private, public in catalogue.names.same.items():
        assert canonical(public, catalogue.names) == public, private


def test_spellings_of_one_operator_differ(catalogue: Catalogue) -> None:
    for operator in catalogue.operators:
        assert len(set(operator.spelling)) == len(operator.spelling), operator.id


def test_the_default_torch_has_a_row_for_every_operator_that_cuda_has(catalogue: Catalogue) -> None:
    for operator in catalogue.operators:
        devices = {row.device for row in operator.row}
        assert "cuda" not in devices or operator.row_for("cuda", catalogue.newest) is not None, operator.id


@pytest.mark.parametrize(
    ("operator_id", "release", "expected"),
    [
        ("replication_pad1d", (1, 0), "silent_nondeterministic"),
        ("reflection_pad2d", (1, 6), "silent_nondeterministic"),
        ("upsample_bilinear2d", (1, 6), "silent_nondeterministic"),
        ("upsample_bilinear2d", (1, 7), "raises"),
        ("nll_loss2d", (1, 0), "silent_nondeterministic"),
        ("ctc_loss", (1, 6), "silent_nondeterministic"),
        ("replication_pad1d", (1, 8), "raises"),
        ("replication_pad1d", (2, 2), "raises"),
        ("replication_pad1d", (2, 3), "deterministic_alternative"),
        ("replication_pad2d", (2, 1), "raises"),
        ("replication_pad2d", (2, 2), "deterministic_alternative"),
        ("reflection_pad1d", (2, 13), "raises"),
        ("reflection_pad2d", (2, 6), "raises"),
        ("reflection_pad2d", (2, 13), "deterministic_alternative"),
        ("upsample_bilinear2d", (2, 0), "raises"),
        ("upsample_bilinear2d", (2, 1), "deterministic_alternative"),
        ("upsample_trilinear3d", (2, 8), "raises"),
        ("upsample_trilinear3d", (2, 9), "deterministic_alternative"),
        ("upsample_bicubic2d", (2, 14), "raises"),
        ("upsample_bicubic2d", (2, 15), "deterministic_alternative"),
        ("upsample_bilinear2d_aa", (2, 13), "raises"),
        ("interpolate_area2d", (2, 13), "raises"),
    ],
)
def test_the_turning_points_stand(
    catalogue: Catalogue, operator_id: str, release: tuple[int, int], expected: str
) -> None:
    operator = next(operator for operator in catalogue.operators if operator.id == operator_id)
    row = operator.row_for("cuda", release)
    assert row is not None
    assert row.under_mode == expected


@pytest.mark.parametrize(
    ("operator_id", "expected"),
    [
        ("upsample_bilinear2d", ("silent_nondeterministic", "high")),
        ("scatter_src", ("silent_nondeterministic", "low")),
        ("fractional_max_pool2d", ("silent_nondeterministic", "high")),
        ("mode", ("always_deterministic", "low")),
        ("scatter_reduce_prod", None),
        ("sdpa_flash", None),
    ],
)
def test_before_the_mode_an_unread_kernel_is_a_guess(
    catalogue: Catalogue, operator_id: str, expected: tuple[str, str] | None
) -> None:
    row = catalogue.operator(operator_id).row_for("cuda", (1, 3))
    assert (row and (row.under_mode, row.confidence)) == expected


def test_images_hold_releases_that_are_known(catalogue: Catalogue) -> None:
    held = [parse_minor(release) for _, release in sorted(catalogue.images.items())]
    assert set(held) <= set(catalogue.releases)
    assert held == sorted(held)


def test_releases_are_in_order(catalogue: Catalogue) -> None:
    assert list(catalogue.releases) == sorted(set(catalogue.releases))


def test_switch_names_stand_once_for_each_release(catalogue: Catalogue) -> None:
    for module in catalogue.switches.module:
        for release in catalogue.releases:
            names = [a.name for a in module.attribute if release in VersionRange.parse(a.torch)]
            assert len(set(names)) == len(names), module.name


@pytest.mark.parametrize(
    ("module", "name", "release", "there"),
    [
        ("torch.backends.cudnn", "deterministic", (2, 13), True),
        ("torch.backends.cudnn", "deterministc", (2, 13), False),
        ("torch.backends.cuda", "deterministic", (2, 13), False),
        ("torch.backends.cuda.matmul", "allow_fp16_accumulation", (2, 6), False),
        ("torch.backends.cuda.matmul", "allow_fp16_accumulation", (2, 7), True),
        ("torch.backends.mkldnn", "deterministic", (2, 4), False),
        ("torch.backends.mkldnn", "deterministic", (2, 5), True),
        ("torch.backends", "fp32_precision", (2, 9), True),
        ("torch.utils.deterministic", "fill_uninitialized_memory", (2, 2), True),
    ],
)
def test_known_switches(catalogue: Catalogue, module: str, name: str, release: tuple[int, int], there: bool) -> None:  # noqa: FBT001 - a table
    attributes = next(m for m in catalogue.switches.module if m.name == module).attribute
    assert any(a.name == name and release in VersionRange.parse(a.torch) for a in attributes) is there


def test_a_mode_switch_says_what_its_values_do(catalogue: Catalogue) -> None:
    for mode in catalogue.programs.mode:
        assert mode.on or mode.warn_only or mode.off, mode.call
        if not mode.argument:
            assert mode.default is True, mode.call
        VersionRange.parse(mode.torch)


def test_star_imports_of_fastai_bind_torch(catalogue: Catalogue) -> None:
    bound = catalogue.names.reexports["fastai.vision.all"]
    assert (bound["nn"], bound["F"], bound["np"]) == ("torch.nn", "torch.nn.functional", "numpy")
