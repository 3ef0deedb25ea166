"""A seccomp filter for what Landlock leaves open: UDP and DNS, and the metadata of files.

Landlock knows TCP only, and does not cover `chmod`, `chown`, `utime` and extended attributes. Changes of metadata are
answered with success and not made: they are the usual tail of a copy, and failing there would fail the copy.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from typing import NamedTuple

from torchlint.recording.confinement.linux import IS_LINUX, MACHINE, prctl

_PR_GET_SECCOMP, _PR_SET_SECCOMP = 21, 22
_MODE_FILTER = 2

_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000

_AF_UNIX, _AF_NETLINK = 1, 16
_SOCKET_TYPE, _DATAGRAM = 0xF, 2
_X32 = 0x40000000


class _Machine(NamedTuple):
    architecture: int
    socket: int
    socketpair: int
    metadata: tuple[int, ...]
    """chmod, chown, utime and their kin."""
    attributes: tuple[int, ...]
    """Extended attributes and inode flags."""
    lasting: tuple[int, ...]
    """What stays in the kernel when the process is gone: System V IPC, message queues, keys."""


_IO_URING = (425, 426, 427)  # it opens sockets past the filter
_EVERYWHERE_METADATA = (452,)
_EVERYWHERE_ATTRIBUTES = (463, 466, 469)
_MACHINES = {
    "x86_64": _Machine(
        0xC000003E,
        41,
        53,
        (90, 91, 268, 92, 93, 94, 260, 132, 235, 261, 280),
        (188, 189, 190, 197, 198, 199),
        (29, 64, 68, 240, 248, 250),
    ),
    "aarch64": _Machine(
        0xC00000B7, 198, 199, (52, 53, 54, 55, 88), (5, 6, 7, 14, 15, 16), (194, 190, 186, 180, 217, 219)
    ),
}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def is_available() -> bool:
    if not IS_LINUX or MACHINE not in _MACHINES or struct.calcsize("P") != 8:
        return False
    try:
        return prctl(_PR_GET_SECCOMP) >= 0
    except OSError:
        return False


def restrict(*, unix_sockets: bool) -> None:
    """Put the filter over this process and all that it starts. `no_new_privs` must have been set."""
    instructions = b"".join(_filter(_MACHINES[MACHINE], (_AF_UNIX, _AF_NETLINK) if unix_sockets else ()))
    program = _Program(len(instructions) // 8, instructions)
    prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(program))


def _filter(machine: _Machine, families: tuple[int, ...]) -> list[bytes]:
    parts = [
        _step(_LOAD, _ARCHITECTURE),
        *_unless(_EQUAL, machine.architecture, [_refuse(errno.ENOSYS)]),
        _step(_LOAD, _NUMBER),
        *_when(_AT_LEAST, _X32, [_refuse(errno.ENOSYS)]),
    ]
    answers = (
        (0, (*machine.metadata, *_EVERYWHERE_METADATA)),
        (errno.ENOTSUP, (*machine.attributes, *_EVERYWHERE_ATTRIBUTES)),
        (errno.ENOSYS, (*machine.lasting, *_IO_URING)),
    )
    for answer, numbers in answers:
        for number in numbers:
            parts += _when(_EQUAL, number, [_refuse(answer)])
    parts += _when(_EQUAL, machine.socket, _only_families(families))
    # A connected pair is harmless, but a datagram socket of a pair can still be pointed elsewhere.
    pair = [
        _step(_LOAD, _SECOND_ARGUMENT),
        _step(_AND, _SOCKET_TYPE),
        *_when(_EQUAL, _DATAGRAM, [_refuse(errno.EACCES)]),
    ]
    parts += _when(_EQUAL, machine.socketpair, [*([] if families else pair), _step(_RETURN, _ALLOW)])
    return [*parts, _step(_RETURN, _ALLOW)]


def _only_families(families: tuple[int, ...]) -> list[bytes]:
    parts = [_step(_LOAD, _FIRST_ARGUMENT)]
    for family in families:
        parts += _when(_EQUAL, family, [_step(_RETURN, _ALLOW)])
    return [*parts, _refuse(errno.EACCES)]


def _when(test: int, value: int, then: list[bytes]) -> list[bytes]:
    return [_step(test, value, 0, len(then)), *then]


def _unless(test: int, value: int, then: list[bytes]) -> list[bytes]:
    return [_step(test, value, len(then), 0), *then]


def _refuse(error: int) -> bytes:
    return _step(_RETURN, _REFUSE | error)


def _step(code: int, value: int, jump_if: int = 0, jump_else: int = 0) -> bytes:
    return struct.pack("=HBBI", code, jump_if, jump_else, value)
