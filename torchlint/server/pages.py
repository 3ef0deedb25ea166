"""What a rule has to say, as Markdown: in a hover, and as a page of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torchlint.catalogue import Rule
from torchlint.diagnostics import Diagnostic


def hover_text(findings: Iterable[tuple[Diagnostic, Rule | None]]) -> str:
    """Why each finding matters, and what ends it."""
    return "\n\n---\n\n".join("\n\n".join(_told(finding, rule)) for finding, rule in findings)


def _told(finding: Diagnostic, rule: Rule | None) -> Iterator[str]:
    yield f"**{finding.code} {finding.name}** ({finding.severity.label}, {finding.confidence.label} confidence)"
    yield finding.message
    if rule is not None and rule.why.strip():
        yield f"**Why:** {rule.why.strip()}"
    if finding.advice:
        yield f"**Do:** {finding.advice}"
    if finding.verdict:
        yield f"**Verified:** {finding.verdict}"
    yield f"[The rule's page]({finding.url})" if finding.url else f"`{finding.explained_by}`"


def page(rule: Rule) -> str:
    """All that is known of a rule, as `torchlint rule CODE` prints it."""
    return "\n\n".join(_sections(rule)) + "\n"


def _sections(rule: Rule) -> Iterator[str]:
    yield f"# {rule.code} {rule.name}"
    yield rule.summary.strip()
    for title, text in (("Why", rule.why), ("What to do", rule.what_to_do)):
        if text.strip():
            yield f"## {title}\n\n{text.strip()}"
    for title, code in (("Example", rule.bad), ("Use instead", rule.good)):
        if code.strip():
            yield f"## {title}\n\n```python\n{code.strip()}\n```"
    if rule.limits.strip():
        yield f"## Limits\n\n{rule.limits.strip()}"
    if rule.references:
        yield "## References\n\n" + "\n".join(f"- {one}" for one in rule.references)
