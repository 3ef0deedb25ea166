"""The flagged call alone, where its target cannot be built: it proves the kernel, not the module."""

from __future__ import annotations

import ast
import dataclasses

import msgspec

from torchlint.recording.building import build
from torchlint.recording.errors import CannotRun
from torchlint.recording.loading import load
from torchlint.recording.loading.devices import at_hand
from torchlint.recording.messages import Answer, Code, ProbedFinding, Request, Target
from torchlint.recording.probe_context import ProbeContext
from torchlint.recording.probes import trace
from torchlint.recording.subject import Subject
from torchlint.recording.tracing.lines import remember_constructors

_NAME = "flagged"


def kernel_only(request: Request, finding: ProbedFinding) -> Answer | None:
    """Trace a module made by the flagged call, if its arguments are literals; None where nothing came of it.

    Its input takes part in the backward pass, as it does behind any layer that learns.
    """
    text = _standalone(finding)
    if "trace" not in finding.probes or text is None:
        return None
    alone = msgspec.structs.replace(
        request,
        code=Code(path=request.code.path, module=_NAME, text=text),
        target=Target(kind="object", name=_NAME),
        findings=(finding,),
    )
    try:
        with remember_constructors(), at_hand():
            subject, _ = build(alone, load(alone.code))
            found = trace.probe(ProbeContext(alone, "cpu", _with_gradient(subject)), finding)
    except (CannotRun, RuntimeError, TypeError, ValueError):
        return None  # the reason why the target itself does not run says more
    if found.verdict != "TRACED":
        return None
    return msgspec.structs.replace(
        found, verdict="KERNEL-ONLY", reason=f"the target does not run here; of the flagged call alone: {found.reason}"
    )


def _standalone(finding: ProbedFinding) -> str | None:
    """A text that makes the flagged call at its own line, importing nothing but torch."""
    try:
        call = ast.parse(finding.snippet.strip(), mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(call, ast.Call) or not all(map(_is_literal, [*call.args, *(k.value for k in call.keywords)])):
        return None
    imports = "import torch; from torch import nn; import torch.nn.functional as F"
    lines = [""] * (finding.line - 1)
    if not lines:
        return f"{imports}; {_NAME} = {ast.unparse(call)}"
    lines[0] = imports
    return "\n".join([*lines, f"{_NAME} = {ast.unparse(call)}"])


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return False
    return True


def _with_gradient(subject: Subject) -> Subject:
    return dataclasses.replace(subject, make_input_grad=True)
