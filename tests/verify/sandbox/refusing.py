"""A system that refuses some system calls, as the security profile of a container does: started before a command.

`python refusing.py capset,seccomp -- COMMAND`. The kernel answers EPERM, whoever asks.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER, _FIRST_ARGUMENT = 0, 16
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_NO_NEW_PRIVS, _SET_SECCOMP, _MODE_FILTER = 38, 22, 2
_CAPSET, _PRCTL = {"x86_64": (126, 157), "aarch64": (91, 167)}.get(platform.machine(), (0, 0))
REFUSALS = {
    "capset": (_CAPSET, None),
    "landlock": (444, None),
    "landlock at the last step": (446, None),
    "seccomp": (_PRCTL, _SET_SECCOMP),
}
"""The number of each call, and its first argument where another may pass."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _step(code: int, value: int, jump_if: int = 0, jump_else: int = 0) -> bytes:
    return struct.pack("=HBBI", code, jump_if, jump_else, value)


def _instructions(names: list[str]) -> list[bytes]:
    steps: list[bytes] = []
    for number, argument in map(REFUSALS.__getitem__, names):
        steps.append(_step(_LOAD, _NUMBER))
        if argument is None:
            steps += [_step(_EQUAL, number, 0, 1), _step(_RETURN, _REFUSE)]
        else:
            steps += [_step(_EQUAL, number, 0, 3), _step(_LOAD, _FIRST_ARGUMENT)]
            steps += [_step(_EQUAL, argument, 0, 1), _step(_RETURN, _REFUSE)]
    return [*steps, _step(_RETURN, _ALLOW)]


def _refuse(names: list[str]) -> None:
    steps = _instructions(names)
    program = _Program(len(steps), b"".join(steps))
    libc = ctypes.CDLL(None, use_errno=True)
    zeros = [ctypes.c_ulong(0)] * 2
    for option, first, second in (
        (_NO_NEW_PRIVS, ctypes.c_ulong(1), ctypes.c_ulong(0)),
        (_SET_SECCOMP, ctypes.c_ulong(_MODE_FILTER), ctypes.byref(program)),
    ):
        if libc.prctl(ctypes.c_int(option), first, second, *zeros):
            raise OSError(ctypes.get_errno(), "no filter can be set")


if __name__ == "__main__":
    _, refused, _, *command = sys.argv
    _refuse(refused.split(","))
    os.execvp(command[0], command)  # noqa: S606 - what the test gives
