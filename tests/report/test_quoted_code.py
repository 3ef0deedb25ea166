"""How messages quote code that goes over several lines."""

from __future__ import annotations

import statistics

import pytest

from tests.harness.programs import FIXTURES, check
from torchlint.api import CheckOptions, check_source
from torchlint.checks.framework.visit import shortened
from torchlint.config import Overrides

_PADDED = """
from torch import Tensor, nn

def padded(x: Tensor):
    return (
        {call}
    )
"""


@pytest.mark.parametrize(
    ("call", "quoted"),
    [
        ("nn.ReplicationPad2d(\n    1,  # on every side\n)", "`nn.ReplicationPad2d(1)`"),
        ("nn\n  # of the image\n  .ReplicationPad2d(1)", "`nn.ReplicationPad2d(1)`"),
        ('nn.ReplicationPad2d(len("# no comment"))', '`nn.ReplicationPad2d(len("# no comment"))`'),
        (
            'nn.Conv2d(len("# in"), len("# out"),  # channels\n  kernel_size=3, padding=1, padding_mode="replicate")',
            '`nn.Conv2d(..., padding_mode="replicate")`',
        ),
    ],
)
def test_comments_are_left_out(call: str, quoted: str) -> None:
    [finding] = check_source(_PADDED.format(call=call))
    assert quoted in finding.message


@pytest.mark.parametrize(
    ("call", "quoted"),
    [
        (
            'nn.Conv2d(channels_in, channels_out, 3, padding=1, padding_mode="replicate")',
            '`nn.Conv2d(..., padding_mode="replicate")`',
        ),
        ("nn.ReplicationPad2d((first_column, second_column, first_row, second_row))", "`nn.ReplicationPad2d(...)`"),
        ("nn.ReplicationPad2d((1, 1, 1, 1))", "`nn.ReplicationPad2d((1, 1, 1, 1))`"),
    ],
)
def test_a_long_call_keeps_its_name_and_the_argument_that_matters(call: str, quoted: str) -> None:
    [finding] = check_source(_PADDED.format(call=call))
    assert quoted in finding.message


@pytest.mark.parametrize(
    ("code", "quoted"),
    [
        ("os.listdir(os.path.join(configuration.data_folder, 'images'))", "os.listdir(os.path.join(..., 'images'))"),
        ("sorted(\n    names\n)", "sorted( names )"),
        ("torch.nn.functional.scaled_dot_product_attention", "nn.functional.scaled_dot_product_attention"),
        (
            "kornia.augmentation.auto.random_perspective_transformation",
            "auto.random_perspective_transformation",
        ),
        (
            "torch.backends.cudnn.benchmark = torch.backends.cudnn.benchmark and not args.slow",
            "torch.backends.cudnn...not args.slow",
        ),
        (
            "lambda features, targets: torch.nn.functional.cross_entropy(features, targets)",
            "lambda features, targets: torch..., targets)",
        ),
        (
            "read('a string of many words that goes on and on, up to its_end.txt')",
            "read('a string of many...its_end.txt')",
        ),
        (
            "self.layers[config.index_of_the_layer].attention.forward_with_everything_that_was_kept",
            "self...forward_with_everything_that_was_kept",
        ),
        (
            "a_name_that_is_so_long_that_it_does_not_fit_in_at_all",
            "a_name_that_is_so_long_that_it_does_not_fit_in_at_all",
        ),
        (f"decode('{'QUJD' * 100}')", f"...{'QUJD' * 22}')"),
    ],
)
def test_other_long_code_is_cut_between_words(code: str, quoted: str) -> None:
    assert shortened(code) == quoted


def test_a_usual_line_is_read_in_one_go() -> None:
    usual = CheckOptions(Overrides(torch="2.13", isolated_facts=True), jobs=1)
    report = check(FIXTURES / "TL101", FIXTURES / "TL103", FIXTURES / "TL401", options=usual)
    lengths = [len(f"{each.code} {each.severity.label}: {each.message}") for each in report.diagnostics]
    assert len(lengths) > 50
    assert statistics.median(lengths) <= 140
    assert sum(length <= 145 for length in lengths) >= 0.85 * len(lengths)  # others name several devices
