"""Bytes to text, by the rules Python itself follows: byte order mark, encoding cookie, UTF-8."""

from __future__ import annotations

import codecs
import re

from torchlint.errors import UnreadableSource

_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_NO_CODE = re.compile(rb"[ \t\f]*(?:#.*)?\Z")
_LINE_END = re.compile(rb"\r\n|\r|\n")

# The longer marks first: UTF-32's little-endian mark begins with UTF-16's.
_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def decode_python(data: bytes) -> tuple[str, str]:
    """The text of a Python file without its byte order mark, line ends as they are, and the encoding's name."""
    for mark, name in _WIDE_MARKS:
        if data.startswith(mark):
            raise UnreadableSource(f"{name} source, which Python does not read: save the file as UTF-8")
    marked = data.startswith(codecs.BOM_UTF8)
    body = data[len(codecs.BOM_UTF8) :] if marked else data
    cookie = find_cookie(body)
    encoding = "utf-8" if cookie is None else _checked_encoding(*cookie, marked=marked)
    text = _decoded(body, encoding)
    _refuse_null(text, data)
    return text, encoding


def find_cookie(data: bytes) -> tuple[str, int] | None:
    """The encoding a file names in a comment of its first two lines (PEP 263), and the line of the comment."""
    end = 0
    for number in (1, 2):
        line_end = _LINE_END.search(data, end)
        line = data[end : line_end.start()] if line_end else data[end:]
        match = _COOKIE.match(line) if b"coding" in line else None
        if match is not None:
            return match[1].decode("ascii", "replace"), number
        if line_end is None or not _NO_CODE.match(line):
            return None  # code on the first line: a cookie on the second is only a comment
        end = line_end.end()
    return None


def normalised(text: str) -> str:
    """The text with every line end the tokenizer knows turned into a newline, and no other character."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def position_at(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 1, of an offset into normalised text."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _checked_encoding(name: str, line: int, *, marked: bool) -> str:
    try:
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        raise UnreadableSource(f"unknown encoding `{name}`", line) from None
    if found.startswith(("utf-16", "utf-32")):
        raise UnreadableSource(f"the encoding comment names {name}, which Python does not read as source", line)
    if marked and found not in {"utf-8", "utf-8-sig"}:
        raise UnreadableSource(f"starts with a UTF-8 byte order mark but its encoding comment names {name}", line)
    return found


def _decoded(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line, column = _place(data, error.start, encoding)
        byte = f"byte 0x{data[error.start]:02x}" if error.start < len(data) else "the end of the file"
        raise UnreadableSource(f"cannot be decoded as {encoding}: {byte} ({error.reason})", line, column) from None
    except LookupError:
        raise UnreadableSource(f"`{encoding}` is not an encoding of text") from None
    except (ValueError, OverflowError) as error:
        raise UnreadableSource(f"cannot be decoded as {encoding}: {error}") from None


def _place(data: bytes, offset: int, encoding: str) -> tuple[int, int]:
    try:
        before = data[:offset].decode(encoding, "replace")
    except (ValueError, OverflowError):
        return 1, 1
    text = normalised(before)
    return position_at(text, len(text))


def _refuse_null(text: str, data: bytes) -> None:
    offset = text.find("\0")
    if offset < 0:
        return
    # Without a mark, UTF-16 shows itself by a null in every other byte.
    wide = len(data) > 2 and (not any(data[1:40:2]) or not any(data[0:40:2]))
    hint = " (UTF-16 without a byte order mark?)" if wide else ""
    before = normalised(text[:offset])
    raise UnreadableSource(f"contains a null byte{hint}", *position_at(before, len(before)))
