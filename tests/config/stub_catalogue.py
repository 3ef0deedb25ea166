"""A small catalogue for tests of selection and the command line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torchlint.catalogue.rules import Fix, Rule


def make_rule(code: str, name: str, **changes: Any) -> Rule:  # noqa: ANN401 - any field of a rule
    fields: dict[str, Any] = {
        "status": "stable",
        "summary": f"The summary of {name}.",
        "since": "0.1.0",
        "default": True,
        "messages": {"default": "varies"},
        "advice": {"default": "Do something."},
        "why": "It varies. And more.",
        "fix": Fix(one="mend it", many="mend {count} of them"),
        "bad": "bad()",
        "good": "good()",
        "check": "engine",
    }
    return Rule(code=code, name=name, **{**fields, **changes})


@dataclass(frozen=True)
class StubCatalogue:
    rules: dict[str, Rule]
    by_name: dict[str, Rule] = field(default_factory=dict)
    releases: tuple[tuple[int, int], ...] = ((1, 13), (2, 0), (2, 1), (2, 6))

    def find(self, code_or_name: str) -> Rule | None:
        return self.rules.get(code_or_name.upper()) or self.by_name.get(code_or_name.lower())


def make_catalogue() -> StubCatalogue:
    rules = [
        make_rule("TL101", "nondeterministic-operator"),
        make_rule("TL102", "atomic-index"),
        make_rule("TL110", "noisy-operator", default=False),
        make_rule("TL201", "unset-mode"),
        make_rule("TL202", "young-rule", status="preview", default=False),
        make_rule("TL203", "old-rule", status="removed"),
        Rule(code="TL301", name="unseeded-generator", status="planned", summary="To come."),
        make_rule("ACME001", "acme-call"),
    ]
    by_code = {rule.code: rule for rule in rules}
    return StubCatalogue(by_code, {rule.name: rule for rule in rules})
