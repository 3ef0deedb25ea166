"""Programs go on while everything is held: processes, pools, temporary files, logs, tests; without torch, or NumPy."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.diverge.factors.held_program import ALL, output_of, output_of_command
from torchlint.recording.factors.names import ABOUT, FACTORS, VARIABLE
from torchlint.recording.factors.surroundings import asked_for, environment_for

PROCESSES = """
import asyncio, concurrent.futures as futures, glob, json, logging, multiprocessing, os, queue, random, subprocess, sys
import tempfile, threading, time, uuid
from concurrent.futures import as_completed

def square(number):
    time.sleep(0.05 if number == 1 else 0)
    return number * number

if __name__ == "__main__":
    logging.basicConfig(stream=sys.stdout, format="%(message)s")
    logging.warning("a log line")
    for start in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context(start)
        with context.Pool(2) as pool:
            print(start, list(pool.imap_unordered(square, range(1, 5))), pool.map(square, range(3)))
        tasks = context.Queue()
        process = context.Process(target=tasks.put, args=(3,))
        process.start()
        print(tasks.get(timeout=60), process.join(), process.exitcode, context.Event().wait(0.01))
        with context.Manager() as manager:
            print(manager.list([1, 2])[1])
        with futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            made = [pool.submit(square, number) for number in range(1, 5)]
            print([future.result() for future in as_completed(set(made), timeout=60)])
    with futures.ThreadPoolExecutor(4) as pool:
        made = {pool.submit(square, number): number for number in range(1, 5)}
        print([made[future] for future in futures.as_completed(made)])
        slow = pool.submit(time.sleep, 0.2)
        try:
            list(as_completed([slow], timeout=0.01))
        except futures.TimeoutError as error:
            print(error)

    async def main():
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(5)", stdout=subprocess.PIPE)
        output, _ = await process.communicate()
        return output, await asyncio.gather(asyncio.to_thread(square, 3), asyncio.sleep(0.01, 2))

    print(asyncio.run(main()))
    script = "import random, tempfile, os, uuid; print(random.random(), uuid.uuid4(), os.getpid())"
    script += "; tempfile.mkdtemp(dir='.')"
    running = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    printed = [process.communicate()[0] for process in running]
    print(printed, len(set(printed)) == 3)
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as one:
        assert os.listdir(folder) == [] and os.path.exists(one.name)
    print(subprocess.run([sys.executable, "-m", "json.tool"], input="[1]", capture_output=True, text=True).stdout)
    if hasattr(os, "fork"):
        drawn = []
        for _ in range(2):
            reader, writer = os.pipe()
            if os.fork() == 0:
                os.write(writer, f"{uuid.uuid4()} {random.random()} {os.getpid()}".encode())
                os._exit(0)
            os.wait()
            drawn.append(os.read(reader, 999))
        print(drawn, drawn[0] != drawn[1])
"""


def test_programs_with_processes_and_threads_print_the_same_twice(tmp_path: Path) -> None:
    quiet = {"PYTHONWARNINGS": "ignore::DeprecationWarning"}  # of forks beside threads
    printed = [output_of(PROCESSES, tmp_path, ALL, environ=quiet) for _ in range(2)]
    assert printed[0] == printed[1]
    assert "a log line" in printed[0]
    assert "[1, 4, 9, 16]" in printed[0]
    assert "[1, 2, 3, 4]\n1 (of 1) futures unfinished" in printed[0]
    assert printed[0].count("True") == 2
    assert len([each for each in tmp_path.iterdir() if each.is_dir()]) == 6  # each process found a name of its own


def test_tests_and_modules_run_while_everything_is_held(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(
        "import time, datetime\n"
        "def test_one(tmp_path, monkeypatch):\n"
        "    monkeypatch.setattr(time, 'time', lambda: 5)\n"
        "    assert time.time() == 5 and list(tmp_path.iterdir()) == []\n",
        encoding="utf-8",
    )
    printed = output_of_command([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], tmp_path, ALL)
    assert "1 passed" in printed
    assert "200" in output_of_command([sys.executable, "-m", "timeit", "-n", "200", "pass"], tmp_path, ALL)


@pytest.mark.parametrize("missing", ["torch", "numpy"])
def test_nothing_breaks_where_a_library_is_missing(missing: str, tmp_path: Path) -> None:
    program = f"""
    import sys
    class Missing:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == {missing!r}:
                raise ModuleNotFoundError("not installed", name=name)
    sys.meta_path.insert(0, Missing())
    try:
        import {missing}
    except ImportError:
        import random
        print("absent", random.random())
    """
    assert output_of(program, tmp_path, ALL) == output_of(program, tmp_path, ALL)


def test_nothing_is_imported_or_replaced_where_nothing_is_asked_for(tmp_path: Path) -> None:
    program = """
    import os, sys, time
    from torchlint.recording.factors.start import begin, begin_torch
    before = dict(vars(os)), dict(vars(time)), set(sys.modules)
    begin(frozenset(), frozenset())
    begin_torch(frozenset(), frozenset())
    assert before == (dict(vars(os)), dict(vars(time)), set(sys.modules))
    """
    output_of(program, tmp_path)


def test_a_file_of_the_user_may_be_called_like_a_module_of_python(tmp_path: Path) -> None:
    (tmp_path / "random.py").write_text("def draw():\n    return 4\n", encoding="utf-8")
    (tmp_path / "uuid.py").write_text("", encoding="utf-8")
    (tmp_path / "main.py").write_text("import random, uuid\nprint(random.draw())", encoding="utf-8")
    assert output_of_command([sys.executable, "main.py"], tmp_path, ALL) == "4\n"


def test_what_cannot_be_held_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "random.py").write_text("", encoding="utf-8")
    (tmp_path / "main.py").write_text(
        "import random\nfrom torchlint.recording.factors.start import troubles\nprint(*troubles())", encoding="utf-8"
    )
    printed = output_of_command([sys.executable, "main.py"], tmp_path, {"python-random"})
    assert printed.startswith("python-random could not be held or varied in full: AttributeError: ")


def test_every_factor_has_words_and_variable_ones_are_factors() -> None:
    assert set(VARIABLE) < set(FACTORS)
    assert all(about.held and about.cure for about in ABOUT.values())


def test_the_environment_carries_what_is_held_and_varied() -> None:
    environ = {"PATH": "/bin", "PYTHONHASHSEED": "1", "OMP_NUM_THREADS": "1", "CUBLAS_WORKSPACE_CONFIG": ":16:8"}
    held = environment_for(FACTORS, (), environ)
    assert (held["PYTHONHASHSEED"], held["OMP_NUM_THREADS"], held["MKL_NUM_THREADS"]) == ("0", "1", "1")
    assert (held["CUBLAS_WORKSPACE_CONFIG"], held["TORCHDYNAMO_DISABLE"], held["PATH"]) == (":16:8", "1", "/bin")
    varied = environment_for((), VARIABLE, environ)
    assert (varied["PYTHONHASHSEED"], varied["OMP_NUM_THREADS"]) == ("2", "2")
    assert environment_for((), VARIABLE, {"OMP_NUM_THREADS": "8"})["OMP_NUM_THREADS"] == "1"
    assert asked_for(held) == (frozenset(FACTORS), frozenset())
    assert asked_for(varied) == (frozenset(), frozenset(VARIABLE))
    assert asked_for({}) == (frozenset(), frozenset())
    assert environment_for((), (), environ).items() > environ.items()
