"""The texts that an editor has open, with lines as the protocol counts them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

from torchlint.source.decoding import find_cookie

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_NO_SOURCE = ("utf-16", "utf-32")
"""Beginnings of encodings that Python does not read as source."""


class Text(TextDocument):
    r"""One text. `str.splitlines`, which pygls asks, ends lines at a form feed, too, and then edits the wrong place.

    >>> Text("file:///net.py", "a\x0cb\nc").lines
    ('a\x0cb\n', 'c')
    """

    @property
    def lines(self) -> Sequence[str]:
        return tuple(_LINE.findall(self.source))


class Texts(Workspace):
    """All that is open, by URI."""

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> TextDocument:
        return Text(
            doc_uri,
            source=source,
            version=version,
            language_id=language_id,
            sync_kind=types.TextDocumentSyncKind.Incremental,
            position_codec=self.position_codec,
        )


def bytes_of_text(text: str) -> bytes:
    r"""What the editor would save: in the encoding that the text names, else in UTF-8.

    >>> bytes_of_text("# coding: latin-1\nname = 'é'\n")[-3:]
    b"\xe9'\n"
    """
    plain = text.encode(errors="surrogatepass")
    cookie = find_cookie(plain)
    if cookie is None:
        return plain
    try:
        name = codecs.lookup(cookie[0]).name
        return plain if name.startswith(_NO_SOURCE) else text.encode(name)
    except (LookupError, ValueError):
        return plain  # TL001 says what is wrong with the encoding
