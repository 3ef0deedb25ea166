"""The page "Which PyTorch operators are nondeterministic", from the registry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from docs.model_tables import model_tables
from docs.tables import section, table
from torchlint.catalogue import Catalogue
from torchlint.catalogue.registry import Operator
from torchlint.catalogue.wording import DEVICE_NAMES, UNDER_MODE, releases_of, spelled, steadied_by, what_to_do

INTRODUCTION = """
An operator is listed here if the same input does not always give the same bits, or if
`torch.use_deterministic_algorithms(True)` ("the mode") refuses it. What PyTorch's own documentation says is compared
with its source code, its released binaries and with runs; where they differ, the entry says so. The runs were made on
the CPU and, of torch 2.11, on one NVIDIA H200 with CUDA 13.0 (`tests/hardware/results`). What is said of other GPUs and
of other releases on a GPU was read, not measured.

`torchlint operators NAME` prints an entry in the terminal, `torchlint operators --torch 2.6` lists what holds for a
release.
"""

LEGEND = """
- **raises**: with the mode on, a RuntimeError; with `warn_only=True`, a warning, and the result varies as before.
- **uses a deterministic alternative**: it varies only while the mode is off.
- **still varies, without a warning**: the mode does not reach it.
- **does not vary**: listed for another device or release.

The rule in the first column reports the operator in code. Operators without a rule are explained here, but never
reported. Confidence is high if source, binary or a run was checked at both ends of the range. It is medium if dates
or documentation say so, and low for a guess between two checked releases.
"""

FILTER = """
<input id="operator-filter" type="search" placeholder="Filter: pad, backward, MPS, raises ..." aria-label="Filter">
<script>
  document.getElementById("operator-filter").addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase().split(/\\s+/);
    const table = document.querySelector("table");
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
</script>
"""


def operator_page(catalogue: Catalogue, note: str) -> str:
    """The whole page. `note` says who wrote it."""
    listed = sorted(catalogue.operators, key=lambda o: (o.library != "torch", o.rule == "context", o.rule, o.id))
    parts = [
        "# Which PyTorch operators are nondeterministic",
        note,
        INTRODUCTION.strip(),
        LEGEND.strip(),
        FILTER.strip(),
        overview(listed),
        section("Where the documentation of PyTorch differs", mismatches(listed)),
        model_tables(),
        "## Each operator",
        *(entry(operator, catalogue) for operator in listed),
    ]
    return "\n\n".join(parts) + "\n"


def overview(listed: Sequence[Operator]) -> str:
    rows = [
        (
            operator.rule if operator.rule != "context" else "",
            f"[{operator.id}](#{anchor(operator)})",
            operator.library,
            operator.direction,
            DEVICE_NAMES[row.device],
            releases_of(row, operator),
            UNDER_MODE[row.under_mode],
            row.confidence,
        )
        for operator in listed
        for row in operator.row
    ]
    head = ("rule", "operator", "library", "pass", "device", "torch", "with the mode on", "confidence")
    return table(head, rows)


def anchor(operator: Operator) -> str:
    """What Markdown makes of the entry's heading."""
    return operator.id.lower()


def mismatches(listed: Sequence[Operator]) -> str:
    found: dict[str, list[str]] = {}
    for operator in listed:
        if operator.doc_mismatch:
            found.setdefault(operator.doc_mismatch, []).append(f"[{operator.id}](#{anchor(operator)})")
    return "\n".join(f"- {', '.join(links)}: {text}" for text, links in found.items())


def entry(operator: Operator, catalogue: Catalogue) -> str:
    rows = [
        (DEVICE_NAMES[row.device], releases_of(row, operator), UNDER_MODE[row.under_mode], row.confidence)
        for row in operator.row
    ]
    return "\n\n".join(
        (
            f"### {operator.id}",
            f"{operator.title[:1].upper()}{operator.title[1:]}: {operator.condition.text}.",
            table(("device", "torch", "with the mode on", "confidence"), rows),
            "\n".join(facts(operator, catalogue)),
        )
    )


def facts(operator: Operator, catalogue: Catalogue) -> Iterator[str]:
    """One line for each thing that the entry knows."""
    rule = catalogue.rules.get(operator.rule)
    if rule is not None:
        yield f"- Rule: [{rule.code} {rule.name}](rules/{rule.code}-{rule.name}.md)"
    yield f"- Written: {code(map(spelled, operator.spelling))}"
    yield f"- What to do: {what_to_do(operator)}"
    if operator.unless_set or operator.unless_within:
        yield f"- Steady under: {code(steadied_by(operator))}"
    if operator.doc_mismatch:
        yield f"- PyTorch's documentation: {operator.doc_mismatch}"
    if operator.notes:
        yield f"- Notes: {operator.notes}"
    if operator.alerts:
        yield f"- Named in the error as: {code(operator.alerts)}"
    if operator.aten:
        yield f"- ATen: {code(operator.aten)}"
    yield f"- Sources: {'; '.join(operator.sources)}"
    if operator.verified_at:
        yield f"- Checked at: {', '.join(operator.verified_at)}"


def code(names: Iterator[str] | Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names))
