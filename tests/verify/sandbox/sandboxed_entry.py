"""The entry that the tests run in the sandbox: the request is Python."""

from __future__ import annotations

from collections.abc import Callable


def run(request: bytes, send: Callable[[bytes], None]) -> None:
    exec(compile(request, "<request>", "exec"), {"send": send, "__name__": "request"})  # noqa: S102 - user code
