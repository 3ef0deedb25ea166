"""The typed form of one rule file (`rules/TL*.toml`)."""

from __future__ import annotations

import re
import string
from typing import Literal

import msgspec

from torchlint.catalogue.detection import ConfidenceName, Pattern, SeverityName

Status = Literal["planned", "preview", "stable", "deprecated", "removed"]
Safety = Literal["none", "safe", "unsafe", "show"]
Probe = Literal[
    "trace", "repeat", "strict", "memory", "devices", "shapes", "algebra", "config", "loader", "order", "draws"
]

PUBLISHED: str = ""
"""Where a build of the pages in `docs/` is published, ending in a slash; empty while there is none."""

_FORMATTER = string.Formatter()
_CODE = re.compile(r"[A-Z]{2,5}\d{3}")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class Fix(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What ends a finding: in the words of the closing line, and how safe an automatic fix would be.

    `one` finding, or `many` with `{count}`. `safety` is `safe`, `unsafe`, `show` (a hint) or `none`, and `text` says
    what the automatic fix would do.
    """

    one: str = ""
    many: str = ""
    act: Literal["", "mode"] = ""
    """What is changed in the finding's program, where other findings are ended by the same: `mode`."""
    safety: Safety = "none"
    text: str = ""


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How often the rule was right on code that nobody here wrote, read finding by finding in the source.

    `found` counts the findings of default confidence on `packages` in the state that is described (None: not counted),
    `read` those that were read, all or a sample drawn by chance, and `right` those one would defend before the author.
    """

    found: int | None = None
    read: int
    right: int
    packages: int
    """How many packages the rule was run on."""
    among: tuple[str, ...]
    """Some of them: those with findings first."""
    on: str
    """The day, as `2026-11-21`."""
    remark: str = ""
    """What was wrong, or why there are so few."""

    def __post_init__(self) -> None:
        if not (self.found is None or self.found >= self.read) or not self.read >= self.right >= 0:
            raise ValueError("`measured`: `right` is at most `read`, and `read` at most `found`")
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", self.on):
            raise ValueError(f"`measured`: `on` is no day like 2026-11-21: {self.on}")


class Causes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How often what a rule is about was a cause of runs that differ, by its code."""

    sources: tuple[str, ...]
    causes: dict[str, int]


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One rule: identity, defaults and every word the user reads about it.

    `messages` and `advice` hold texts by variant; `default` is the usual one. Texts may hold `{placeholders}` that
    the finding fills. A rule is detected by `detect` patterns, by the registry (`registry = true`), by a named
    Python `check`, or by the engine itself (`check = "engine"`). A rule of the registry takes the texts of
    `rules/registry/texts.toml` for every variant that it does not word itself.
    """

    code: str
    name: str
    status: Status
    summary: str
    since: str = ""
    severity: SeverityName = "warning"
    confidence: ConfidenceName = "high"
    default: bool = False
    essential: bool = False
    """It belongs to the few that `torchlint init --essential` selects."""
    messages: dict[str, str] = {}
    advice: dict[str, str] = {}
    why: str = ""
    remedy: str = ""
    """What to do, at length: paragraphs on the ways there are, with code, and what they cost."""
    bad: str = ""
    good: str = ""
    fix: Fix = Fix()
    probe: tuple[Probe, ...] = ()
    references: tuple[str, ...] = ()
    limits: str = ""
    """What the rule is silent about on purpose, and what it cannot see."""
    measured: Measured | None = None
    gives_way_to: tuple[str, ...] = ()
    """Rules about the same cause that say more: of a program, this one is silent where they speak in its file."""
    registry: bool = False
    check: str = ""
    detect: tuple[Pattern, ...] = ()

    def __post_init__(self) -> None:
        if not _CODE.fullmatch(self.code):
            raise ValueError(f"code `{self.code}` is not letters and three digits, such as TL101")
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"name `{self.name}` is not lower-case words joined by hyphens")
        if self.status != "planned":
            self._require_user_text()

    def _require_user_text(self) -> None:
        tables = () if self.registry else ("messages", "advice")
        needed = ("since", *tables, "why", "bad", "good")
        missing = [field for field in needed if not getattr(self, field)]
        missing += [] if self.fix.one and self.fix.many else ["fix"]
        if missing:
            raise ValueError(f"a {self.status} rule needs `{missing[0]}`")
        for table in tables:
            if "default" not in getattr(self, table):
                raise ValueError(f"`{table}` needs a `default` text")
        if not (self.detect or self.check or self.registry):
            raise ValueError("a rule needs `detect` patterns, `registry = true` or the name of a `check`")
        for pattern in self.detect:
            if pattern.message not in self.messages:
                raise ValueError(f"`detect` names the message `{pattern.message}`, which `messages` lacks")

    @property
    def selectable(self) -> bool:
        return self.status in ("preview", "stable", "deprecated")

    @property
    def what_to_do(self) -> str:
        """The remedy; else the advice of its findings, each behind its message where there are several.

        Advice that needs a finding to make sense is left out.
        """
        if self.remedy:
            return self.remedy
        variants: dict[str, str] = {}
        for variant, text in self.advice.items():
            is_of_pages = variant.startswith("open")  # of the points that an audit leaves open
            if not is_of_pages and not any(field for _, field, _, _ in _FORMATTER.parse(text)):
                variants.setdefault(text, variant)
        if len(variants) < 2:
            return "".join(variants)
        return "\n\n".join(f"“{self._with_gaps(variant)}”: {text}" for text, variant in variants.items())

    def _with_gaps(self, variant: str) -> str:
        """The message of a variant, with `…` for what a finding fills in."""
        message = self.messages.get(variant, self.messages["default"])
        parts = (literal + ("" if field is None else "…") for literal, field, _, _ in _FORMATTER.parse(message))
        return re.sub(r"…( ?…)+", "…", "".join(parts))

    @property
    def url(self) -> str:
        """The published page; empty where there is none, as for a rule of the user's own."""
        return f"{PUBLISHED}rules/{self.code}-{self.name}/" if PUBLISHED and self.code.startswith("TL") else ""
