"""A module's draws, and its layers that see a batch: they make results depend on the replicas of `nn.DataParallel`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import msgspec

from torchlint.diagnostics import Location
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.data_loading.kept_generators import kept_generator
from torchlint.facts.memoizing import memoized
from torchlint.facts.tree import last_word
from torchlint.facts.values import argument_of
from torchlint.facts.words import says

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.full_names import Names
    from torchlint.facts.randomness.draws import Draw
    from torchlint.facts.scopes import CallSite

_PLAIN = ("torch.", "builtins.", "math.", "collections.", "functools.", "itertools.", "typing.", "copy.", "logging.")
"""Namespaces of functions and layers that do nothing of the kind, unless the registry says so."""


class SharedDraw(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A draw from a generator that all threads of the process share."""

    symbol: str
    name: str
    """As it is written."""
    location: Location


def shared_draw(facts: FileFacts, site: CallSite, drawn: Draw | None, cpu_draws: frozenset[str]) -> SharedDraw | None:
    """A draw from Python's, NumPy's or torch's generator of the CPU, or from one that an object or a module keeps.

    None where it depends on a choice, as of a way to sample that a model may have: it may not be the usual one.
    """
    is_on_cpu = all(one.arg not in ("device", "generator", None) for one in site.node.keywords)
    is_global = drawn is not None and (
        drawn.generator in ("numpy", "random") or (is_on_cpu and drawn.name in cpu_draws)
    )
    is_shared = is_global or kept_generator(facts, site) is not None
    if is_shared and all(_is_usual(facts, test) for test in tests_around(facts, site.node)):
        return SharedDraw(facts.symbol_of(site), ast.unparse(site.node.func), facts.locate(site.node))
    return None


@memoized
def _is_usual(facts: FileFacts, test: ast.expr) -> bool:  # noqa: ARG001
    """`self.training`, `random.random() < 0.5`, `self.p > 0`: training alone, by chance, or unless it is turned off."""
    names = (node for node in ast.walk(test) if isinstance(node, ast.Name | ast.Attribute))
    return any(says(last_word(name), "chance") for name in names)


def hangs_on_the_batch(site: CallSite, names: Names, layers: frozenset[str]) -> bool:
    """Whether a call may look at a whole batch, or draw where that is not seen; what is not known may do so.

    `layers` are those of the registry. Methods of whatever object count as plain: what they belong to is made by
    another call.
    """
    if not names.complete or not names.callees:
        return not isinstance(site.node.func, ast.Attribute)
    if names.names & layers or argument_of(site.node, "dropout", None) is not None:
        return True
    return not all("::" in name or name.startswith(_PLAIN) for name in names.names)
