"""Landlock: the kernel refuses writes outside the scratch folder, TCP, and signals to other processes."""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable

from torchlint.recording.confinement.linux import IS_LINUX, syscall

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1

_WRITE_FILE = 1 << 1
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
_REFER = 1 << 13
_TRUNCATE = 1 << 14
_IOCTL_DEVICE = 1 << 15
_TCP_BIND_AND_CONNECT = 0b11
_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

_FIRST_WITH_REFER, _FIRST_WITH_TRUNCATE, FIRST_WITH_TCP, _FIRST_WITH_IOCTL, FIRST_WITH_SCOPE = 2, 3, 4, 5, 6


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scope", ctypes.c_uint64))


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("descriptor", ctypes.c_int32))


def version() -> int:
    """The version of the interface; 0 where the kernel has none or keeps it from us."""
    if not IS_LINUX:
        return 0
    try:
        return syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG)
    except OSError:
        return 0


def restrict(version: int, writable: Iterable[str]) -> None:
    """Take from this process, for good, the right to write anywhere but below `writable`.

    Reading and executing stay as they are. `no_new_privs` must have been set.
    """
    files = _file_rights(version)
    attribute = _Ruleset(
        files,
        _TCP_BIND_AND_CONNECT if version >= FIRST_WITH_TCP else 0,
        _SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS if version >= FIRST_WITH_SCOPE else 0,
    )
    size = 24 if version >= FIRST_WITH_SCOPE else 16 if version >= FIRST_WITH_TCP else 8
    ruleset = syscall(_CREATE_RULESET, ctypes.byref(attribute), size, 0)
    try:
        for path in writable:
            _allow(ruleset, path, files)
        syscall(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _file_rights(version: int) -> int:
    rights = _WRITE_FILE | _REMOVE_AND_MAKE
    if version >= _FIRST_WITH_REFER:
        rights |= _REFER
    if version >= _FIRST_WITH_TRUNCATE:
        rights |= _TRUNCATE
    if version >= _FIRST_WITH_IOCTL:
        rights |= _IOCTL_DEVICE
    return rights


def _allow(ruleset: int, path: str, rights: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _WRITE_FILE | _TRUNCATE | _IOCTL_DEVICE
        rule = _PathRule(rights, descriptor)
        syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(descriptor)
