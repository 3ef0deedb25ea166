"""What verdicts and their evidence are called, in the terminal and on the page."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from torchlint.recording.messages import Executed
from torchlint.recording.names import VerdictName

MEANINGS: dict[VerdictName, str] = {
    "DIVERGED": "bits differed between runs from one state",
    "RAISED": "torch refuses the call under the determinism mode",
    "CONFIRMED": "a run on this machine showed that the finding is true",
    "REFUTED": "a run on this machine showed that the finding is not true here",
    "VARIES": "the value depends on shape, device or thread count: information, not an error",
    "TRACED": "an operator that is known to vary was dispatched; it did not vary here",
    "KERNEL-ONLY": "only the flagged call was run, not the module around it",
    "NOT REPRODUCED": "these runs showed nothing; other runs may",
    "SKIPPED": "nothing could be run",
}
NOT_YET_SAFE = "not reproduced does not mean safe: other inputs, sizes or devices may show it"

SHOWN_EVIDENCE = {
    "operator": "operator",
    "forward_line": "called at",
    "constructor_line": "constructed at",
    "module": "module",
    "sizes": "sizes",
    "inputs": "inputs",
    "repeated_indices": "repeated indices",
    "calls": "calls",
    "largest": "largest sizes",
    "runs": "runs",
    "threads": "threads",
    "max_abs": "greatest difference",
    "words": "torch says",
    "command": "command",
    "exit_status": "its exit status",
}
"""What of the evidence is always shown, and what it is called."""
_FURTHER_EVIDENCE = {
    "direction": "pass",
    "predicts": "predicted for",
    "input_needs_grad": "input asked for a gradient",
    "entry": "entry of the registry",
    "places": "places written",
    "run": "differing run",
    "scale": "copies of the input",
    "tensor": "first differing tensor",
    "max_ulp": "greatest difference in ULP",
    "diverged_at": "diverged at",
    "diverging_operator": "diverging operator",
    "operators": "operators that the line dispatched",
    "runs_by_scale": "runs by copies of the input",
    "input_sizes": "input sizes by copies of the input",
    "kind": "obstacle",
}
_BRIEF = 110
_CLAUSE_END = re.compile(r"[:;,](?= )| (?=\()")

CURVES = {"curve": "apart when trained", "curve_of_threads": "apart when trained"}
"""Evidence that is drawn on the page, and told in a line in the terminal."""


def evidence_name(key: str) -> str:
    return SHOWN_EVIDENCE.get(key) or _FURTHER_EVIDENCE.get(key) or key.replace("_", " ")


def told_evidence(evidence: Mapping[str, object]) -> dict[str, object]:
    """What there is to show, what is always shown first; two numbers that belong together are one entry."""
    keys = [
        *(key for key in SHOWN_EVIDENCE if key in evidence),
        *(key for key in evidence if key not in SHOWN_EVIDENCE),
    ]
    told = {key: evidence[key] for key in keys if is_told(evidence[key])}
    if {"elements", "of"} <= told.keys():
        told["elements"] = f"{worded(told['elements'])} differ of {worded(told.pop('of'))}"
    return told


def is_told(value: object) -> bool:
    """Whether there is anything in it to show."""
    return value is not None and value not in ("", [], {})


def brief(reason: str) -> str:
    """The reason of a run that showed nothing, in as many clauses as a line has room for; the full report has all."""
    if len(reason) <= _BRIEF:
        return reason
    ends = [match.start() for match in _CLAUSE_END.finditer(reason, 0, _BRIEF)]
    kept = reason[: ends[-1]] if ends else reason[:_BRIEF].rpartition(" ")[0]
    if kept.count("(") > kept.count(")"):
        kept = kept.rpartition(" (")[0]
    return f"{kept} …"


def worded(value: object) -> str:
    """A value of the evidence in one line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, dict) and {"path", "line"} <= value.keys():
        cell = f"cell {value['cell']}:" if value.get("cell") else ""
        return f"{value['path']}:{cell}{value['line']}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {worded(item)}" for key, item in value.items() if is_told(item) or item == [])
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "; ".join(map(worded, value))
    if isinstance(value, list):
        is_size = all(isinstance(each, int) for each in value)
        return ("x".join(map(str, value)) or "scalar") if is_size else ", ".join(map(worded, value))
    return "none" if value is None else str(value)


def curve_words(curve: object) -> str:
    """How far two trainings are apart after some of their steps; nothing for what is no curve."""
    if not isinstance(curve, dict) or not isinstance(curve.get("total"), list):
        return ""
    points = [(step, value) for step, value in zip(curve["steps"], curve["total"], strict=False) if _is_told_of(step)]
    last = (curve["steps"][-1], curve["total"][-1])
    shown = points if points[-1:] == [last] else [*points, last]
    return f"{curve['pair']}: " + ", ".join(f"{short_number(value)} after step {step}" for step, value in shown)


def _is_told_of(step: int) -> bool:
    """1, 2, 5, 10, 20, 50: as far apart as a curve on a logarithmic axis needs."""
    return str(step).rstrip("0") in ("1", "2", "5")


def call_words(executed: Executed) -> str:
    """What was built and what it was called with."""
    invented = " (invented)" if executed.invented_inputs else ""
    place = f" of {executed.path}" if executed.path else ""
    return f"{executed.construction or executed.name}{place}, called with ({', '.join(executed.inputs)}){invented}"


def short_number(value: float) -> str:
    """Such as `0.25`, `12` or `3.1e-08`; as little as tells it apart in a drawing."""
    if not math.isfinite(value):
        return "not a finite number"
    return f"{value:,.0f}" if abs(value) >= 100 and abs(value) < 1e6 else f"{value:.2g}"
