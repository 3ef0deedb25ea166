"""What models of libraries hold, as tables."""

from __future__ import annotations

from collections.abc import Mapping

from docs.tables import section, table
from torchlint.catalogue.load import load_models, measured_packages
from torchlint.catalogue.models import Holding, ModelFile

INTRODUCTION = """
A call that builds one of these models counts as a use of all that the model holds: for
[TL204](../rules/TL204-missing-cublas-workspace.md), [TL207](../rules/TL207-cudnn-benchmark.md) and
[TL210](../rules/TL210-mode-never-enabled.md), and on the page of `torchlint audit`. No rule of operators reports it at
that call. Each model was built with random weights and run once, forward and backward, in training. What hangs on the
values of data, such as indices that repeat, is not seen where a model ran without values. A name such as `deit_` stands
for all models that begin so, `vit-` for those that `from_pretrained` is asked for; the one in brackets was run.
A class is listed as its defaults build it, and stands for `from_pretrained` and `from_config` as well.
"""
_SHORT = 24


def model_tables(homes: Mapping[str, str]) -> str:
    """One table for each library that was measured. `homes` are the pages of operators."""
    parts = [_of_library(load_models(package), homes) for package in sorted(measured_packages())]
    return "\n\n".join([INTRODUCTION.strip(), *parts])


def _of_library(known: ModelFile, homes: Mapping[str, str]) -> str:
    rows = [
        (_operators(holding, homes), "yes" if holding.draws else "no", _folded(_builders(holding)))
        for holding in known.holding
    ]
    title = f"{known.package} {known.release}, on torch {known.torch}"
    return section(title, table(("operators", "draws in training", "models"), rows))


def _operators(holding: Holding, homes: Mapping[str, str]) -> str:
    return ", ".join(f"[{one}]({homes[one]}.md#{one.lower()})" for one in holding.operators) or "none"


def _folded(builders: list[str]) -> str:
    """Long lists open with a click."""
    listed = ", ".join(builders)
    if len(builders) <= _SHORT:
        return listed
    return f"<details><summary>{len(builders)} models</summary>{listed}</details>"


def _builders(holding: Holding) -> list[str]:
    """Without the longer names of what stands in the table anyway."""
    last = {call.rpartition(".")[2]: call for call in sorted(holding.calls, key=len, reverse=True)}
    named = [f"`{call}`" for call in sorted(last.values())]
    families = [
        f"`{family}` ({chosen})" if chosen != family else f"`{family}`"
        for family, chosen in holding.models.items()
        if family not in last
    ]
    return named + families
