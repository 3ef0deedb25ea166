"""Turns rule selectors (`ALL`, `TL`, `TL10`, `TL101`, `seed-from-clock`) into a set of codes."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.errors import ConfigError, nearest

if TYPE_CHECKING:
    from torchlint.catalogue import Catalogue, Rule

_PREFIX = re.compile(r"(?P<letters>[A-Z]{2,5})\d{0,2}")

_ON_CAUSES = re.compile(r"TL[1-5]")

_LOOKALIKES = str.maketrans("OIL", "011")


class Place(enum.IntEnum):
    """Where a selector list stands: a selector may ignore what it could not select."""

    SELECT = 0
    IGNORE = 1


@dataclass(frozen=True, slots=True)
class Selectors:
    """Selectors and how an error names the place they were written: a file and key, or an option."""

    values: Sequence[str]
    origin: str


@dataclass(frozen=True, slots=True)
class Layer:
    """What one source (the file, then the command line) says. `select` None leaves the earlier set standing."""

    select: Selectors | None
    extend_select: Selectors
    ignores: Sequence[Selectors]


def by_default(rule: Rule) -> bool:
    """Whether a rule runs unless somebody says otherwise."""
    return rule.default and rule.status in ("stable", "deprecated")


def on_causes(rule: Rule) -> bool:
    """Whether a rule of torchlint is about what makes runs differ, be it off by default; rules on hygiene are not."""
    return rule.status in ("stable", "deprecated") and _ON_CAUSES.match(rule.code) is not None


def selectors(catalogue: Catalogue) -> list[str]:
    """All that names rules of the catalogue: `ALL`, `TL`, `TL1`, `TL10`, codes and names."""
    codes = [code for code, rule in catalogue.rules.items() if rule.selectable]
    prefixes = {code[:length] for code in codes for length in range(len(code.rstrip("0123456789")), len(code))}
    return ["ALL", *sorted(prefixes), *codes, *(catalogue.rules[code].name for code in codes)]


def resolve_selection(
    layers: Iterable[Layer], catalogue: Catalogue, first: Callable[[Rule], bool] = by_default
) -> frozenset[str]:
    """The codes that run, with ruff's rules of precedence.

    The rules that are `first` stand first: the default set. Each layer is applied to the result of the one before it;
    a layer with `select` starts from nothing, so `--select` forgets all that the file selects and ignores, while
    `--ignore` and `--extend-select` change the file's result. Within a layer the more specific selector wins (`ALL`,
    then prefixes by length, then full codes and names), and between equals `ignore` wins.
    """
    chosen = {rule.code for rule in catalogue.rules.values() if first(rule)}
    for layer in layers:
        votes: list[tuple[int, Place, frozenset[str]]] = []
        selecting = [layer.extend_select, *([] if layer.select is None else [layer.select])]
        for place, lists in ((Place.SELECT, selecting), (Place.IGNORE, layer.ignores)):
            for selectors in lists:
                votes += [_vote(value, selectors.origin, place, catalogue) for value in selectors.values]
        if layer.select is not None:
            chosen = set()
        for _, place, codes in sorted(votes, key=lambda vote: vote[:2]):
            chosen = chosen | codes if place is Place.SELECT else chosen - codes
    return frozenset(chosen)


def resolve_ignored(selectors: Selectors, catalogue: Catalogue) -> frozenset[str]:
    """All codes that a list of ignored selectors covers."""
    votes = [_vote(value, selectors.origin, Place.IGNORE, catalogue) for value in selectors.values]
    return frozenset[str]().union(*(codes for _, _, codes in votes))


def _vote(selector: str, origin: str, place: Place, catalogue: Catalogue) -> tuple[int, Place, frozenset[str]]:
    rule = catalogue.find(selector)
    if rule is not None:
        if place is Place.SELECT and not rule.selectable:
            raise ConfigError(f"{origin}: {_unselectable(rule, selector)}")
        return len("TL000") + 1, place, frozenset({rule.code})
    rules = _covered(selector, catalogue)
    if not rules:
        raise ConfigError(f"{origin}: unknown rule `{selector}`{_hint(selector, catalogue)}")
    if place is Place.IGNORE:
        return _specificity(selector), place, frozenset(rule.code for rule in rules)
    open_rules = [rule for rule in rules if rule.selectable]
    if not open_rules:
        raise ConfigError(f"{origin}: the rules of `{selector}` are planned and not selectable yet")
    return _specificity(selector), place, frozenset(rule.code for rule in open_rules if rule.status != "preview")


def _covered(selector: str, catalogue: Catalogue) -> list[Rule]:
    """The rules of `ALL` or of a prefix; the letters of a prefix must be complete (`T` is not a prefix of TL101)."""
    upper = selector.upper()
    if upper == "ALL":
        return list(catalogue.rules.values())
    prefix = _PREFIX.fullmatch(upper)
    if prefix is None:
        return []
    letters = prefix["letters"]
    return [rule for rule in catalogue.rules.values() if rule.code.startswith(upper) and rule.code[:-3] == letters]


def _specificity(selector: str) -> int:
    return 0 if selector.upper() == "ALL" else len(selector)


def _unselectable(rule: Rule, selector: str) -> str:
    if rule.status == "planned":
        return f"rule `{selector}` is planned and not selectable yet"
    return f"rule `{selector}` was removed"


def _hint(selector: str, catalogue: Catalogue) -> str:
    choices = [rule for rule in catalogue.rules.values() if rule.selectable]
    by_name = nearest(selector.lower(), [rule.name for rule in choices])
    code = selector.upper()
    meant = catalogue.find(code[:-3] + code[-3:].translate(_LOOKALIKES))
    by_code = f"; did you mean `{meant.code}`?" if meant else nearest(code, [rule.code for rule in choices])
    return (by_name or by_code if "-" in selector else by_code or by_name) or " (`torchlint rules` lists them)"
