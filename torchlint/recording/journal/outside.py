"""What enters from outside torch: draws of Python and NumPy, seeds, entropy, listings, and files that are opened.

Begun when the interpreter starts, before torch is there, so nothing here imports torch or NumPy.
"""

from __future__ import annotations

import functools
import os
import random
import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import xxhash

from torchlint.recording.factors.listing import Entries
from torchlint.recording.factors.replacing import replace

if TYPE_CHECKING:
    from torchlint.recording.journal.records import EventKind

_PYTHON_DRAWS = (
    *("random", "uniform", "triangular", "randint", "choice", "randrange", "sample", "shuffle", "choices"),
    *("normalvariate", "lognormvariate", "expovariate", "vonmisesvariate", "gammavariate", "gauss", "betavariate"),
    *("paretovariate", "weibullvariate", "getrandbits", "randbytes", "binomialvariate"),
)
_NUMPY_DRAWS = (
    *("rand", "randn", "randint", "random", "random_sample", "ranf", "sample", "choice", "shuffle", "permutation"),
    *("uniform", "normal", "standard_normal", "beta", "binomial", "exponential", "gamma", "poisson", "bytes"),
    *("dirichlet", "multinomial", "multivariate_normal", "laplace", "lognormal", "geometric"),
)
_NO_DATA = (".py", ".pyc", ".pyi", ".so", ".pth", ".typed", ".dll", ".dylib", ".tlrec")
_NO_FILES = ("/dev/", "/proc/", "/sys/", "/etc/")
_CACHES = tuple(filter(None, map(os.environ.get, ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"))))
_COMPILED = (
    *(f"{os.sep}torchinductor_", f"{os.sep}torch{os.sep}_dynamo{os.sep}convert_frame.py"),
    *(os.path.abspath(each) + os.sep for each in _CACHES),  # noqa: PTH100 - pathlib is not loaded by now
)
"""Parts of the paths of code that torch's compiler makes, or that runs while it compiles."""
_NO_FOLDERS = (f"{os.sep}site-packages{os.sep}", *_COMPILED)
"""What libraries are shipped with, and what torch's compiler keeps."""
_HASHED_WHOLE = 1 << 20
"""Bytes of a file; of a larger one the beginning, the end and the size are hashed."""
_MOST_EVENTS = 5_000
"""Of one step."""
_DEEPEST = 16
_RECORDING = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120 - pathlib is not loaded by now
_OF_TORCH = f"{os.sep}site-packages{os.sep}torch{os.sep}"
_IMPORTS = "<frozen importlib"
_STANDARD, _INSTALLED = os.path.dirname(os.__file__) + os.sep, f"-packages{os.sep}"  # noqa: PTH120 - as above


class Event(NamedTuple):
    """Something from outside: `what` is the path, or the function with what it was given."""

    kind: EventKind
    what: str
    digest: int
    stack: tuple[tuple[str, int], ...]
    row: int


class Outside:
    """Collects events; `take` gives those since it was last asked."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._seen: set[object] = set()
        self._draws: dict[str, int] = {}
        self._is_busy = False
        self._files: dict[tuple[str, int, int], int] = {}
        self._has_numpy = False
        self.row: Callable[[], int] = int
        """The number of rows so far, once there is somebody who writes rows."""

    def begin(self) -> None:
        """Watch from now on."""
        _replace(os, "listdir", self._listing_names)
        _replace(os, "scandir", self._listing_entries)
        for name in _PYTHON_DRAWS:
            _replace(random, name, functools.partial(self._drawing, f"random.{name}", "python"))
        _replace(random, "seed", functools.partial(self._seeding, "random.seed"))
        _replace(os, "urandom", functools.partial(self._taking_entropy, "os.urandom"))
        random._urandom = os.urandom  # type: ignore[attr-defined]  # noqa: SLF001 - `secrets` and `uuid` draw by it
        sys.addaudithook(self._hear)

    def watch_numpy(self) -> None:
        """Watch NumPy's global generator too, once NumPy is imported."""
        if self._has_numpy or sys.modules.get("numpy") is None:
            return
        self._has_numpy = True
        numpy = __import__("numpy.random").random
        for name in _NUMPY_DRAWS:
            _replace(numpy, name, functools.partial(self._drawing, f"numpy.random.{name}", "numpy"))
        _replace(numpy, "seed", functools.partial(self._seeding, "numpy.random.seed"))
        _replace(numpy, "default_rng", self._making_generator)

    def take(self) -> tuple[list[Event], dict[str, int]]:
        """The events, and the number of draws by generator; both begin anew."""
        events, draws = self._events, self._draws
        self._events, self._draws, self._seen = [], {}, set()
        return events, draws

    def add(self, kind: EventKind, what: str, digest: int, *, depth: int = 1) -> bool:
        """Add an event at the line that the caller's caller stands on; False if it is none of the program's."""
        if len(self._events) < _MOST_EVENTS:
            stack = _stack(depth + 1)
            if not stack:
                return False
            self._events.append(Event(kind, what, digest, stack, self.row()))
        return True

    def add_here(self, kind: EventKind, what: str, digest: int) -> None:
        """Add an event that belongs to no line."""
        if len(self._events) < _MOST_EVENTS:
            self._events.append(Event(kind, what, digest, (), self.row()))

    # -- what replaces functions: each gets the plain one first ------------------------------------------

    def _drawing(self, name: str, generator: str, plain: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        self._draws[generator] = self._draws.get(generator, 0) + 1
        if generator not in self._seen and self.add("draw", name, self.state(generator), depth=2):
            self._seen.add(generator)
        return plain(*args, **kwargs)

    def _seeding(self, name: str, plain: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        given = ", ".join(map(repr, (*args, *kwargs.values())))[:100]
        self.add("seed", f"{name}({given})", _digest(given.encode()), depth=2)
        return plain(*args, **kwargs)

    def seeding(self, owner: Any, name: str, shown: str) -> None:  # noqa: ANN401 - a module
        """Watch one more function that seeds."""
        _replace(owner, name, functools.partial(self._seeding, shown))

    def _taking_entropy(self, name: str, plain: Callable[..., Any], *args: Any) -> Any:  # noqa: ANN401
        if name not in self._seen and self.add("entropy", name, 0, depth=2):
            self._seen.add(name)
        return plain(*args)

    def _making_generator(self, plain: Callable[..., Any], seed: Any = None) -> Any:  # noqa: ANN401
        if seed is None:
            self.add("entropy", "numpy.random.default_rng()", 0, depth=2)
        return plain(seed)

    def _listing_names(self, plain: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        names = plain(*args, **kwargs)
        self._add_listing(args, names)
        return names

    def _listing_entries(self, plain: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        with plain(*args, **kwargs) as found:
            entries = list(found)
        self._add_listing(args, [each.name for each in entries])
        return Entries(entries)

    def _add_listing(self, args: tuple[Any, ...], names: list[Any]) -> None:
        given = args[0] if args and isinstance(args[0], (str, bytes, os.PathLike)) else "."
        path = os.path.abspath(os.fsdecode(given))  # noqa: PTH100 - pathlib is not loaded by now
        if not self._is_busy and not _is_foreign(path):
            self.add("listing", path, _digest("\0".join(map(os.fsdecode, names)).encode(errors="replace")), depth=3)

    # -- what Python itself tells ------------------------------------------------------------------------

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event != "open" or self._is_busy:
            return
        path, mode, flags = args
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str) or path.endswith(_NO_DATA) or _is_foreign(path):
            return
        self._is_busy = True
        try:
            path = os.path.abspath(path)  # noqa: PTH100
            is_written = any(letter in mode for letter in "wax+") if mode else bool(flags & (os.O_WRONLY | os.O_RDWR))
            self.add("write" if is_written else "read", path, 0 if is_written else self._content(path))
        except (OSError, ValueError):
            pass  # the program's own `open` will say what is wrong with the file
        finally:
            self._is_busy = False

    def _content(self, path: str) -> int:
        status = os.stat(path)  # noqa: PTH116
        key = (path, status.st_size, status.st_mtime_ns)
        known = self._files.get(key)
        if known is None:
            with open(path, "rb") as file:  # noqa: PTH123
                data = file.read(_HASHED_WHOLE)
                if status.st_size > _HASHED_WHOLE:
                    file.seek(-min(_HASHED_WHOLE, status.st_size), os.SEEK_END)
                    data += file.read(_HASHED_WHOLE) + str(status.st_size).encode()
            known = self._files[key] = _digest(data)
        return known

    def state(self, generator: str) -> int:
        """The digest of the state of a generator: `python` or `numpy`."""
        if generator == "python":
            return hash(random.getstate()[1]) & (1 << 64) - 1  # whole numbers only: the same in every process
        kind, words, position, *_ = sys.modules["numpy"].random.get_state()
        return _digest(f"{kind} {position}".encode() + words.tobytes())


def _is_foreign(path: str) -> bool:
    return path.startswith(_NO_FILES) or any(each in path for each in _NO_FOLDERS)


def _replace(owner: Any, name: str, instead: Callable[..., Any]) -> None:  # noqa: ANN401 - a module
    """Put a function in the place of another, which it gets first."""

    def make(plain: Callable[..., Any]) -> Callable[..., Any]:
        def replacing(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            return instead(plain, *args, **kwargs)

        return replacing

    replace(owner, name, make)


def _digest(data: bytes) -> int:
    return xxhash.xxh3_64_intdigest(data)


def _stack(depth: int) -> tuple[tuple[str, int], ...]:
    """The lines of frames that are neither ours nor torch's nor of imports, innermost first.

    None where a module is looked for, a library is imported, or code is compiled: no data of the program. A module of
    the program may well read some while it is imported.
    """
    frame: FrameType | None = sys._getframe(depth)  # noqa: SLF001
    lines: list[tuple[str, int]] = []
    while frame is not None and len(lines) < _DEEPEST:
        name = frame.f_code.co_filename
        if any(each in name for each in _COMPILED) or (
            name.startswith(_IMPORTS) and all(_is_of_library(path) for path, _ in lines)
        ):
            return ()
        if not name.startswith((_RECORDING, "<frozen")) and _OF_TORCH not in name:
            lines.append((name, frame.f_lineno))
        frame = frame.f_back
    return tuple(lines)


def _is_of_library(path: str) -> bool:
    return path.startswith(_STANDARD) or _INSTALLED in path
