"""The catalogue: every rule and every fact about torch, read from `rules/` and checked on load."""

from torchlint.catalogue.load import Catalogue, Extensions, load_catalogue
from torchlint.catalogue.rules import Rule

__all__ = ["Catalogue", "Extensions", "Rule", "load_catalogue"]
