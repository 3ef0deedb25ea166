"""How messages quote code that goes over several lines."""

from __future__ import annotations

import pytest

from torchlint.api import check_source

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
        ('nn.ReplicationPad2d(len("# no comment"))', "`nn.ReplicationPad2d(len('# no comment'))`"),
        (
            'nn.Conv2d(len("# in"), len("# out"),  # channels\n  kernel_size=3, padding_mode="replicate")',
            '`nn.Conv2d(..., padding_mode="replicate")`',
        ),
    ],
)
def test_comments_are_left_out(call: str, quoted: str) -> None:
    [finding] = check_source(_PADDED.format(call=call))
    assert quoted in finding.message
