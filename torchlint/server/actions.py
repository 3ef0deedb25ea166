"""What can be done about a finding, as code actions of the editor."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types

from torchlint.catalogue import Rule
from torchlint.diagnostics import Edit
from torchlint.server.checking import Answer, Found
from torchlint.server.fixes import fix_of
from torchlint.server.ignoring import ignore_edits

VERIFY, SHOW_RULE = "torchlint.verify", "torchlint.showRule"
"""Commands of the server."""
_FIX = types.CodeActionKind.QuickFix
TextEdits = dict[str, list[types.TextEdit]]
"""By URI."""


@dataclass(frozen=True)
class Actions:
    """Makes the actions for findings of one check."""

    answer: Answer
    reason: str
    """What an ignore comment says."""
    takes_versions: bool
    """Whether the editor takes edits of a version: it then refuses those of a text that has changed since."""

    def at(self, uri: str, place: types.Range, rules: dict[str, Rule]) -> list[types.CodeAction]:
        """The actions for what is found on these lines of a text."""
        return [
            action
            for found in found_on(self.answer, uri, place)
            for action in self._of(uri, found, rules.get(found.finding.code))
        ]

    def _of(self, uri: str, found: Found, rule: Rule | None) -> Iterator[types.CodeAction]:
        code = found.finding.code
        fix = fix_of(found.finding, self.answer)
        if fix is not None:
            edit = self._workspace_edit(self._text_edits(fix.edits))
            title = f"Fix {code}: {fix.message}{'' if fix.is_safe else ' (unsafe)'}"
            yield self._action(title, found, edit=edit, is_preferred=fix.is_safe)
        edits = dict(self._ignores(found))
        if edits:
            yield self._action(f"Ignore {code} on this line", found, edit=self._workspace_edit(edits))
        if rule is not None:
            command = types.Command(f"Show {code}", SHOW_RULE, arguments=[code])
            yield self._action(f"Show the page of {code} {rule.name}", found, command=command)
        file = self.answer.places.file_of(found.finding.location)
        if rule is not None and rule.probe and file is not None and file.has_place:
            line = found.diagnostics[0].range.start.line
            command = types.Command(f"Verify {code}", VERIFY, arguments=[uri, line])
            yield self._action(f"Verify {code}: run this code", found, command=command)

    def _action(
        self,
        title: str,
        found: Found,
        *,
        edit: types.WorkspaceEdit | None = None,
        command: types.Command | None = None,
        is_preferred: bool = False,
    ) -> types.CodeAction:
        return types.CodeAction(
            title,
            kind=_FIX,
            diagnostics=[found.diagnostics[0]],
            edit=edit,
            command=command,
            is_preferred=is_preferred or None,
        )

    def _text_edits(self, edits: Sequence[Edit]) -> TextEdits:
        found: TextEdits = defaultdict(list)
        for edit in edits:
            place = self.answer.places.of(edit.location)
            found[place.uri].append(types.TextEdit(place.range, edit.content))
        return dict(found)

    def _ignores(self, found: Found) -> Iterator[tuple[str, list[types.TextEdit]]]:
        file = self.answer.places.file_of(found.finding.location)
        if file is not None:
            yield from ignore_edits(file, found.finding, self.reason, self.answer.places)

    def _workspace_edit(self, edits: TextEdits) -> types.WorkspaceEdit:
        if not self.takes_versions:
            return types.WorkspaceEdit(changes=edits)
        versions = {part.uri: part.version for file in self.answer.files for part in file.parts}
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, versions.get(uri)), each)
                for uri, each in edits.items()
            ]
        )


def found_on(answer: Answer, uri: str, place: types.Range) -> Iterable[Found]:
    """What is found on the lines of a range."""
    for found in answer.found.get(uri, ()):
        spans = found.diagnostics[0].range
        if spans.start.line <= place.end.line and place.start.line <= spans.end.line:
            yield found
