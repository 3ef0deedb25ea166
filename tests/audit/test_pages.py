"""What the pages say of small projects, through the public interface."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.audit import projects
from torchlint.api import CheckOptions, audit_paths
from torchlint.audit.data import WORKER_CODES
from torchlint.audit.page import Light, Line, Page, Section
from torchlint.audit.seeds import CODES as SEED_CODES
from torchlint.audit.surroundings import ENVIRONMENT_CODES, MODE_CODES, SWITCH_CODES
from torchlint.catalogue import load_catalogue
from torchlint.config import Overrides
from torchlint.errors import ConfigError, NoProgram

Audited = Callable[..., dict[str, Page]]


@pytest.fixture
def audited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Audited:
    """Writes a project and returns the pages of its programs, by name."""

    def run(project: dict[str, str], *entries: str, overrides: Overrides = Overrides()) -> dict[str, Page]:
        monkeypatch.chdir(projects.write(project, tmp_path / "project"))
        found = audit_paths(entries, CheckOptions(overrides=overrides, jobs=1))
        assert found.internal_errors == ()
        return {page.subject.name: page for page in found.pages}

    return run


def section(page: Page, key: str) -> Section:
    return next(section for section in page.sections if section.key == key)


def line(page: Page, key: str, label: str) -> Line:
    return next(line for line in section(page, key).lines if line.label == label)


def test_each_section_of_a_loose_program(audited: Audited) -> None:
    page = audited(projects.LOOSE)["train.py"]
    assert {section.key: section.light for section in page.sections} == {
        "seeds": Light.RED,
        "mode": Light.AMBER,
        "switches": Light.RED,
        "environment": Light.GREEN,
        "torch": Light.AMBER,
        "operators": Light.RED,
        "order": Light.RED,
        "workers": Light.GREEN,
        "restarts": Light.GREEN,
        "randomness": Light.GREEN,
    }
    assert page.light is Light.RED
    assert page.verdict == "4 reasons found why two runs may differ, 4 points left open"


def test_seeds_are_told_by_library_with_their_places(audited: Audited) -> None:
    page = audited(projects.LOOSE)["train.py"]
    torch, numpy = line(page, "seeds", "torch"), line(page, "seeds", "numpy.random")
    assert torch.light is Light.GREEN
    assert [(str(spot), spot.note) for spot in torch.spots] == [("train.py:20", "seeds"), ("train.py:24", "first draw")]
    assert (numpy.light, numpy.code) == (Light.RED, "TL301")
    assert numpy.spots[0].source_line.strip() == "order = np.random.permutation(len(class_of))"
    assert line(page, "seeds", "random").light is None


def test_a_variable_of_a_dockerfile_has_its_place_and_line(audited: Audited) -> None:
    found = line(audited(projects.LOOSE)["train.py"], "environment", "PYTHONHASHSEED")
    assert (found.light, found.text) == (Light.GREEN, "set to `0`")
    assert [(str(spot), spot.source_line) for spot in found.spots] == [("Dockerfile:2", "ENV PYTHONHASHSEED=0")]


def test_operators_are_grouped_and_context_explains(audited: Audited) -> None:
    page = audited(projects.LOOSE)["train.py"]
    reported, context = line(page, "operators", "bicubic interpolation"), line(page, "operators", "convolutions")
    assert reported.text == "varies; the mode would raise here"
    assert [str(spot) for spot in reported.spots] == ["segment/model.py:14"]
    assert context.light is Light.AMBER
    assert context.text == "may vary on CUDA while the mode is off (2 calls)"


_ENLARGING = """\
import torch
from torchvision.models import segmentation
if __name__ == "__main__":
    torch.manual_seed(0)
    torch.backends.cudnn.deterministic = True
    network = segmentation.deeplabv3_resnet50(weights=None).cuda()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    network(torch.randn(2, 3, 64, 64).cuda())["out"].mean().backward()
    optimizer.step()
"""


def test_what_a_model_of_a_library_holds_has_a_line(audited: Audited) -> None:
    page = audited({"train.py": _ENLARGING})["train.py"]
    held, restricted = line(page, "operators", "bilinear interpolation"), line(page, "operators", "convolutions")
    assert (held.light, held.text) == (Light.AMBER, "may vary on CUDA while the mode is off (1 call)")
    assert [str(spot) for spot in held.spots] == ["train.py:6"]
    assert restricted.text == "deterministic kernels on CUDA: cudnn.deterministic = True (1 call)"


def test_a_backward_pass_counts_where_something_is_seen_to_train(audited: Audited) -> None:
    text = projects.LOOSE["train.py"].replace("loss.backward()", "print(loss)")
    found = line(audited({**projects.LOOSE, "train.py": text})["train.py"], "operators", "bicubic interpolation")
    assert found.light is Light.AMBER
    assert found.text.startswith("only in its backward pass, and no training was seen: ")


def test_nothing_is_found_in_a_strict_program(audited: Audited) -> None:
    page = audited(projects.STRICT)["train.py"]
    assert {section.light for section in page.sections} == {Light.GREEN}
    assert page.verdict == "No reason found why two runs would differ"
    assert line(page, "mode", "mode").text == "on"
    assert "promises equal numbers" in page.unseen[-1]


def test_a_shared_file_is_judged_by_each_programs_own_mode(audited: Audited) -> None:
    pages = audited(projects.TWO_MODES)
    assert list(pages) == ["quick.py", "steady.py"]
    assert section(pages["quick.py"], "operators").light is Light.RED
    assert section(pages["steady.py"], "operators").light is Light.GREEN
    assert [str(spot) for spot in line(pages["quick.py"], "mode", "elsewhere").spots] == ["steady.py:7"]


def test_a_program_that_stays_on_the_cpu_is_told_nothing_of_cuda(audited: Audited) -> None:
    on_cpu = {path: text.replace(".cuda()", "") for path, text in projects.TWO_MODES.items()}
    page = audited(on_cpu)["quick.py"]
    assert page.subject.devices == ("cpu",)
    assert section(page, "operators").light is Light.GREEN
    assert line(page, "mode", "mode").light is None
    assert "CUBLAS_WORKSPACE_CONFIG" not in {one.label for one in section(page, "environment").lines}


def test_assuming_the_mode_shows_what_would_raise(audited: Audited) -> None:
    page = audited(projects.LOOSE, overrides=Overrides(assume_deterministic=True))["train.py"]
    assert line(page, "operators", "bicubic interpolation").text == "raises: the determinism mode is on"
    assert line(page, "operators", "convolutions").light is Light.GREEN
    assert line(page, "environment", "CUBLAS_WORKSPACE_CONFIG").light is Light.AMBER


def test_code_that_is_not_seen_to_run_leaves_a_point_open(audited: Audited) -> None:
    project = {
        **projects.STRICT,
        "train.py": projects.STRICT["train.py"].replace("import torch\n", "import torch\nimport listing\n", 1),
        "listing.py": "import os\nimport torch\n\n\ndef classes(folder):\n"
        "    return {name: index for index, name in enumerate(os.listdir(folder))}\n",
    }
    found = line(audited(project)["train.py"], "order", "unsorted-listing")
    assert found.light is Light.AMBER
    assert found.text.endswith("(in code that may not run)")
    used = {**project, "train.py": project["train.py"].replace("torch.manual_seed(1)", "listing.classes('.')")}
    assert line(audited(used)["train.py"], "order", "unsorted-listing").light is Light.RED


def test_methods_of_made_objects_and_of_their_bases_count_as_run(audited: Audited) -> None:
    project = {
        "pyproject.toml": projects.STRICT["pyproject.toml"],
        "train.py": "import os\nimport torch\n\n\nclass Base:\n    def names(self):\n"
        "        return {name: index for index, name in enumerate(os.listdir('.'))}\n\n\n"
        "class Scenes(Base):\n    pass\n\n\nclass Unused:\n    def names(self):\n"
        "        return {name: index for index, name in enumerate(os.listdir('.'))}\n\n\n"
        "if __name__ == '__main__':\n    torch.manual_seed(0)\n    print(Scenes().names())\n",
    }
    lines = section(audited(project)["train.py"], "order").lines
    assert [(found.light, [spot.location.line for spot in found.spots]) for found in lines] == [
        (Light.RED, [7]),
        (Light.AMBER, [16]),
    ]


def test_a_seed_that_nobody_can_look_into_is_left_open(audited: Audited) -> None:
    text = projects.STRICT["train.py"].replace("import torch\n", "import torch\nimport kit\n", 1)
    project = {**projects.STRICT, "train.py": text.replace("torch.manual_seed(1)", "kit.set_seed(1)")}
    found = line(audited(project)["train.py"], "seeds", "torch")
    assert (found.light, found.text) == (
        Light.AMBER,
        "the program draws from it; perhaps seeded by `kit.set_seed` (torchlint cannot read this code)",
    )


def test_notebooks_have_cells_in_their_places(audited: Audited) -> None:
    page = audited(projects.NOTEBOOK, "study.ipynb")["study.ipynb"]
    assert [str(spot) for spot in line(page, "seeds", "numpy.random").spots] == ["study.ipynb:cell 2:3"]
    assert "too late" in line(page, "environment", "PYTHONHASHSEED").text
    assert any("Cells are read in the order" in cut for cut in page.unseen)


def test_a_guard_that_only_starts_commands_is_no_program_of_its_own(audited: Audited) -> None:
    assert list(audited(projects.COMMANDS)) == ["tool.py::train", "tool.py::predict"]
    assert list(audited(projects.COMMANDS, "tool.py::predict")) == ["tool.py::predict"]
    single = "import click\nimport torch\n\n\n@click.command()\ndef main():\n    print(torch.rand(3))\n\n\n"
    guard = 'if __name__ == "__main__":\n    main()\n'
    assert list(audited({"pyproject.toml": "", "one.py": single + guard}, "one.py")) == ["one.py"]


def test_tests_are_left_out_and_examples_come_last(audited: Audited) -> None:
    project = {**projects.LOOSE, "examples/demo.py": projects.STRICT["train.py"], "a_tool.py": "print(1)\n"}
    assert list(audited(project)) == ["train.py", "examples/demo.py"]


def test_what_starts_no_program_says_who_reaches_it(audited: Audited) -> None:
    with pytest.raises(NoProgram, match=r"segment/data.py starts no program; these programs reach it: train.py$"):
        audited(projects.LOOSE, "segment/data.py")
    with pytest.raises(NoProgram, match="no main guard, no command"):
        audited({"a.py": "x = 1\n"}, "a.py")
    with pytest.raises(NoProgram, match="cannot be read as Python"):
        audited({"a.py": "def (:\n"}, "a.py")
    with pytest.raises(NoProgram, match=r"there is tool.py::__main__, tool.py::train, tool.py::predict$"):
        audited(projects.COMMANDS, "tool.py::teach")


def test_a_wrong_option_is_reported_although_there_is_nothing_to_audit(audited: Audited) -> None:
    with pytest.raises(ConfigError, match="torch"):
        audited(projects.STRICT, overrides=Overrides(torch="soon"))


def test_every_rule_about_reproducibility_has_a_section() -> None:
    codes = {code for code in load_catalogue().rules if code.startswith("TL2")}
    assert codes == MODE_CODES | SWITCH_CODES | ENVIRONMENT_CODES
    assert not SEED_CODES & WORKER_CODES
    assert {code[:3] for code in load_catalogue().rules} == {"TL0", "TL1", "TL2", "TL3", "TL4", "TL5", "TL6"}


def test_rules_of_the_project_have_a_section_of_their_own(audited: Audited) -> None:
    rule = (
        'code = "ACM001"\nname = "banned-call"\nstatus = "stable"\nsince = "1.0"\nseverity = "warning"\n'
        'confidence = "high"\nsummary = "A call that the team does not want."\nwhy = "It varies. It does so often."\n'
        'bad = "import kit\\nkit.go()"\ngood = "pass"\n'
        '[messages]\ndefault = "banned"\n[advice]\ndefault = "Do not."\n[[detect]]\ncall = ["kit.go"]\n'
        '[fix]\nsafety = "none"\none = "drop the call"\nmany = "drop {count} calls"\n'
    )
    project = {
        "pyproject.toml": '[tool.torchlint]\nextend-rules = ["lint"]\nextend-select = ["ACM"]\n',
        "lint/ACM001-banned-call.toml": rule,
        "go.py": 'import kit\nimport torch\n\nif __name__ == "__main__":\n    torch.manual_seed(0)\n    kit.go()\n',
    }
    page = audited(project)["go.py"]
    assert [found.code for found in section(page, "own").lines] == ["ACM001"]
    assert all(section.key != "own" for section in audited(projects.STRICT, "train.py")["train.py"].sections)


_FITTED = (
    "from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments\n\n\n"
    "def main():\n    model = AutoModelForSequenceClassification.from_pretrained('bert')\n"
    "    Trainer(model=model, args=TrainingArguments(output_dir='out', full_determinism=True)).train()\n\n\n"
    "if __name__ == '__main__':\n    main()\n"
)
_UNSEEN = (
    "import torch\nimport zoo\n\n\ndef main():\n    torch.backends.cudnn.deterministic = True\n"
    "    model = zoo.create('small')\n    optimizer = torch.optim.SGD(model.parameters())\n"
    "    model(torch.ones(2, 3)).sum().backward()\n    optimizer.step()\n\n\n"
    "if __name__ == '__main__':\n    main()\n"
)


def test_a_trainer_that_seeds_by_itself_is_seen_to_train(audited: Audited) -> None:
    page = audited({"train.py": _FITTED})["train.py"]
    assert page.subject.trains is not None
    assert page.subject.trains.location.line == 6


def test_a_training_whose_draws_are_not_seen_is_left_open(audited: Audited) -> None:
    found = line(audited({"train.py": _UNSEEN})["train.py"], "seeds", "torch")
    assert (found.light, found.text) == (Light.AMBER, "no seed; the draws of this training were not seen")


def test_a_mode_that_would_change_nothing_is_no_open_point(audited: Audited) -> None:
    found = line(audited({"train.py": _UNSEEN})["train.py"], "mode", "mode")
    assert (found.light, found.text) == (Light.AMBER, "off; which kernels zoo runs was not read")
    known = _UNSEEN.replace("import zoo\n", "")
    plain = line(
        audited({"train.py": known.replace("zoo.create('small')", "torch.nn.Linear(3, 3)")})["train.py"], "mode", "mode"
    )
    assert (plain.light, plain.text) == (None, "off, and the program reaches no code that is known to depend on it")
    built = line(
        audited({"train.py": known.replace("zoo.create('small')", "eval(input())")})["train.py"], "mode", "mode"
    )
    assert (built.light, built.text) == (
        Light.AMBER,
        "off; no layer of what is trained was seen, so its kernels may vary",
    )
    convolving = known.replace("zoo.create('small')", "torch.nn.Conv2d(3, 4, 3)")
    steadied = audited({"train.py": convolving})["train.py"]
    assert line(steadied, "mode", "mode").light is None
    unsteady = audited({"train.py": convolving.replace("cudnn.deterministic = True", "cudnn.enabled = True")})[
        "train.py"
    ]
    assert line(unsteady, "mode", "mode").light is Light.AMBER


_BY_OPTION = (
    "import argparse\nimport torch\nfrom torch import nn\n\n\ndef main():\n    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument('--deterministic', action='store_true')\n    args = parser.parse_args()\n"
    "    torch.manual_seed(1)\n    if args.deterministic:\n        SWITCH\n    net = nn.Conv2d(3, 8, 3).cuda()\n"
    "    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n    net(torch.ones(1, 3, 8, 8)).sum().backward()\n"
    "    optimizer.step()\n\n\nmain()\n"
)


def test_a_mode_that_is_off_is_told_by_whether_anything_seeds(audited: Audited) -> None:
    code = (
        "import torch\nfrom torch import nn\n\n\ndef main():\n    {seed}\n    net = nn.Conv2d(3, 8, 3).cuda()\n"
        "    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "    net(torch.rand(4, 3, 8, 8).cuda()).mean().backward()\n    optimizer.step()\n\n\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    pages = audited({"with_seed.py": code.format(seed="torch.manual_seed(0)"), "without.py": code.format(seed="pass")})
    told = {name: (line(page, "mode", "mode").text, line(page, "mode", "mode").code) for name, page in pages.items()}
    assert told == {
        "with_seed.py": ("off, although the program seeds and trains", "TL210"),
        "without.py": ("off, although the program trains with kernels that vary", "TL210"),
    }


def test_what_an_option_turns_on_is_no_fact_where_nobody_gives_it(audited: Audited) -> None:
    restricted = _BY_OPTION.replace("SWITCH", "torch.backends.cudnn.deterministic = True")
    page = audited({"train.py": restricted}, "train.py")["train.py"]
    told = line(page, "operators", "convolutions")
    assert told.text.startswith("may vary on CUDA: cudnn.deterministic = True only where `--deterministic` is given")
    assert told.light is Light.AMBER
    assert line(page, "switches", "cudnn.deterministic").text == "True, only where `--deterministic` is given"
    switched = _BY_OPTION.replace("SWITCH", "torch.use_deterministic_algorithms(True)")
    page = audited({"train.py": switched}, "train.py")["train.py"]
    assert line(page, "mode", "mode").text == "off unless `--deterministic` is given"
    by_default = switched.replace("action='store_true'", "action='store_false'")
    page = audited({"train.py": by_default}, "train.py")["train.py"]
    assert line(page, "mode", "mode").text == "depends on an option"


def test_a_switch_that_a_run_decides_is_no_open_point_of_its_own(audited: Audited) -> None:
    decided = _UNSEEN.replace("zoo.create('small')", "torch.nn.Conv2d(3, 4, 3)").replace(
        "= True", "= len(__file__) > 9"
    )
    found = line(audited({"train.py": decided})["train.py"], "operators", "convolutions")
    assert found.light is None
    assert "cudnn.deterministic = True, which is decided at run time" in found.text


TRAINING = """\
import time
import torch
from data import Noisy
from torch import nn
from torch.utils.data import DataLoader


def main():
    seed = 0
    BEFORE
    model = nn.Linear(3, 1)
    AFTER
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in DataLoader(Noisy(), batch_size=4, num_workers=WORKERS):
        model(x).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""
NOISY = """\
import numpy as np
import torch
from torch.utils.data import Dataset


class Noisy(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.zeros(3) + np.random.rand()
"""


def training(*, before: str = "torch.manual_seed(0)", after: str = "pass", workers: int = 0) -> dict[str, str]:
    text = TRAINING.replace("BEFORE", before).replace("AFTER", after).replace("WORKERS", str(workers))
    return {"train.py": text, "data.py": NOISY}


@pytest.mark.parametrize(
    ("project", "label", "light", "words"),
    [
        pytest.param(training(), "numpy.random", Light.RED, "nothing seeds it", id="drawn in another module"),
        pytest.param(training(workers=2), "numpy.random", None, "only in what data loaders run", id="in workers"),
        pytest.param(training(), "torch", Light.GREEN, "seeded by", id="seeded"),
        pytest.param(
            training(before="torch.manual_seed(int(time.time()))"), "torch", None, "see entropy-seed", id="by the clock"
        ),
        pytest.param(
            training(before="pass", after="torch.manual_seed(0)"), "torch", None, "see late-seed", id="too late"
        ),
        pytest.param(
            training(before="if seed: torch.manual_seed(seed)"), "torch", Light.RED, "since `seed` is 0", id="never"
        ),
    ],
)
def test_a_generator_is_seeded_drawn_from_or_left_to_workers(
    audited: Audited, project: dict[str, str], label: str, light: Light | None, words: str
) -> None:
    found = line(audited(project)["train.py"], "seeds", label)
    assert (found.light, words in found.text) == (light, True)


PROGRAMS_IN_DOUBT = {
    "draws alone": "import torch\n\nif __name__ == '__main__':\n    print(torch.rand(3))\n",
    "a mode that is off": _UNSEEN.replace("import zoo\n", "").replace(
        "zoo.create('small')", "torch.nn.Conv2d(3, 4, 3)"
    ),
    "a model out of sight": _UNSEEN,
}


@pytest.mark.parametrize("program", PROGRAMS_IN_DOUBT.values(), ids=PROGRAMS_IN_DOUBT)
def test_each_open_line_says_what_closes_it(program: str, audited: Audited) -> None:
    page = audited({"train.py": program})["train.py"]
    lines = [line for section in page.sections for line in section.lines if line.light]
    assert lines
    assert [line.label for line in lines if not line.advice] == []
