"""Tiny files that are valid for their ending: an image, a table with the columns that a program reads, a list."""

from __future__ import annotations

import csv
import io
import json
import pickle
import struct
import wave
import zipfile
import zlib
from collections.abc import Callable, Sequence

import torch

_SIDE = 8
_ROWS = 4


def tiny_file(suffix: str, names: Sequence[str], columns: Sequence[str]) -> bytes:
    """The content of a file; empty where nothing is known of its kind.

    `names` are the files beside it, which lists and tables speak of; `columns` those that the program reads.
    """
    kind = suffix.lower()
    if kind in _IMAGES:
        return _IMAGES[kind]()
    if kind in _ROWS_OF:
        return _ROWS_OF[kind](_records(names, columns)).encode()
    if kind in (".txt", ".lst", ".list"):
        return "".join(f"{name}\n" for name in names).encode()
    return _OTHERS[kind]() if kind in _OTHERS else b""


def _records(names: Sequence[str], columns: Sequence[str]) -> list[dict[str, object]]:
    return [
        {column: _value(column, name, row) for column in columns or ("name", "label")}
        for row, name in enumerate(list(names)[:_ROWS])
    ]


def _value(column: str, name: str, row: int) -> object:
    words = column.lower()
    if any(word in words for word in ("file", "path", "image", "img", "name", "id")):
        return name
    is_class = any(word in words for word in ("label", "class", "category", "split", "species"))
    return ("first", "second")[row % 2] if is_class else row


def _table(separator: str) -> Callable[[list[dict[str, object]]], str]:
    def text(records: list[dict[str, object]]) -> str:
        out = io.StringIO()
        writer = csv.DictWriter(out, list(records[0]) if records else [], delimiter=separator, lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        return out.getvalue()

    return text


def _png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", _SIDE, _SIDE, 8, 2, 0, 0, 0)
    rows = b"".join(b"\0" + bytes(range(3 * _SIDE)) for _ in range(_SIDE))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def _jpeg() -> bytes:
    """One grey block: each table has a single code of one bit, for no difference and for the end of the block."""

    def segment(marker: int, data: bytes) -> bytes:
        return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data

    one_code = bytes([1, *[0] * 15, 0])
    return b"".join(
        [
            b"\xff\xd8",
            segment(0xE0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0"),
            segment(0xDB, b"\0" + b"\x01" * 64),
            segment(0xC0, struct.pack(">BHHBBBB", 8, _SIDE, _SIDE, 1, 1, 0x11, 0)),
            segment(0xC4, b"\x00" + one_code),
            segment(0xC4, b"\x10" + one_code),
            segment(0xDA, b"\x01\x01\x00\x00\x3f\x00"),
            b"\x3f\xff\xd9",
        ]
    )


def _bmp() -> bytes:
    pixels = bytes(range(3 * _SIDE)) * _SIDE
    sizes = struct.pack("<IiiHHIIiiII", 40, _SIDE, _SIDE, 1, 24, 0, len(pixels), 2835, 2835, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + len(pixels), 0, 0, 54) + sizes + pixels


def _gif() -> bytes:
    return b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"


def _npy() -> bytes:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({_SIDE}, {_SIDE}), }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(4 * _SIDE * _SIDE)


def _npz() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("arr_0.npy", _npy())
    return out.getvalue()


def _wav() -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(bytes(2 * 8000))
    return out.getvalue()


def _tensor() -> bytes:
    out = io.BytesIO()
    torch.save(torch.zeros(3, _SIDE, _SIDE), out)
    return out.getvalue()


_IMAGES: dict[str, Callable[[], bytes]] = {".png": _png, ".jpg": _jpeg, ".jpeg": _jpeg, ".bmp": _bmp, ".gif": _gif}
_ROWS_OF: dict[str, Callable[[list[dict[str, object]]], str]] = {
    ".csv": _table(","),
    ".tsv": _table("\t"),
    ".json": json.dumps,
    ".jsonl": lambda records: "".join(f"{json.dumps(each)}\n" for each in records),
}
_OTHERS: dict[str, Callable[[], bytes]] = {
    ".npy": _npy,
    ".npz": _npz,
    ".wav": _wav,
    ".pt": _tensor,
    ".pth": _tensor,
    ".pkl": lambda: pickle.dumps([0.0] * _ROWS),
    ".xml": lambda: b"<annotation/>\n",
}
