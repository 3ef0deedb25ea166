"""Reads the catalogue from its TOML files and checks it: the only place that knows where they lie."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
import tomli

from torchlint.catalogue.registry import (
    NameFile,
    Operator,
    OperatorFile,
    ProgramFile,
    SwitchFile,
    TorchFile,
)
from torchlint.catalogue.rules import Rule
from torchlint.catalogue.versions import Minor, parse_minor
from torchlint.errors import CatalogueError

if TYPE_CHECKING:
    if sys.version_info >= (3, 11):
        from importlib.resources.abc import Traversable
    else:
        from importlib.abc import Traversable

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything torchlint knows before it reads a line of the user's code."""

    rules: dict[str, Rule]
    """By code, in the order of the codes."""
    operators: tuple[Operator, ...]
    switches: SwitchFile
    programs: ProgramFile
    names: NameFile
    releases: tuple[Minor, ...]
    newest_checked: Minor
    by_name: dict[str, Rule] = field(default_factory=dict)

    def find(self, code_or_name: str) -> Rule | None:
        """The rule of this code (any case) or name, planned ones included."""
        return self.rules.get(code_or_name.upper()) or self.by_name.get(code_or_name.lower())


def catalogue_root() -> Traversable:
    """The folder `rules/`: inside the installed package, or beside it in a checkout or editable install."""
    packaged = files("torchlint") / "_rules"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "rules"


@functools.cache
def load_catalogue(extend_rules: tuple[Path, ...] = ()) -> Catalogue:
    """Read and check the whole catalogue, with the user's own rule folders or files behind it.

    Raises CatalogueError naming the file and the field.
    """
    root = catalogue_root()
    registry = root / "registry"
    rules = _rules_of(_toml_files(root))
    operators = tuple(
        operator for path in _toml_files(registry / "operators") for operator in _decode(path, OperatorFile).operator
    )
    _check_operators(operators, rules)
    for path in extend_rules:
        rules |= _extended(path, rules)
    torch = _decode(registry / "torch.toml", TorchFile)
    return Catalogue(
        rules=dict(sorted(rules.items())),
        operators=operators,
        switches=_decode(registry / "switches.toml", SwitchFile),
        programs=_decode(registry / "programs.toml", ProgramFile),
        names=_decode(registry / "names.toml", NameFile),
        releases=tuple(parse_minor(release) for release in torch.releases),
        newest_checked=parse_minor(torch.newest_checked),
        by_name={rule.name: rule for rule in rules.values()},
    )


def _toml_files(folder: Traversable) -> list[Traversable]:
    return sorted((path for path in folder.iterdir() if path.name.endswith(".toml")), key=lambda path: path.name)


def _decode(path: Traversable, kind: type[T]) -> T:
    try:
        return msgspec.convert(tomli.loads(path.read_text(encoding="utf-8")), kind)
    except OSError as error:
        raise CatalogueError(f"{path}: {error.strerror or error}") from error
    except (tomli.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise CatalogueError(f"{path}: {error}") from error


def _rules_of(paths: Iterable[Traversable]) -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    for path in paths:
        rule = _decode(path, Rule)
        if rule.code in rules:
            raise CatalogueError(f"{path}: `code`: {rule.code} is taken by {rules[rule.code].name}")
        if path.name != f"{rule.code}-{rule.name}.toml":
            raise CatalogueError(f"{path}: `code` and `name` give the file name {rule.code}-{rule.name}.toml")
        rules[rule.code] = rule
    return rules


def _extended(path: Path, known: dict[str, Rule]) -> dict[str, Rule]:
    """The user's rules in a folder or one file; they may not take a TL code and need no Python."""
    if not path.exists():
        raise CatalogueError(f"extend-rules: {path} does not exist")
    rules = _rules_of(sorted(path.glob("*.toml")) if path.is_dir() else [path])
    for rule in rules.values():
        if rule.code.startswith("TL") or rule.code in known:
            raise CatalogueError(f"{path}: `code`: {rule.code} belongs to another rule; choose letters of your own")
        if not rule.detect:
            raise CatalogueError(f"{path}: `detect`: {rule.code} has no pattern, so it would never report anything")
    return rules


def _check_operators(operators: Sequence[Operator], rules: dict[str, Rule]) -> None:
    seen: set[str] = set()
    for operator in operators:
        if operator.id in seen:
            raise CatalogueError(f"registry: operator `{operator.id}` stands twice")
        seen.add(operator.id)
        if operator.rule != "context" and operator.rule not in rules:
            raise CatalogueError(f"registry: operator `{operator.id}`: `rule`: no rule {operator.rule}")
