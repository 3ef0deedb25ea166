"""What one process on one device cannot show."""

from __future__ import annotations

from tests.hardware.case import Case

CASES = (
    Case(
        id="inductor_compile",
        not_run="which kernel autotuning chooses can differ between processes, not between calls of one process",
    ),
    Case(id="nccl_allreduce", not_run="a reduction over NCCL needs several GPUs and processes"),
)
