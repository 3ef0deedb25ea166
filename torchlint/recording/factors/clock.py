"""The clock held fixed: it starts at one time in every run, and moves by a tick at each reading and by what is slept.

Or varied: the real time, some days, hours and minutes away. The standard library's own waiting, torch's and NumPy's
keep the real clock: only code that may compute with the time reads the other.
"""

from __future__ import annotations

import os
import time
from _thread import _local

from torchlint.recording.factors.callers import machinery_calls
from torchlint.recording.factors.imports import after_import
from torchlint.recording.factors.replacing import dressed, renew_names, replace, replace_in_type

TYPE_CHECKING = False  # `typing` takes a while to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

START = "TORCHLINT_CLOCK_START"
"""The variable with the second since 1970 at which held clocks start, where a server must accept the time."""
_SECOND = 1_000_000_000
TICK = _SECOND // 1000
"""`while time.time() - start < 5` ends after 5,000 readings."""
SHIFT = ((9 * 24 + 5) * 60 + 37) * 60 * _SECOND + 411_000_000
_FROM_BEGINNING = ("perf_counter", "monotonic", "process_time", "thread_time")


class HeldClock:
    """Each thread has its own, so that readings by one do not depend on when others read."""

    def __init__(self) -> None:
        self._own = _local()
        self._start = int(os.environ.get(START, "1700000000")) * _SECOND

    def since_start(self) -> int:
        self.pass_by(TICK)
        passed: int = self._own.passed
        return passed + _SECOND

    def wall(self) -> int:
        return self._start + self.since_start()

    def pass_by(self, nanoseconds: int) -> None:
        self._own.passed = getattr(self._own, "passed", 0) + nanoseconds


def hold_clock() -> None:
    clock = HeldClock()
    originals = _put_wall_clock(clock.wall)
    for name in _FROM_BEGINNING:
        originals |= _put(name, lambda plain: _seconds(plain, clock.since_start))
        originals |= _put(f"{name}_ns", lambda plain: _nanoseconds(plain, clock.since_start))
    originals |= _put("sleep", lambda plain: _sleeping(plain, clock))
    renew_names(originals)


def vary_clock() -> None:
    now = time.time_ns
    renew_names(_put_wall_clock(lambda: now() + SHIFT))


def _put_wall_clock(now: Callable[[], int]) -> dict[Any, Any]:
    originals = _put("time", lambda plain: _seconds(plain, now)) | _put(
        "time_ns", lambda plain: _nanoseconds(plain, now)
    )
    for name in ("gmtime", "localtime", "ctime"):
        originals |= _put(name, lambda plain: _of_now(plain, now))
    local = time.localtime
    originals |= _put("strftime", lambda plain: _written(plain, now, local, 1))
    originals |= _put("asctime", lambda plain: _written(plain, now, local, 0))
    after_import("clock", "datetime", lambda module: _put_in_dates(module, now))
    return originals


def _put(name: str, make: Callable[[Any], Any]) -> dict[Any, Any]:
    original = getattr(time, name, None)
    replace(time, name, make)
    return {} if original is None else {original: getattr(time, name)}


def _seconds(plain: Callable[[], float], now: Callable[[], int]) -> Callable[[], float]:
    def read() -> float:
        return plain() if machinery_calls() else now() / _SECOND

    return read


def _nanoseconds(plain: Callable[[], int], now: Callable[[], int]) -> Callable[[], int]:
    def read() -> int:
        return plain() if machinery_calls() else now()

    return read


def _sleeping(plain: Callable[[float], None], clock: HeldClock) -> Callable[[float], None]:
    def sleep(seconds: float, /) -> None:
        plain(seconds)
        if not machinery_calls():
            clock.pass_by(int(seconds * _SECOND))

    return sleep


def _of_now(plain: Callable[[float | None], Any], now: Callable[[], int]) -> Callable[..., Any]:
    def read(seconds: float | None = None, /) -> Any:  # noqa: ANN401 - a text, or the parts of a time
        return plain(now() / _SECOND if seconds is None and not machinery_calls() else seconds)

    return read


def _written(
    plain: Callable[..., str], now: Callable[[], int], local: Callable[[float], Any], before: int
) -> Callable[..., str]:
    """Of a function that takes the parts of a time after `before` other arguments."""

    def read(*given: Any) -> str:  # noqa: ANN401 - a pattern, and the parts of a time
        if len(given) == before and not machinery_calls():
            return plain(*given, local(now() / _SECOND))
        return plain(*given)

    return read


def _put_in_dates(datetime: ModuleType, now: Callable[[], int]) -> None:
    """The classes stay: what is put in their place are `now`, `utcnow` and `today`."""
    at = datetime.datetime.__dict__["fromtimestamp"]
    on = datetime.date.__dict__["fromtimestamp"]

    def method(read: Callable[..., Any]) -> Callable[[Any], Any]:
        """A class method that asks for the real time where machinery calls."""

        def make(plain: Any) -> Any:  # noqa: ANN401 - a descriptor
            def called(cls: type, *given: Any, **named: Any) -> Any:  # noqa: ANN401
                if machinery_calls():
                    return plain.__get__(None, cls)(*given, **named)
                return read(cls, *given, **named)

            return classmethod(dressed(called, plain))

        return make

    def with_zone(cls: type, tz: Any = None) -> Any:  # noqa: ANN401
        return at.__get__(None, cls)(now() / _SECOND, tz)

    def in_utc(cls: type) -> Any:  # noqa: ANN401
        return with_zone(cls, datetime.timezone.utc).replace(tzinfo=None)

    def date_only(cls: type) -> Any:  # noqa: ANN401
        return (at if issubclass(cls, datetime.datetime) else on).__get__(None, cls)(now() / _SECOND)

    replace_in_type(datetime.datetime, "now", method(with_zone))
    replace_in_type(datetime.datetime, "utcnow", method(in_utc))
    replace_in_type(datetime.date, "today", method(date_only))
