"""TL117 for Triton: `@triton.autotune` over a block size along which the kernel adds up."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.checks.operators.kernels.autotuning import tuned_sums

_CODE = "TL117"


@check(codes=(_CODE,), triggers=Triggers(calls=frozenset({"triton.autotune"})))
def find(visit: Visit) -> Iterator[Finding]:
    """The decorator, when its configurations change the order of a sum."""
    if visit.callee() == "triton.autotune":
        found = tuned_sums(visit.facts, visit.call, visit.scope)
        if found is not None:
            kernel, keys = found
            yield Finding(
                _CODE, visit.node, {"name": kernel, "keys": " and ".join(f"`{key}`" for key in keys)}, "triton"
            )
