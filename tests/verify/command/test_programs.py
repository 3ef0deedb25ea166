"""Programs that end, begin and change in all the ways that programs do."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("torch")

from tests.verify.command.conftest import MIRRORED, PADDED, Project, by_rule

pytestmark = pytest.mark.torch


def test_what_was_written_survives_a_kill(project: Project) -> None:
    found = project.python(
        "import os, signal, time\nstep(Padded(), image())\ntime.sleep(0.3)\nstep(Mirrored(), image())\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert found[PADDED].verdict == "TRACED"
    assert found[PADDED].evidence["exit_status"] == -9


def test_a_second_program_in_the_same_process_is_recorded_as_well_as_the_first(project: Project) -> None:
    project.write("second.py", "import os\nfrom model import *\nstep(Mirrored(), image())\nos._exit(3)\n")
    found = project.python(
        "import os, sys\nos.chdir('/')\nstep(Padded(), image())\n"
        f"os.execv(sys.executable, [sys.executable, {str(project.folder / 'second.py')!r}])"
    )
    assert found[PADDED].verdict == "TRACED"
    assert found[MIRRORED].verdict == "TRACED"
    assert found[MIRRORED].evidence["exit_status"] == 3


def test_threads_and_forked_workers_are_recorded_beside_the_users_own_sitecustomize(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("customs/sitecustomize.py", "import builtins\nbuiltins.customs_ran = True\n")
    monkeypatch.setenv("PYTHONPATH", str(project.folder / "customs"))
    found = project.python(
        """
import threading
assert customs_ran
from torch.utils.data import DataLoader

class Images:
    def __len__(self):
        return 2
    def __getitem__(self, index):
        step(Mirrored(), image())
        return index

thread = threading.Thread(target=lambda: step(Padded(), image()))
thread.start()
thread.join()
list(DataLoader(Images(), num_workers=1, multiprocessing_context="fork"))
"""
    )
    assert found[PADDED].verdict == "TRACED"
    assert found[MIRRORED].verdict == "TRACED"
    assert found[PADDED].evidence["processes"] == 2


def test_a_program_that_asks_for_torch_before_it_imports_it_is_recorded(project: Project) -> None:
    project.write(
        "asking.py",
        "import importlib.util\nassert importlib.util.find_spec('torch')\nassert importlib.util.find_spec('torch')\n"
        "from model import *\nstep(Padded(), image())\n",
    )
    found = by_rule(project.verify(sys.executable, "asking.py"))
    assert found[PADDED].verdict == "TRACED"
    assert found[PADDED].evidence["processes"] == 1


def test_the_program_runs_as_without_the_recorder(project: Project) -> None:
    """Compiled and traced code, errors, warnings, and what it saves."""
    found = project.python(
        """
import io, os, sys, warnings
warnings.simplefilter("error")

class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        raise RuntimeError("broken")

try:
    Broken.apply(image()).sum().backward()
except RuntimeError as error:
    assert str(error) == "broken"
else:
    raise AssertionError
with torch.autograd.set_detect_anomaly(True), warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    try:
        Broken.apply(image()).sum().backward()
    except RuntimeError:
        assert "Error detected in BrokenBackward" in str(told[0].message)
        assert "program.py" in str(told[0].message)
torch.compile(lambda x: x * 2, fullgraph=True)(image()).sum().backward()
warnings.simplefilter("ignore")
traced = torch.jit.trace(Padded(), image())
assert traced(image()).shape == (1, 2, 8, 8)
saved = io.BytesIO()
torch.save(Padded(), saved)
assert b"torchlint" not in saved.getvalue().lower()
assert not any("recording" in path or "in_command" in path for path in sys.path)
os.environ.clear()
step(Mirrored(), image())
sys.exit("the end")
"""
    )
    assert found[MIRRORED].verdict == "TRACED"
    assert found[MIRRORED].evidence["exit_status"] == 1


def test_pytest_a_module_and_a_shell_script_are_recorded_in_the_processes_that_they_start(project: Project) -> None:
    project.write("pkg/__init__.py", "")
    project.write("pkg/train.py", "from model import *\nstep(Padded(), image())\n")
    project.write(
        "test_model.py",
        "from model import *\n\ndef test_steps():\n    step(Mirrored(), image())\n\ndef test_fails():\n    assert 0\n",
    )
    project.write(
        "run.sh",
        f"'{sys.executable}' -m pkg.train && PYTHONPATH=$PYTHONPATH:. '{sys.executable}' -m pytest -q -n 0 .\n",
    )
    found = project.verify("sh", "run.sh")
    verdicts = by_rule(found)
    assert verdicts[PADDED].verdict == "TRACED"
    assert verdicts[MIRRORED].verdict == "TRACED"
    assert [note.message for note in found.notes] == ["the command: exit status 1"]


def test_a_python_that_ignores_the_environment_is_said_not_to_be_recorded(project: Project) -> None:
    for option in ("-I", "-S"):
        found = project.verify(sys.executable, option, "-c", "print('runs')")
        assert {result.verdict for result in found.results} == {"SKIPPED"}
        assert "no Python process of the command loaded the recorder" in found.results[0].reason


def test_a_command_without_torch_is_said_to_have_none(project: Project) -> None:
    found = project.verify(sys.executable, "-c", "import json")
    assert "did not import torch" in found.results[0].reason


def test_a_command_that_takes_longer_than_it_may_is_ended(project: Project) -> None:
    found = project.verify(sys.executable, "-c", "import time; time.sleep(300)", seconds=1)
    assert "--timeout" in found.notes[0].message


def test_what_breaks_in_the_recorder_leaves_the_program_alone(project: Project) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import torch; print(torch.ones(2).sum().item())"],
        env={"PYTHONPATH": _startup(), "TORCHLINT_RECORDS": str(project.folder)},
        capture_output=True,
        check=True,
        timeout=300,
    )
    assert done.stdout.strip() == b"2.0"
    assert not done.stderr
    troubles = list(project.folder.glob("*.trouble"))
    assert len(troubles) == 1
    assert "request.json" in troubles[0].read_text()


def _startup() -> str:
    from torchlint.recording.process import command

    return str(command.STARTUP)
