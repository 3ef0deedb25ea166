"""The config probe, rule by rule: settings that are lost, late or drawn anew, and the same ones done right."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from tests.verify.statements.asking import ask_about  # noqa: E402
from torchlint.recording.global_state import environment  # noqa: E402
from torchlint.recording.probes.config import probe  # noqa: E402
from torchlint.recording.statements import environment_judges, seed_judges, switch_judges  # noqa: E402
from torchlint.recording.statements.case import Case  # noqa: E402
from torchlint.recording.statements.observed import Event, Observed  # noqa: E402

if TYPE_CHECKING:
    from torchlint.recording.messages import Answer

_CONFIRMED = {
    "an assigned mode": ("TL201", "default", "import torch\ntorch.use_deterministic_algorithms = True  # here\n"),
    "an assigned seed": (
        "TL201",
        "seed",
        "import torch\ntorch.manual_seed = 7  # here\nweights = torch.rand(3)\n",
    ),
    "an assigned seed of numpy": ("TL201", "seed", "import numpy as np\nnp.random.seed = 7  # here\n"),
    "an assigned seed of CUDA": ("TL201", "seed", "import torch\ntorch.cuda.manual_seed_all = 7  # here\n"),
    "a setter": ("TL201", "switch", 'import torch\nsetattr(torch, "use_deterministic_algorithms", True)  # here\n'),
    "a removed switch assigned": ("TL201", "removed", "import torch\ntorch.set_deterministic = True  # here\n"),
    "a removed function": ("TL202", "default", "import torch\ntorch.set_deterministic(True)  # here\n"),
    "a removed function imported": (
        "TL202",
        "default",
        "from torch import set_deterministic\nset_deterministic(True)  # here\n",
    ),
    "a misspelled switch": (
        "TL203",
        "dead",
        "from torch.backends import cudnn\ncudnn.deterministc = True  # here\n",
    ),
    "a misspelled switch that raises": (
        "TL203",
        "raises",
        "import torch\ntorch.backends.cuda.matmul.allow_tf23 = False  # here\n",
    ),
    "a misspelled namespace": (
        "TL203",
        "namespace",
        "import torch\ntorch.backend.cudnn.deterministic = True  # here\n",
    ),
    "both flags": (
        "TL209",
        "default",
        "from torch.backends import cudnn\ncudnn.deterministic = True\ncudnn.benchmark = True  # here\n",
    ),
    "a hash seed": (
        "TL211",
        "default",
        """
        import os
        import random


        def seed_everything(seed: int) -> None:
            random.seed(seed)
            os.environ["PYTHONHASHSEED"] = str(seed)  # here
        """,
    ),
    "a seed from the clock": (
        "TL302",
        "default",
        "import time\nimport torch\ntorch.manual_seed(int(time.time()))  # here\n",
    ),
    "no seed for numpy": ("TL302", "unset", "import numpy as np\nnp.random.seed()  # here\n"),
    "a generator seeded from the process": (
        "TL302",
        "default",
        "import os\nimport torch\nnoise = torch.Generator()\nnoise.manual_seed(os.getpid())  # here\n",
    ),
}

_REFUTED = {
    "a function put back": (
        "TL201",
        "seed",
        """
        import torch
        original = torch.manual_seed
        torch.manual_seed = 7  # here
        torch.manual_seed = original
        torch.manual_seed(7)
        """,
    ),
    "a replacement that is a function": (
        "TL201",
        "seed",
        "import torch\ntorch.manual_seed = lambda seed: seed  # here\n",
    ),
    "seeded by another name": (
        "TL201",
        "seed",
        "import torch\nfrom torch import manual_seed\ntorch.manual_seed = 7  # here\nmanual_seed(7)\n",
    ),
    "a function that a shim brings back": (
        "TL202",
        "default",
        """
        import torch
        if not hasattr(torch, "set_deterministic"):
            torch.set_deterministic = torch.set_warn_always
        torch.set_deterministic(True)  # here
        """,
    ),
    "a switch that torch has": (
        "TL203",
        "dead",
        "from torch.backends import cudnn\ncudnn.deterministic = True  # here\n",
    ),
    "the real switch set as well": (
        "TL203",
        "dead",
        """
        from torch.backends import cudnn
        cudnn.deterministc = True  # here
        cudnn.deterministic = True
        """,
    ),
    "a valid workspace further on": (
        "TL205",
        "default",
        """
        import os
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = "4096:8"  # here
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
        """,
    ),
    "a workspace that was set before": (
        "TL206",
        "default",
        """
        import os
        import torch
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":16:8"
        weights = torch.rand(3, 3) @ torch.rand(3, 3)
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # here
        """,
    ),
    "benchmarking off again": (
        "TL207",
        "default",
        "from torch.backends import cudnn\ncudnn.benchmark = True  # here\ncudnn.benchmark = False\n",
    ),
    "one of two flags off again": (
        "TL209",
        "default",
        """
        from torch.backends import cudnn
        cudnn.deterministic = True
        cudnn.benchmark = True  # here
        cudnn.benchmark = False
        """,
    ),
    "a seed that is fixed": ("TL302", "default", "import torch\nSEED = 20\ntorch.manual_seed(SEED)  # here\n"),
}

_NOT_REPRODUCED = {
    "a switch of newer releases": (
        "TL203",
        "older",
        "import torch\ntorch.backends.cudnn.benchmark_limit = 4  # here\n",
        "NOT REPRODUCED",
    ),
    "a workspace that newer torch ignores": (
        "TL205",
        "default",
        """
        import os
        import torch
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = "4096:8"  # here
        torch.use_deterministic_algorithms(True)
        """,
        "NOT REPRODUCED",
    ),
    "benchmarking without a GPU": (
        "TL207",
        "default",
        "from torch.backends import cudnn\ncudnn.benchmark = True  # here\n",
        "NOT REPRODUCED",
    ),
    "flags of which one waits for CUDA": (
        "TL209",
        "default",
        """
        import torch
        torch.backends.cudnn.benchmark = True  # here
        if torch.version.cuda is not None and torch.cuda.is_available():
            torch.backends.cudnn.deterministic = True
        """,
        "NOT REPRODUCED",
    ),
    "a branch that is not taken": (
        "TL211",
        "default",
        """
        import os
        if "NO_SUCH_VARIABLE" in os.environ:
            os.environ["PYTHONHASHSEED"] = "3"  # here
        """,
        "NOT REPRODUCED",
    ),
    "a text that does not load": (
        "TL207",
        "default",
        "import torch\nlimit = undefined_name\ntorch.backends.cudnn.benchmark = True  # here\n",
        "SKIPPED",
    ),
}


def _verdict(folder: Path, code: str, variant: str, text: str) -> Answer:
    return probe(*ask_about(folder, textwrap.dedent(text), code, variant=variant))


@pytest.mark.parametrize("name", _CONFIRMED)
def test_a_setting_that_is_lost_is_confirmed(tmp_path: Path, name: str) -> None:
    said = _verdict(tmp_path, *_CONFIRMED[name])
    assert said.verdict == "CONFIRMED", said.reason
    assert said.probe == "config"
    assert not said.reason.endswith(".")


@pytest.mark.parametrize("name", _REFUTED)
def test_a_setting_that_holds_all_the_same_refutes(tmp_path: Path, name: str) -> None:
    said = _verdict(tmp_path, *_REFUTED[name])
    assert said.verdict == "REFUTED", said.reason


@pytest.mark.parametrize("name", _NOT_REPRODUCED)
def test_what_cannot_be_seen_here_is_neither(tmp_path: Path, name: str) -> None:
    *asked, verdict = _NOT_REPRODUCED[name]
    said = _verdict(tmp_path, *asked)
    assert said.verdict == verdict, said.reason


def test_the_evidence_names_values_before_and_after_and_the_lines(tmp_path: Path) -> None:
    said = _verdict(
        tmp_path,
        "TL203",
        "dead",
        "from torch.backends import cudnn\ncudnn.deterministc = True  # here\ncudnn.benchmark = True\n",
    )
    assert said.evidence["nearest"] == "torch.backends.cudnn.deterministic"
    assert said.evidence["nearest_value"] == "False"
    assert said.evidence["events"] == ["line 3: switch torch.backends.cudnn.benchmark False → True"]


def test_the_hash_of_a_text_is_shown_for_both_ways_of_setting_the_variable(tmp_path: Path) -> None:
    said = _verdict(tmp_path, *_CONFIRMED["a hash seed"])
    assert said.evidence["hash_before"] == said.evidence["hash_after"] != said.evidence["hash_when_started_with"]


def test_a_hash_seed_for_a_program_that_is_started_afterwards_refutes(tmp_path: Path) -> None:
    text = """
    import os
    import subprocess
    import sys
    os.environ["PYTHONHASHSEED"] = "0"  # here
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    """
    assert _verdict(tmp_path, "TL211", "default", text).verdict == "REFUTED"


def test_a_program_that_would_replace_itself_is_held_back(tmp_path: Path) -> None:
    text = """
    import os
    import sys
    os.environ["PYTHONHASHSEED"] = "0"  # here
    os.execv(sys.executable, [sys.executable, "-c", "pass"])
    """
    assert _verdict(tmp_path, "TL211", "default", text).verdict == "REFUTED"


_LATE = """
import torch
from torch import nn


def main() -> None:
    {before}
    model = nn.Linear(8, 1)
    torch.manual_seed(7)  # here
    {after}


if __name__ == "__main__":
    main()
"""


def test_weights_drawn_before_the_seed_are_confirmed_by_two_starts(tmp_path: Path) -> None:
    said = _verdict(tmp_path, "TL303", "default", _LATE.format(before="pass", after="pass"))
    assert said.verdict == "CONFIRMED", said.reason
    assert "`model` differs" in said.reason


@pytest.mark.parametrize(
    ("before", "after"),
    [("torch.manual_seed(3)", "pass"), ("pass", "nn.init.constant_(model.weight, 0.5); nn.init.zeros_(model.bias)")],
    ids=["seeded earlier", "drawn anew"],
)
def test_weights_that_do_not_hang_on_the_early_draw_refute(tmp_path: Path, before: str, after: str) -> None:
    said = _verdict(tmp_path, "TL303", "default", _LATE.format(before=before, after=after))
    assert said.verdict == "REFUTED", said.reason


def test_a_draw_of_another_library_before_the_seed_is_not_this_finding(tmp_path: Path) -> None:
    text = "import random\nimport torch\nport = random.randint(1, 9)\ntorch.manual_seed(7)  # here\n"
    assert _verdict(tmp_path, "TL303", "default", text).verdict == "NOT REPRODUCED"


def test_a_seed_before_an_import_that_fails_does_not_count_twice(tmp_path: Path) -> None:
    """The loader starts the file again for each import that it stands in for; the first start is forgotten."""
    text = """
    import torch
    weights = torch.rand(3)
    torch.manual_seed(7)  # here
    import a_library_that_nobody_has
    """
    said = _verdict(tmp_path, "TL303", "default", text)
    assert said.verdict == "CONFIRMED", said.reason
    assert said.evidence["events"].count("line 3: seed torch 7") == 1  # type: ignore[attr-defined]


_PROGRAM = """
import random
import torch
from torch import nn


def main() -> None:
    {seed}
    model = nn.Linear(8, 1)
    order = random.sample(range(50), 5)
    model(torch.ones(4, 8)).mean().backward()


if __name__ == "__main__":  # here
    main()
"""


def test_a_program_without_seeds_is_confirmed(tmp_path: Path) -> None:
    said = _verdict(tmp_path, "TL301", "default", _PROGRAM.format(seed="pass"))
    assert said.verdict == "CONFIRMED", said.reason
    assert said.evidence["unseeded"] == ["torch", "random"]


def test_a_program_that_forgets_one_library_is_confirmed_for_that_one(tmp_path: Path) -> None:
    said = _verdict(tmp_path, "TL301", "partial", _PROGRAM.format(seed="torch.manual_seed(3)"))
    assert said.verdict == "CONFIRMED", said.reason
    assert said.evidence["unseeded"] == ["random"]


def test_a_program_that_seeds_all_that_it_draws_from_refutes(tmp_path: Path) -> None:
    said = _verdict(tmp_path, "TL301", "default", _PROGRAM.format(seed="torch.manual_seed(3); random.seed(3)"))
    assert said.verdict == "REFUTED", said.reason


def test_a_program_whose_library_is_missing_is_not_judged(tmp_path: Path) -> None:
    text = _PROGRAM.format(seed="pass").replace("import random", "import random\nimport a_library_that_nobody_has")
    assert _verdict(tmp_path, "TL301", "default", text).verdict == "NOT REPRODUCED"


def test_the_mode_is_told_where_an_older_name_of_the_function_turns_it_on(tmp_path: Path) -> None:
    text = """
    import torch
    from torch import use_deterministic_algorithms as strict
    torch.use_deterministic_algorithms = True  # here
    strict(True)
    """
    said = _verdict(tmp_path, "TL201", "switch", text)
    assert said.verdict == "REFUTED", said.reason
    assert "line 4" in said.reason


_GYM = '''
"""As gymnasium has it: a generator of its own, seeded by `reset` alone."""

import random


class Space:
    def __init__(self):
        self.generator = random.Random()

    def sample(self):
        return self.generator.random()

    def contains(self, _):
        return True


class Env:
    def __init__(self):
        self.generator = random.Random()
        self.action_space = Space()

    def reset(self, *, seed=None):
        if seed is not None:
            self.generator = random.Random(seed)
        return self.generator.random(), {}


def make(_):
    return Env()
'''


@pytest.mark.parametrize(
    ("variant", "last", "verdict"),
    [
        ("default", "pass", "CONFIRMED"),
        ("default", "env.reset(seed=3)", "NOT REPRODUCED"),
        ("space", "env.reset(seed=3)", "CONFIRMED"),
    ],
)
def test_an_environment_that_nobody_seeds_begins_otherwise(
    tmp_path: Path, variant: str, last: str, verdict: str
) -> None:
    (tmp_path / "gymnasium.py").write_text(_GYM)
    text = f'import gymnasium as gym\nenv = gym.make("CartPole-v1")  # here\n{last}\n'
    said = probe(*ask_about(tmp_path, text, "TL312", variant=variant, search_paths=(tmp_path,)))
    assert said.verdict == verdict, said.reason


def test_an_environment_of_a_missing_library_is_skipped(tmp_path: Path) -> None:
    text = 'import gymnasium_of_nobody as gym\nenv = gym.make("CartPole-v1")  # here\n'
    assert _verdict(tmp_path, "TL312", "default", text).verdict == "SKIPPED"


_OLD, _NEW = (2, 6), (2, 13)
_ON = {"the determinism mode": "True"}


def _case(folder: Path, release: tuple[int, int], *events: Event) -> Case:
    context, finding = ask_about(folder, "import torch\n\n\nx = 1  # here\n", "TL204")
    return Case(context, finding, Observed(reached=True, events=list(events), switches=_ON), release)


def test_a_missing_workspace_is_for_old_releases_on_cuda_to_show(tmp_path: Path) -> None:
    for release, words in ((_OLD, "there is none here"), (_NEW, "does not read the variable")):
        said = environment_judges.judge_missing_workspace(_case(tmp_path, release))
        assert said.verdict == "NOT REPRODUCED"
        assert words in said.reason


@pytest.mark.parametrize("devices", [("all",), ("cuda",), ("cpu", "cuda")])
def test_a_device_that_is_there_is_not_said_to_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, devices: tuple[str, ...]
) -> None:
    context, finding = ask_about(tmp_path, "import torch\n\n\nx = 1  # here\n", "TL207")
    asked = replace(context, request=structs.replace(context.request, devices=devices))
    seen = Observed(reached=True, switches={"torch.backends.cudnn.benchmark": "True"})
    assert "there is no CUDA device here" in switch_judges.judge_benchmark(Case(asked, finding, seen, _NEW)).reason
    monkeypatch.setitem(environment._PRESENT, "cuda", lambda: True)
    assert "only a repeated run on CUDA" in switch_judges.judge_benchmark(Case(asked, finding, seen, _NEW)).reason


def test_a_workspace_that_a_line_sets_refutes_that_none_does(tmp_path: Path) -> None:
    write = Event(2, "environment", "CUBLAS_WORKSPACE_CONFIG", "None", "':4096:8'")
    assert environment_judges.judge_missing_workspace(_case(tmp_path, _OLD, write)).verdict == "REFUTED"


def test_a_workspace_after_the_first_use_of_cuda_is_not_refuted(tmp_path: Path) -> None:
    use = Event(2, "cuda", "first use of CUDA")
    write = Event(3, "environment", "CUBLAS_WORKSPACE_CONFIG", "None", "':4096:8'")
    said = environment_judges.judge_late_workspace(_case(tmp_path, _OLD, use, write))
    assert said.verdict == "NOT REPRODUCED"


def test_a_salted_seed_shows_in_interpreters_that_start_anew(tmp_path: Path) -> None:
    text = 'import random\nrandom.seed(hash("experiment"))  # here\n'
    said = _verdict(tmp_path, "TL302", "default", text)
    assert said.verdict == "CONFIRMED", said.reason
    assert seed_judges._flagged_text(Case(*ask_about(tmp_path, text, "TL302"), Observed(), _NEW)).startswith("random")


def test_the_variables_of_the_verifier_itself_do_not_hide_a_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    text = 'import os\nos.environ["PYTHONHASHSEED"] = "0"  # here\n'
    said = _verdict(tmp_path, "TL211", "default", text)
    assert said.verdict == "CONFIRMED", said.reason


_SLOW = """
import time
import torch
{before}
torch.backends.cudnn.benchmark = True  # here
{after}
"""
_FOR_EVER = "while True:\n    time.sleep(0.01)"


def test_a_line_that_is_not_reached_in_time_is_skipped_with_the_time_that_may_do(tmp_path: Path) -> None:
    text = _SLOW.format(before=_FOR_EVER, after="")
    said = probe(*ask_about(tmp_path, text, "TL207", seconds=2.0))
    assert said.verdict == "SKIPPED"
    assert said.reason == (
        "line 5 was not reached: it was stopped after 2 s, its part of `--timeout 2`: try a larger one, such as 10"
    )
    assert said.evidence["skipped"] == "time"


def test_a_line_that_was_reached_is_judged_although_the_program_goes_on(tmp_path: Path) -> None:
    text = _SLOW.format(before="pass", after=_FOR_EVER)
    said = probe(*ask_about(tmp_path, text, "TL207", seconds=2.0))
    assert said.verdict == "NOT REPRODUCED", said.reason


def test_a_program_that_no_step_can_end_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlint.recording.statements.observing.longest", lambda seconds: seconds)
    said = probe(*ask_about(tmp_path, _SLOW.format(before="time.sleep(600)", after=""), "TL207", seconds=2.0))
    assert said.verdict == "SKIPPED"
    assert "try a larger `--timeout`" in said.reason


@pytest.mark.parametrize(("code", "runs"), [("TL207", 1), ("TL301", 2), ("TL302", 3)])
def test_the_first_run_gets_what_no_other_run_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, runs: int
) -> None:
    monkeypatch.setattr("torchlint.recording.clock.monotonic", lambda: 0.0)
    monkeypatch.setattr("torchlint.recording.clock.waited", lambda _process=None: 0.0)
    context, finding = ask_about(tmp_path, "import torch\nx = 1  # here\n", code, seconds=100.0)
    assert context.seconds_for(finding, runs) == pytest.approx(90 / runs)
    given: list[float] = []

    def observe_apart(_request: object, _finding: object, _start: int, seconds: float) -> Observed:
        given.append(seconds)
        return Observed()

    monkeypatch.setattr("torchlint.recording.statements.case.observe_apart", observe_apart)
    probe(context, finding)
    assert given[0] == pytest.approx(90 / runs)
