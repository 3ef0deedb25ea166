"""A finding's automatic fix, for the text that the editor shows."""

from __future__ import annotations

from torchlint.api import with_edits
from torchlint.diagnostics import Diagnostic, FixEdits, Report
from torchlint.server.checking import Answer


def fix_of(finding: Diagnostic, answer: Answer) -> FixEdits | None:
    """What to change so that a finding ends; None where it has no fix that can be applied."""
    texts = {file.path: file.data for file in answer.files if file.has_place}
    report = Report((finding,), files=(finding.location.path,))
    (told,) = with_edits(report, answer.options, texts).diagnostics
    return told.edits
