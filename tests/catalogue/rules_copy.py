"""A copy of `rules/` that a test may break."""

from __future__ import annotations

from pathlib import Path

from torchlint.catalogue import Catalogue, load

RULES = Path(__file__).parents[2] / "rules"


class RulesCopy:
    """The catalogue's files in a folder of the test's own."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def replace(self, name: str, old: str, new: str) -> None:
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{name} no longer holds {old!r}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text, encoding="utf-8")

    def load(self, *extend_rules: Path, extend_operators: tuple[Path, ...] = ()) -> Catalogue:
        """Read the files anew: nothing is remembered from another test."""
        return load.load_catalogue.__wrapped__(load.Extensions(extend_rules, extend_operators))
