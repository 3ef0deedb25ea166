"""Who may have asked a file for names that are bound there in another way now."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from torchlint.engine.project_context import bytes_of
from torchlint.facts.exports import STARS, Export, read_exports

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchlint.engine.cache.checksums import Checksums
    from torchlint.engine.project_context import ProjectContext

_MOST = 20
"""Names; of more, anybody may have asked for one."""
_ASKED_OF_OTHERS = (
    rb"(?:[\w)\]}\"'][\s\\]*\.[\s\\]*|[\"']|\w:|"
    rb"\bfrom\b[^\n]*\bimport\b(?:(?:[^\n]|\\\r?\n)*|\s*\([^)]*)\b)%s\b"
)
"""As an attribute, as a text or in an import, where a bare name is the file's own, or nobody's without star imports."""


def may_have_asked(
    context: ProjectContext,
    checksums: Checksums,
    home: str,
    names: Iterable[str],
    others: Iterable[str],
    read: Callable[[str], bytes],
) -> Iterator[str]:
    """Those of the other files that write one of the names. Whoever asks a module for a name writes it somewhere.

    A configuration may do so for any of them; a notebook's text is not looked into.
    """
    wanted = [name.encode() for name in names]
    if len(wanted) > _MOST or not all(name.isascii() for name in wanted) or _are_in_configurations(context, wanted):
        yield from others
        return
    for path in others:
        if path != home and (not path.endswith(".py") or _asks(read(path), checksums.files[path].exports, wanted)):
            yield path


def _are_in_configurations(context: ProjectContext, names: list[bytes]) -> bool:
    return any(name in data for data in map(bytes_of, context.beside) for name in names)


def _asks(data: bytes, exports_of_file: bytes, names: list[bytes]) -> bool:
    written = [name for name in names if name in data]
    if not written:
        return False
    exports: Mapping[str, Export] = read_exports(exports_of_file)
    has_stars = STARS not in exports or not exports[STARS].is_own
    return any(_is_asked_in(data, name, exports.get(name.decode()), has_stars=has_stars) for name in written)


def _is_asked_in(data: bytes, name: bytes, export: Export | None, *, has_stars: bool) -> bool:
    is_own = not has_stars if export is None else export.is_own
    return re.search(_ASKED_OF_OTHERS % name if is_own else rb"\b%s\b" % name, data) is not None
