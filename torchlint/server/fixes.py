"""Where a finding's fix becomes an edit of the editor.

`edits_of` is the one place to fill: whatever builds fixes says there what to write where.
"""

from __future__ import annotations

from collections.abc import Sequence

from torchlint.diagnostics import Diagnostic, Location

Edit = tuple[Location, str]
"""A span of source, and the text that takes its place."""


def edits_of(finding: Diagnostic) -> Sequence[Edit]:
    """What to change so that a finding ends, in any files; nothing where it has no fix that can be applied."""
    del finding
    return ()
