"""The page "What varies in other libraries", from the registry."""

from __future__ import annotations

from docs.tables import section
from torchlint.catalogue import Catalogue
from torchlint.catalogue.libraries import Fact, Library, Use

INTRODUCTION = """
Calls of other libraries than torch whose result differs in every run, although torch, NumPy and Python are seeded.
Each entry names the releases in which this was seen. The manifest nearest to a file says which release it runs on. If
a project also allows releases that do not vary, the finding has low confidence. Releases that were not checked are
not reported. Operators of libraries with kernels that vary are on the page of [operators](operators/index.md).
"""


def library_page(catalogue: Catalogue, note: str) -> str:
    """The whole page. `note` says who wrote it."""
    entries = (_entry(library) for library in catalogue.libraries)
    return "\n\n".join(["# What varies in other libraries", note, INTRODUCTION.strip(), *entries]) + "\n"


def _entry(library: Library) -> str:
    return section(library.package, "\n\n".join(_fact(library, fact) for fact in library.fact))


def _fact(library: Library, fact: Fact) -> str:
    lines = [
        f"### {fact.id}",
        f"{fact.rule}, in {_releases(library, fact)}: it {fact.what}.",
        f"Written: {', '.join(dict.fromkeys(_written(use) for use in fact.use))}." if fact.use else "",
        f"What to do: {fact.fix}",
        "Sources:\n\n" + "\n".join(f"- {source}" for source in fact.sources),
    ]
    return "\n\n".join(filter(None, lines))


def _releases(library: Library, fact: Fact) -> str:
    affected = library.affected(fact)
    listed = [release for release in library.releases if release in affected]
    return f"{library.package} {listed[0]} to {listed[-1]}"


def _written(use: Use) -> str:
    return f"`{use.call}`" if use.call else f"`.{use.method}(...)`"
