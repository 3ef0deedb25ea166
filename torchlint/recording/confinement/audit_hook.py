"""A guard under the walls: what Python itself reports before it writes, connects or kills is refused here.

It works on every system, and stops accidents, not intent: native code passes beneath it, `torch.save` excepted.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

if sys.platform == "darwin":
    import fcntl

Check = Callable[["Guard", "tuple[object, ...]"], None]

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_NO_FOLDER = -1
_LONGEST_PATH = 1024
"""What macOS writes a descriptor's path into."""
_OUTPUTS = ("/dev/stdout", "/dev/stderr")
_LOCAL_HOSTS = ("127.0.0.1", "::1")


def install(writable: Iterable[str], *, protected: Iterable[int], allow_commands: bool) -> Guard:
    """Hooks cannot be taken out again: this holds until the process ends.

    `protected` are the processes that it must not signal. Commands escape it, and so are refused where there is
    no wall either.
    """
    guard = Guard(writable, protected)
    checks = dict(_CHECKS)
    if not allow_commands:
        checks.update(dict.fromkeys(_COMMANDS, Guard.command))

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        check = checks.get(event)
        if check is not None:
            check(guard, arguments)

    sys.addaudithook(hook)
    return guard


class Guard:
    def __init__(self, writable: Iterable[str], protected: Iterable[int]) -> None:
        self._writable = tuple(os.path.realpath(path) for path in writable)
        self._protected = frozenset(protected)
        # User code may replace what modules hold; the guard keeps what it needs.
        self._realpath, self._split, self._join = os.path.realpath, os.path.split, os.path.join

    def opened(self, arguments: tuple[object, ...]) -> None:
        path, _, flags = arguments
        if isinstance(flags, int) and flags & _WRITING:
            self._check_path(path, follow=True)

    def changed(self, arguments: tuple[object, ...]) -> None:
        """`(path, …, folder)`: what is behind the path changes."""
        self._check_path(arguments[0], follow=True, folder=arguments[-1])

    def extended(self, arguments: tuple[object, ...]) -> None:
        self._check_path(arguments[0], follow=True)

    def entered(self, arguments: tuple[object, ...]) -> None:
        """`(path, …, folder)`: the entry itself comes or goes."""
        self._check_path(arguments[0], follow=False, folder=arguments[-1])

    def moved(self, arguments: tuple[object, ...]) -> None:
        self._check_path(arguments[0], follow=False, folder=arguments[2])
        self._check_path(arguments[1], follow=False, folder=arguments[3])

    def linked(self, arguments: tuple[object, ...]) -> None:
        """A second name for a file is a way to change it."""
        self._check_path(arguments[0], follow=True, folder=arguments[2])
        self._check_path(arguments[1], follow=False, folder=arguments[3])

    def pointed(self, arguments: tuple[object, ...]) -> None:
        self._check_path(arguments[1], follow=False, folder=arguments[-1])

    def addressed(self, arguments: tuple[object, ...]) -> None:
        """`(socket, address)`: connect, bind and send to."""
        address = arguments[1] if len(arguments) > 1 else None
        if isinstance(address, tuple):
            # Windows makes a pair of sockets, which event loops need, over the local network.
            if os.name != "nt" or not address or address[0] not in _LOCAL_HOSTS:
                raise PermissionError(errno.EACCES, "torchlint verify gives no network")
        elif isinstance(address, (str, bytes)) and address:
            if not os.fsencode(address)[0]:  # a name that is no file's, open to every process
                raise PermissionError(errno.EACCES, "torchlint verify gives no network")
            self._check_path(address, follow=True)

    def looked_up(self, _arguments: tuple[object, ...]) -> None:
        raise PermissionError(errno.EACCES, "torchlint verify gives no network")

    def signalled(self, arguments: tuple[object, ...]) -> None:
        target = arguments[0]
        if isinstance(target, int) and (target == -1 or abs(target) in self._protected):
            raise PermissionError(errno.EPERM, "torchlint verify lets no signal out")

    def cover_torch(self) -> None:
        """`torch.save` writes from C++, where Python reports nothing."""
        torch_binding: Any = sys.modules["torch._C"]
        write = getattr(torch_binding, "PyTorchFileWriter", None)
        if write is None:
            return

        def checked(destination: object, *rest: object, **options: object) -> object:
            self._check_path(destination, follow=True)
            return write(destination, *rest, **options)

        torch_binding.PyTorchFileWriter = checked

    def command(self, _arguments: tuple[object, ...]) -> None:
        raise PermissionError(errno.EACCES, "torchlint verify starts no commands on this system")

    def _check_path(self, path: object, *, follow: bool, folder: object = _NO_FOLDER) -> None:
        if not isinstance(path, (str, bytes)):  # a descriptor: it was let through when it was opened
            return
        place = os.fsdecode(path)
        if place in _OUTPUTS:
            return
        if isinstance(folder, int) and folder != _NO_FOLDER:
            place = self._join(_folder_behind(folder), place)
        if follow:
            place = self._realpath(place)
        else:
            parent, name = self._split(place.rstrip(os.sep) or os.sep)
            place = self._join(self._realpath(parent) if parent else os.getcwd(), name)  # noqa: PTH109 - cheap
        for allowed in self._writable:
            if place == allowed or place.startswith(allowed + os.sep):
                return
        raise PermissionError(errno.EACCES, "torchlint verify allows writes only below its scratch folder", place)


def _folder_behind(descriptor: int) -> str:
    if sys.platform == "darwin":
        return os.fsdecode(fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(_LONGEST_PATH)).rstrip(b"\0"))
    return f"/proc/self/fd/{descriptor}"


_COMMANDS = ("os.system", "subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile", "pty.spawn")
_CHECKS: dict[str, Check] = {
    "open": Guard.opened,
    "os.truncate": Guard.extended,
    "os.chmod": Guard.changed,
    "os.chown": Guard.changed,
    "os.utime": Guard.changed,
    "os.setxattr": Guard.extended,
    "os.removexattr": Guard.extended,
    "os.remove": Guard.entered,
    "os.rmdir": Guard.entered,
    "os.mkdir": Guard.entered,
    "os.rename": Guard.moved,
    "os.link": Guard.linked,
    "os.symlink": Guard.pointed,
    "os.kill": Guard.signalled,
    "os.killpg": Guard.signalled,
    "socket.connect": Guard.addressed,
    "socket.bind": Guard.addressed,
    "socket.sendto": Guard.addressed,
    "socket.sendmsg": Guard.addressed,
    "socket.getaddrinfo": Guard.looked_up,
    "socket.gethostbyname": Guard.looked_up,
    "socket.gethostbyaddr": Guard.looked_up,
}
