"""The clock that the program reads: it starts at one time and moves by ticks, while all waiting keeps the real one."""

from __future__ import annotations

from pathlib import Path

from tests.diverge.factors.held_program import output_of

READINGS = """
import datetime, time
from datetime import date
from time import perf_counter, time as now
print(time.time(), now(), time.time_ns(), time.process_time(), time.thread_time_ns())
print(perf_counter(), time.perf_counter_ns(), time.monotonic(), time.monotonic_ns(), time.process_time_ns())
print(datetime.datetime.now(), datetime.datetime.now(datetime.timezone.utc), datetime.datetime.today())
print(time.ctime(), time.asctime(), time.strftime("%c"), time.localtime(), time.gmtime())
time.sleep(0.25)
print(perf_counter())
"""


def test_two_runs_read_the_same_times_only_where_it_is_held(tmp_path: Path) -> None:
    held = [output_of(READINGS, tmp_path, {"clock"}) for _ in range(2)]
    free = [output_of(READINGS, tmp_path) for _ in range(2)]
    assert held[0] == held[1]
    assert held[0].startswith("1700000001.001 1700000001.002 1700000001003000000 ")
    assert all(one != other for one, other in zip(free[0].splitlines()[:3], free[1].splitlines()[:3], strict=True))


def test_the_held_clock_starts_where_the_driver_says(tmp_path: Path) -> None:
    program = "import time\nprint(int(time.time()))"
    assert output_of(program, tmp_path, {"clock"}, environ={"TORCHLINT_CLOCK_START": "1800000000"}) == "1800000001\n"


def test_the_held_clock_moves_by_ticks_and_by_what_is_slept(tmp_path: Path) -> None:
    program = """
    import time, datetime, threading
    start, readings = time.time(), 0
    while time.time() - start < 5:
        readings += 1
    assert 4_000 < readings < 6_000, readings
    start = time.monotonic()
    time.sleep(0.25)
    assert 0.25 < time.monotonic() - start < 0.26
    assert (datetime.datetime.now() - datetime.datetime.now()).total_seconds() < 0
    assert datetime.date.today() == datetime.datetime.now().date() == datetime.date(*time.localtime()[:3])
    read = []
    for _ in range(2):
        thread = threading.Thread(target=lambda: read.append([time.time() for _ in range(3)]))
        thread.start()
        thread.join()
    assert read[0] == read[1]  # a thread's readings do not depend on those of others
    """
    output_of(program, tmp_path, {"clock"})


def test_the_varied_clock_is_real_and_days_away(tmp_path: Path) -> None:
    program = """
    import datetime, logging, time
    real = logging.makeLogRecord({}).created
    for now in (time.time(), time.time_ns() / 1e9, datetime.datetime.now().timestamp(), time.mktime(time.localtime())):
        assert 9 * 86_400 < now - real < 10 * 86_400, now
    assert datetime.date.today() != datetime.date.fromtimestamp(real)
    start = time.perf_counter()
    time.sleep(0.01)
    assert 0.01 <= time.perf_counter() - start < 86_400
    """
    output_of(program, tmp_path, varied={"clock"})


def test_dates_stay_the_classes_that_they_were(tmp_path: Path) -> None:
    program = """
    import copy, datetime, inspect, pickle
    from datetime import date, timedelta, timezone

    class Own(datetime.datetime):
        pass

    moment = datetime.datetime.now()
    for each in (moment, Own.now(), Own.now(timezone.utc), Own.utcfromtimestamp(5), date.today(), Own.today()):
        assert pickle.loads(pickle.dumps(each)) == copy.deepcopy(each) == each
        assert isinstance(each, date) and type(each) in (datetime.datetime, date, Own)
    assert type(moment) is datetime.datetime and isinstance(Own.now(), Own) and type(Own.today()) is Own
    assert type(moment + timedelta(1)) is datetime.datetime and (moment + timedelta(1)) > moment
    assert moment.replace(microsecond=0).isoformat() == moment.isoformat(timespec="seconds")
    assert datetime.datetime.now(tz=timezone.utc).tzinfo is timezone.utc and Own.utcnow().tzinfo is None
    for wrong in (lambda: datetime.datetime.now(3), lambda: datetime.datetime.now(1, 2), lambda: date.today(1)):
        try:
            wrong()
        except TypeError:
            continue
        raise SystemExit("no error")
    now = pickle.loads(pickle.dumps(datetime.datetime.now))
    assert isinstance(now(), datetime.datetime) and now.__name__ == "now" and "tz" in now.__doc__
    print(inspect.signature(datetime.datetime.now))
    """
    environ = {"PYTHONWARNINGS": "ignore"}  # Python 3.12 finds `utcnow` old
    printed = output_of(program, tmp_path, {"clock"}, environ=environ)
    assert printed == "(tz=None)\n"


def test_waiting_with_time_limits_goes_on_as_before(tmp_path: Path) -> None:
    program = """
    import asyncio, logging, queue, selectors, subprocess, sys, threading, time, timeit, sched
    from concurrent.futures import ThreadPoolExecutor, wait
    for waiting in (lambda: queue.Queue().get(timeout=0.05), lambda: subprocess.run(["sleep", "9"], timeout=0.1)):
        try:
            waiting()
        except (queue.Empty, subprocess.TimeoutExpired):
            continue
        raise SystemExit("it did not wait")
    assert threading.Event().wait(0.05) is False
    assert threading.Lock().acquire(timeout=1)
    assert selectors.DefaultSelector().select(0.01) == []

    async def limited():
        await asyncio.sleep(0.01)
        try:
            await asyncio.wait_for(asyncio.sleep(9), 0.05)
        except asyncio.TimeoutError:
            return asyncio.get_running_loop().time()

    assert asyncio.run(limited())
    with ThreadPoolExecutor(2) as pool:
        assert len(wait([pool.submit(time.sleep, 0.01)], timeout=20).done) == 1
    assert timeit.Timer("sum(range(100))").autorange()[1] >= 0.2
    """
    output_of(program, tmp_path, {"clock"})
