"""Plain data as bytes (MessagePack), and checksums, for what is kept between runs."""

from __future__ import annotations

from typing import TypeVar

import msgspec
import xxhash

Told = TypeVar("Told")


def encoded(told: object) -> bytes | None:
    r"""None for what no file can hold: an integer of more than 64 bits, half of a surrogate pair, a very deep tree.

    >>> encoded((1, "seed"))
    b'\x92\x01\xa4seed'
    >>> encoded(2**64) is None
    True
    """
    try:
        return msgspec.msgpack.encode(told)
    except (OverflowError, UnicodeError, RecursionError):
        return None


def decoded(body: bytes | None, kind: type[Told]) -> Told | None:
    """None for what is no such thing."""
    try:
        return None if body is None else msgspec.msgpack.decode(body, type=kind)
    except (msgspec.MsgspecError, RecursionError):
        return None


def checksum(data: bytes | str) -> bytes:
    """16 bytes; text counts as UTF-8.

    >>> len(checksum("seed"))
    16
    """
    return xxhash.xxh3_128_digest(data.encode(errors="surrogatepass") if isinstance(data, str) else data)
