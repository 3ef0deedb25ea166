"""Bytes that the system draws, held fixed: `os.urandom`, and by it `secrets`, `uuid` and `random.SystemRandom`."""

from __future__ import annotations

import os
from functools import partial

from torchlint.recording.factors.imports import after_import
from torchlint.recording.factors.replacing import renew_names, replace
from torchlint.recording.factors.streams import fixed_bytes

TYPE_CHECKING = False  # `typing` takes a while to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any


def hold_entropy(*, numpy_too: bool) -> None:
    """NumPy's generators are a factor of their own, and go on with real entropy where they are not held."""
    urandom = os.urandom
    replace(os, "urandom", lambda _: _urandom)
    replace(os, "getrandom", lambda _: _getrandom)
    renew_names({urandom: os.urandom})
    after_import("os-entropy", "uuid", _hold_uuid)
    if not numpy_too:
        after_import("os-entropy", "numpy.random.bit_generator", partial(_leave_numpy, urandom))


def _urandom(size: int, /) -> bytes:
    if size < 0:
        raise ValueError("negative argument not allowed")
    return fixed_bytes("os-entropy", size)


def _getrandom(size: int, flags: int = 0) -> bytes:
    del flags
    return _urandom(size)


def _leave_numpy(urandom: Callable[[int], bytes], bit_generator: ModuleType) -> None:
    def randbits(bits: int) -> int:
        return int.from_bytes(urandom(bits // 8), "big")

    replace(bit_generator, "randbits", lambda _: randbits)


def _hold_uuid(uuid: ModuleType) -> None:
    """`uuid4` calls `os.urandom`; the others ask for the time and the machine."""

    def drawn(version: int) -> Callable[[Any], Any]:
        def make(plain: Any) -> Any:  # noqa: ANN401 - the function as it was
            def made(*given: Any, **named: Any) -> Any:  # noqa: ANN401
                if given or named:
                    return plain(*given, **named)
                return uuid.UUID(bytes=_urandom(16), version=version)

            return made

        return make

    for version in (1, 6, 7):
        replace(uuid, f"uuid{version}", drawn(version))
