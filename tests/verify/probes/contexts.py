"""Contexts and findings for subjects that are written down in a test."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable

import torch
import torch.utils.deterministic

from torchlint.recording.messages import Code, ProbedFinding, Request, Target
from torchlint.recording.probe_context import ProbeContext
from torchlint.recording.subject import Subject


def context(subject: Subject | None, path: str = __file__, device: str = "cpu", seconds: float = 600.0) -> ProbeContext:
    code = Code(path=path, module="models", text="")
    request = Request(code=code, target=Target(kind="module", name="Model"), findings=(), seconds=seconds)
    return ProbeContext(request=request, device=device, subject=subject)


def flagged(made_by: Callable[..., object], code: str = "TL601", snippet: str = "") -> ProbedFinding:
    """The finding whose line carries the comment `# flagged` within a class or function."""
    lines, first = inspect.getsourcelines(made_by)
    (line,) = [first + index for index, text in enumerate(lines) if "# flagged" in text]
    return ProbedFinding(index=0, code=code, line=line, end_line=line, probes=(), snippet=snippet)


def switches() -> tuple[object, ...]:
    """torch's global state, which no probe may leave changed."""
    return (
        torch.get_default_dtype(),
        torch.get_num_threads(),
        torch.is_grad_enabled(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        torch.utils.deterministic.fill_uninitialized_memory,  # type: ignore[attr-defined]
        torch.is_anomaly_enabled(),
        torch.get_float32_matmul_precision(),
        tuple(warnings.filters),
    )
