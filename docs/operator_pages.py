"""The pages "Which PyTorch operators are nondeterministic": an index, a page a family, and the models of libraries."""

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

FILTER = '<input type="search" data-filter placeholder="{words}" aria-label="Filter the table">'
"""What docs/filter.js makes work: it hides the rows of the next table that lack the words."""

FAMILIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "padding": ("Padding", ("TL101", "TL102")),
    "interpolation": ("Interpolation and sampling along a grid", ("TL103", "TL104")),
    "pooling": ("Pooling", ("TL105",)),
    "scatter-and-gather": ("Scatter, gather and indices", ("TL106", "TL107")),
    "losses": ("Losses", ("TL108",)),
    "sums-and-orders": ("Sums, histograms and orders", ("TL109", "TL110", "TL111", "TL112", "TL120")),
    "attention": ("Attention", ("TL113",)),
    "kernels": ("Kernels, memory and communication", ("TL116", "TL117", "TL118", "TL504")),
    "libraries": ("Operators of other libraries", ("TL115",)),
    "context": ("Explained, and never reported", ("context",)),
}
"""Page and title of each family, with the rules that report its operators."""
MODELS = "models"


def operator_pages(catalogue: Catalogue, note: str) -> dict[str, str]:
    """Each page by its path below `docs/`. `note` says who wrote it."""
    listed = sorted(catalogue.operators, key=lambda o: (o.library != "torch", o.rule == "context", o.rule, o.id))
    pages = {family: family_page(family, listed, catalogue, note) for family in FAMILIES}
    pages["index"] = index(listed, note)
    pages[MODELS] = models_page(listed, note)
    return {f"operators/{name}.md": text for name, text in pages.items()}


def family_of(operator: Operator) -> str:
    """The page that it stands on."""
    return next(family for family, (_, rules) in FAMILIES.items() if operator.rule in rules)


def index(listed: Sequence[Operator], note: str) -> str:
    parts = [
        "# Which PyTorch operators are nondeterministic",
        note,
        INTRODUCTION.strip(),
        LEGEND.strip(),
        "\n".join(f"- [{title}]({family}.md)" for family, (title, _) in FAMILIES.items()),
        f"What models of libraries are made of stands on [a page of its own]({MODELS}.md).",
        "## All of them",
        FILTER.format(words="Filter: pad, backward, MPS, raises …"),
        overview(listed),
        section("Where the documentation of PyTorch differs", mismatches(listed)),
    ]
    return "\n\n".join(parts) + "\n"


def family_page(family: str, listed: Sequence[Operator], catalogue: Catalogue, note: str) -> str:
    title, _ = FAMILIES[family]
    own = [operator for operator in listed if family_of(operator) == family]
    about = "The words are explained in [the index](index.md)."
    return "\n\n".join([f"# {title}", note, about, *(entry(operator, catalogue) for operator in own)]) + "\n"


def models_page(listed: Sequence[Operator], note: str) -> str:
    """Names of operators lead to their families."""
    homes = {operator.id: family_of(operator) for operator in listed}
    return f"# What models of libraries hold\n\n{note}\n\n{model_tables(homes)}\n"


def overview(listed: Sequence[Operator]) -> str:
    """One row an operator, with what holds for the newest release on each device."""
    head = ("rule", "operator", "library", "pass", "devices, with the mode on")
    return table(head, map(_row, listed))


def _row(operator: Operator) -> tuple[str, ...]:
    newest = {DEVICE_NAMES[row.device]: UNDER_MODE[row.under_mode] for row in operator.row}
    return (
        operator.rule if operator.rule != "context" else "",
        link(operator),
        operator.library,
        operator.direction,
        "; ".join(f"{device}: {words}" for device, words in newest.items()),
    )


def link(operator: Operator) -> str:
    return f"[{operator.id}]({family_of(operator)}.md#{anchor(operator)})"


def anchor(operator: Operator) -> str:
    """What Markdown makes of the entry's heading."""
    return operator.id.lower()


def mismatches(listed: Sequence[Operator]) -> str:
    found: dict[str, list[str]] = {}
    for operator in listed:
        if operator.doc_mismatch:
            found.setdefault(operator.doc_mismatch, []).append(link(operator))
    return "\n".join(f"- {', '.join(links)}: {text}" for text, links in found.items())


def entry(operator: Operator, catalogue: Catalogue) -> str:
    rows = [
        (DEVICE_NAMES[row.device], releases_of(row, operator), UNDER_MODE[row.under_mode], row.confidence)
        for row in operator.row
    ]
    return "\n\n".join(
        (
            f"## {operator.id}",
            f"{operator.title[:1].upper()}{operator.title[1:]}: {operator.condition.text}.",
            table(("device", "torch", "with the mode on", "confidence"), rows),
            "\n".join(facts(operator, catalogue)),
        )
    )


def facts(operator: Operator, catalogue: Catalogue) -> Iterator[str]:
    """One line for each thing that the entry knows."""
    rule = catalogue.rules.get(operator.rule)
    if rule is not None:
        yield f"- Rule: [{rule.code} {rule.name}](../rules/{rule.code}-{rule.name}.md)"
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
