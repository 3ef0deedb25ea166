"""An audit as one HTML file that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.audit.page import Audit, Light, topic
from torchlint.report.audit_words import (
    EXPLAINED,
    MARKS,
    STATUSES,
    WORDS,
    changes_of,
    facts_of,
    other_of,
    section_of,
)
from torchlint.report.html_page import page_lines


def html_lines(audit: Audit) -> Iterator[str]:
    """Yield the file's lines."""
    return page_lines(
        "audit.html",
        audit=audit.worst_first(),
        heads={section.key: section.title for page in audit.pages for section in page.sections},
        lights=sorted(Light, reverse=True),
        marks=MARKS,
        words=WORDS,
        explained=EXPLAINED,
        facts_of=facts_of,
        section_of=section_of,
        changes_of=changes_of,
        other_of=other_of,
        statuses=STATUSES,
        topic=topic,
    )
