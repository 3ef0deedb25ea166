"""A command in a view of a folder: it sees the folder as it is, and what it writes goes elsewhere.

Run as a program of its own, `python -I -S view.py FOLDER UPPER COMMAND...`, which turns into the command. Linux alone
has this, by an overlay in a user namespace, and not every machine allows it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

_NEW_USER, _NEW_MOUNTS = 0x10000000, 0x00020000
_PRIVATE = (1 << 14) | (1 << 18)
"""MS_REC | MS_PRIVATE: no mount of ours is seen outside."""


def enter(folder: str, upper: str) -> None:
    """Put the view in the place of the folder, for this process and all that it starts. Raises OSError."""
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    _succeed(libc.unshare(_NEW_USER | _NEW_MOUNTS))
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    _succeed(libc.mount(b"none", b"/", None, _PRIVATE, None))
    layers = [Path(upper, name) for name in ("written", "work")]
    for layer in layers:
        layer.mkdir(parents=True, exist_ok=True)
    options = f"lowerdir={_escaped(folder)},upperdir={_escaped(layers[0])},workdir={_escaped(layers[1])},userxattr"
    _succeed(libc.mount(b"overlay", os.fsencode(folder), b"overlay", 0, os.fsencode(options)))
    os.chdir(folder)


def _succeed(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _escaped(path: object) -> str:
    """A path between the commas and colons of the options of a mount."""
    return "".join(f"\\{char}" if char in "\\,:" else char for char in str(path))


if __name__ == "__main__":
    try:
        enter(sys.argv[1], sys.argv[2])
        os.execvp(sys.argv[3], sys.argv[3:])  # noqa: S606 - the user's own command
    except OSError as failure:
        sys.exit(f"{sys.argv[3]}: the command cannot be started: {failure.strerror or failure}")
