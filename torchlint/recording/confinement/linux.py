"""The system calls that Python has no name for."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_SIGKILL = 9
_CAPABILITY_VERSION = 0x20080522
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2

IS_LINUX = sys.platform == "linux"
MACHINE = platform.machine()


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *arguments: object) -> int:
    """The result, or OSError. Integers go as longs; pointers as ctypes objects."""
    passed = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result = int(_libc().syscall(ctypes.c_long(number), *passed))
    if result < 0:
        raise _error()
    return result


def prctl(option: int, *arguments: int) -> int:
    padded = [ctypes.c_ulong(each) for each in (*arguments, 0, 0, 0, 0)[:4]]
    result = int(_libc().prctl(ctypes.c_int(option), *padded))
    if result < 0:
        raise _error()
    return result


def adopt_orphans() -> None:
    """Be the parent of whatever our descendants leave behind, so that nothing of theirs escapes our sight."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int) -> None:
    prctl(_PR_SET_PDEATHSIG, _SIGKILL)
    if os.getppid() != parent:  # it was gone before we asked
        os._exit(1)


def forbid_new_privileges() -> None:
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def keep_capability(*wanted: int) -> None:
    """Give up all powers of this process but the first of these that it holds; none of those may be held."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted and inheritable, for 32 capabilities and for the rest
    if _libc().capget(header, sets) < 0:
        raise _error()
    kept = next((1 << each for each in wanted if sets[1] >> each & 1), 0)
    if _libc().capset(header, type(sets)(*(held & kept for held in sets[:3]), 0, 0, 0)) < 0:
        raise _error()


def make_folder(path: str) -> None:
    """`mkdir` past Python's audit hooks."""
    if _libc().mkdir(os.fsencode(path), 0o700) < 0:
        raise _error()


def _error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
