"""The navigation of the site: pages written by hand, each rule in its group, each family of operators."""

from __future__ import annotations

from collections.abc import Iterator

from docs.operator_pages import FAMILIES, MODELS
from torchlint.catalogue import Catalogue

GROUPS = {
    "TL0": "torchlint itself",
    "TL1": "Operators with nondeterministic kernels",
    "TL2": "Switches and environment",
    "TL3": "Randomness",
    "TL4": "Order",
    "TL5": "Parallel work and races",
    "TL6": "Model and training hygiene",
}
"""By how the codes begin."""
_MARK = "nav: # what follows is written by docs/navigation.py\n"
_BEGIN = (("Home", "index.md"), ("Quick start", "quickstart.md"), ("Where do I start?", "where-to-start.md"))
_COMMANDS = (
    ("Check", "usage.md"),
    ("Audit", "audit.md"),
    ("Verify", "verify.md"),
    ("Diverge", "diverge.md"),
)
_PROJECT = (
    ("Configuration", "configuration.md"),
    ("Suppression", "suppression.md"),
    ("An old project", "adoption.md"),
    ("Rules of your own", "extending.md"),
    ("Editors", "editors.md"),
    ("From Python", "api.md"),
)
_BACKGROUND = (
    ("How it works", "how-it-works.md"),
    ("Comparison", "comparison.md"),
    ("Contributing", "contributing.md"),
)


def with_navigation(text: str, catalogue: Catalogue) -> str:
    """The settings of the site with the navigation of today."""
    return text[: text.index(_MARK)] + _MARK + "".join(f"{line}\n" for line in _lines(catalogue))


def _lines(catalogue: Catalogue) -> Iterator[str]:
    yield from (_entry(1, *page) for page in _BEGIN)
    yield from _section("Commands", _COMMANDS)
    yield from _section("In a project", _PROJECT)
    yield _entry(1, "Rules")
    yield _entry(2, "All rules", "rules/index.md")
    for prefix, title in GROUPS.items():
        yield _entry(2, title)
        rules = [rule for rule in catalogue.rules.values() if rule.code.startswith(prefix) and rule.status != "planned"]
        yield from (_entry(3, f"{rule.code} {rule.name}", f"rules/{rule.code}-{rule.name}.md") for rule in rules)
    yield _entry(1, "Operators")
    yield _entry(2, "All operators", "operators/index.md")
    yield from (_entry(2, title, f"operators/{family}.md") for family, (title, _) in FAMILIES.items())
    yield _entry(2, "Models of libraries", f"operators/{MODELS}.md")
    yield _entry(2, "Calls of other libraries", "libraries.md")
    yield from _section("Background", _BACKGROUND)


def _section(title: str, pages: tuple[tuple[str, str], ...]) -> Iterator[str]:
    yield _entry(1, title)
    yield from (_entry(2, *page) for page in pages)


def _entry(depth: int, title: str, path: str = "") -> str:
    return f"{'  ' * depth}- {title}: {path}".rstrip()
