"""Green is proof: what was not shown to be harmless is amber, with its place, and what was is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.audit import projects
from tests.report import audits
from torchlint import api
from torchlint.audit.page import Audit, Light, Line, Page
from torchlint.audit.unreached import NAME
from torchlint.checks.framework.registration import all_checks
from torchlint.config import Overrides
from torchlint.report.audit_html import html_lines
from torchlint.report.audit_text import Style, page_lines

Audited = Callable[[dict[str, str]], dict[str, Page]]

TRAINING = """
import torch
import torch.nn.functional as F

{first}

class Net(torch.nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.one = torch.nn.Linear(3, 3)

    def forward(self, x):
        {forward}

def main():
    {seed}
    net = Net({kind}).cuda()
    {load}
    optimiser = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(3):
        net(torch.randn(2, 3, 8, 8, device="cuda")).sum().backward()
        optimiser.step()

if __name__ == "__main__":
    main()
"""
PLAIN = {"first": "", "forward": "return self.one(x)", "seed": "torch.manual_seed(0)", "kind": "1", "load": ""}


@pytest.fixture
def audited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Audited:
    """Writes a project and returns the pages of its folder, by name."""

    def run(project: dict[str, str]) -> dict[str, Page]:
        monkeypatch.chdir(projects.write(project, tmp_path / "project"))
        found = api.audit_paths([], api.CheckOptions(overrides=Overrides(), jobs=1))
        assert found.internal_errors == ()
        return {page.subject.name: page for page in found.pages}

    return run


def program(**parts: str) -> dict[str, str]:
    return {"train.py": TRAINING.format(**{**PLAIN, **parts})}


def open_lines(page: Page, key: str) -> list[Line]:
    section = next(section for section in page.sections if section.key == key)
    return [line for line in section.lines if line.light]


SEEDS = {
    "a test of a configuration": (
        "import yaml\ncfg = yaml.safe_load(open('a.yaml'))",
        "if cfg['seed']: torch.manual_seed(cfg['seed'])",
    ),
    "a test around the call": (
        "from helpers import wanted\ndef seed_all():\n    torch.manual_seed(0)",
        "if wanted(): seed_all()",
    ),
    "a test that leaves before": (
        "from helpers import wanted\ndef seed_all():\n    if not wanted():\n        return\n    torch.manual_seed(0)",
        "seed_all()",
    ),
}
SURE_SEEDS = {
    "plain": ("", "torch.manual_seed(0)"),
    "a test of the machine": (
        "",
        "torch.manual_seed(0)\n    if torch.cuda.is_available(): torch.cuda.manual_seed_all(0)",
    ),
    "an option with a default": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--seed', default=3)\nargs = p.parse_args()",
        "if args.seed is not None: torch.manual_seed(args.seed)",
    ),
    "a function of the file": ("def seed_all(seed=1):\n    torch.manual_seed(seed)", "seed_all()"),
}


@pytest.mark.parametrize(("first", "seed"), SEEDS.values(), ids=SEEDS)
def test_a_seed_under_an_open_test_has_no_tick(audited: Audited, first: str, seed: str) -> None:
    pages = audited({**program(first=first, seed=seed), "helpers.py": "def wanted():\n    return input() == 'y'\n"})
    [line] = [line for line in open_lines(pages["train.py"], "seeds") if line.label == "torch"]
    assert line.light is Light.AMBER
    assert "which the code does not tell" in line.text
    assert [spot.note for spot in line.spots][-1] == "decides"


@pytest.mark.parametrize(("first", "seed"), SURE_SEEDS.values(), ids=SURE_SEEDS)
def test_a_seed_that_always_runs_has_one(audited: Audited, first: str, seed: str) -> None:
    assert open_lines(audited(program(first=first, seed=seed))["train.py"], "seeds") == []


def test_a_mode_behind_an_open_test_has_no_tick(audited: Audited) -> None:
    strict = "def strict():\n    torch.use_deterministic_algorithms(True)\n"
    open_one = program(first=f"from helpers import wanted\n{strict}", seed="if wanted(): strict()")
    helpers = {"helpers.py": "def wanted():\n    return input() == 'y'\n"}
    [line] = open_lines(audited({**open_one, **helpers})["train.py"], "mode")
    assert "on if `wanted()`, which the code does not tell" in line.text
    assert open_lines(audited({**program(first=strict, seed="strict()"), **helpers})["train.py"], "mode") == []


OPERATORS = {
    "a mode out of sight": "return F.interpolate(x, scale_factor=2, mode=self.kind)",
    "arguments out of sight": "return F.interpolate(x, **self.kind)",
    "a rank out of sight": "return F.cross_entropy(self.kind(x), self.kind(x))",
}


@pytest.mark.parametrize("forward", OPERATORS.values(), ids=OPERATORS)
def test_a_call_that_may_vary_is_open(audited: Audited, forward: str) -> None:
    project = {
        **program(first="from kinds import KIND", forward=forward, kind="KIND"),
        "kinds.py": "KIND = eval(input())\n",
    }
    [line] = [line for line in open_lines(audited(project)["train.py"], "operators") if "does not tell" in line.text]
    assert line.spots[0].source_line.strip() == forward


RESIZING = """
class Pyramid(torch.nn.Module):
    def __init__(self, mode):
        super().__init__()
        self.mode = mode

    def forward(self, x):
        x = F.interpolate(x, scale_factor=2, mode=self.mode)
        return F.interpolate(x, size=(9, 9), mode=self.mode)
"""
SETTINGS = {
    "an option": "import argparse\nargs = argparse.ArgumentParser().parse_args()\nnet = Pyramid(args.mode)",
    "a module of settings": "import settings\nnet = Pyramid(settings.MODE)",
    "a call": "from settings import chosen\nnet = Pyramid(chosen()['mode'])",
}


@pytest.mark.parametrize("making", SETTINGS.values(), ids=SETTINGS)
def test_calls_that_one_setting_decides_are_one_line(audited: Audited, making: str) -> None:
    settings = "MODE = eval(input())\n\ndef chosen():\n    return {'mode': eval(input())}\n"
    pyramid = f"import torch\nimport torch.nn.functional as F\n{RESIZING}"
    project = {
        **program(first=f"from pyramid import Pyramid\n{making}", forward="return net(x)"),
        "pyramid.py": pyramid,
        "settings.py": settings,
    }
    [line] = [one for one in open_lines(audited(project)["train.py"], "operators") if "comes from" in one.text]
    assert line.text.startswith("2 calls: it varies for some values, and `mode` comes from `")
    assert [spot.location.path for spot in line.spots][:1] == ["pyramid.py"]
    assert {spot.location.path for spot in line.spots} & {"train.py", "settings.py"}


def test_calls_to_which_other_files_give_a_steady_mode_are_not_open(audited: Audited) -> None:
    first = "from pyramid import Pyramid\nfrom settings import MODE\nnet = Pyramid(MODE)"
    pyramid = f"import torch\nimport torch.nn.functional as F\n{RESIZING}"
    project = {**program(first=first, forward="return net(x)"), "pyramid.py": pyramid}
    page = audited({**project, "settings.py": "MODE = 'nearest'\n"})["train.py"]
    assert open_lines(page, "operators") == []


def test_a_mode_that_other_files_give_only_sometimes_is_open(audited: Audited) -> None:
    first = "from pyramid import Pyramid\nfrom settings import MODE\nnet = Pyramid(input() or MODE)"
    pyramid = f"import torch\nimport torch.nn.functional as F\n{RESIZING}"
    choosing = RESIZING.replace("self.mode = mode", "self.mode = mode if mode else chosen()")
    chosen = f"import torch\nimport torch.nn.functional as F\nfrom settings import chosen\n{choosing}"
    settings = "MODE = 'nearest'\n\ndef chosen():\n    return 'nearest'\n"
    for text in (pyramid, chosen):
        project = {**program(first=first, forward="return net(x)"), "pyramid.py": text, "settings.py": settings}
        [line] = open_lines(audited(project)["train.py"], "operators")
        assert line.code == "TL103"


@pytest.mark.parametrize("mode", ["", ", mode='nearest'"])
def test_a_call_that_is_shown_not_to_vary_is_not(audited: Audited, mode: str) -> None:
    page = audited(program(forward=f"return F.interpolate(x, scale_factor=2{mode})"))["train.py"]
    assert not [line for line in open_lines(page, "operators") if "does not tell" in line.text]


ORDERS = {
    "a listing": ("import os\nfrom helpers import use\nuse(os.listdir('data'))", "TL401"),
    "a sorted walk": ("import os\nfrom helpers import use\nuse(sorted(os.walk('data')))", "TL401"),
    "a path that nothing is known of": ("from helpers import use, HOME\nuse(HOME.rglob('*.png'))", "TL401"),
    "an entry of a set": ("from helpers import use\nuse(list(set(use('names')))[0])", "TL402"),
    "numbers of entries of a set": (
        "from helpers import use\nprint(sorted(enumerate(set(use('names')))))",
        "TL402",
    ),
    "draws beside entries of a set": (
        "from helpers import use\nprint(sorted([(name, use(name)) for name in set(use('names'))]))",
        "TL402",
    ),
    "a hash": ("from helpers import use\nuse(hash('name'))", "TL403"),
    "a hash of what may be text": ("from helpers import use\nprint([n for n in ['a', 'b'] if hash(n) % 10])", "TL403"),
    "threads": ("import threading\nfrom helpers import use\nthreading.Thread(target=use).start()", "TL404"),
    "a pool of threads": (
        "from multiprocessing.pool import ThreadPool\nfrom helpers import use\nThreadPool(4).map(use, [1, 2])",
        "TL404",
    ),
    "processes": (
        "import multiprocessing\nfrom helpers import use\nmultiprocessing.Process(target=use).start()",
        "TL404",
    ),
    "a counter of all workers": ("from multiprocessing import Value\ncount = Value('i', -1)", "TL404"),
    "memory of all workers": ("import torch.multiprocessing as mp\ncount = mp.Array('i', 3)", "TL404"),
    "what finishes first": (
        "import concurrent.futures as f\nfrom helpers import use\nfor one in f.as_completed(use()): use(one)",
        "TL404",
    ),
}


@pytest.mark.parametrize(("first", "code"), ORDERS.values(), ids=ORDERS)
def test_an_order_that_was_not_followed_is_open(audited: Audited, first: str, code: str) -> None:
    project = {**program(first=first), "helpers.py": "def use(*x):\n    return eval(input())\n\nHOME = use()\n"}
    assert [line.code for line in open_lines(audited(project)["train.py"], "order")] == [code]


@pytest.mark.parametrize(
    "first",
    [
        "import os\nprint(len(os.listdir('data')))",
        "import os\nnames = sorted(os.listdir('data'))\nprint(names)",
        "import os\nnames = os.listdir('data')\nnames.sort()\nprint(names[0])",
        "import os\nnames = os.listdir('data')\nassert 'a.txt' in names and names",
        "known = set(open('names.txt').read().split())\nprint('a' in known, len(known))",
        "names = sorted(list(set(open('names.txt').read().split())))\nprint(names[0])",
        "names = sorted([name.strip for name in set(open('names.txt').read().split())])\nprint(names[0])",
        "sizes = {len(name) for name in set(open('names.txt').read().split())}\nprint(len(sizes))",
    ],
)
def test_an_order_that_decides_nothing_is_not(audited: Audited, first: str) -> None:
    assert open_lines(audited(program(first=first))["train.py"], "order") == []


def test_code_that_no_name_leads_to_counts_and_is_said_to(audited: Audited) -> None:
    hidden = (
        "import os\ndef build_lines():\n    return [name for name in os.listdir('data')]\neval('build_' + input())()"
    )
    [line] = open_lines(audited(program(first=hidden))["train.py"], "order")
    assert line.text.endswith("(in code that may not run)")


EARLY = {
    "a class's body": "class Settings:\n    angle = draw()\n",
    "a table": "ANGLES = {'one': draw()}\n",
    "a default": "def turned(angle=draw()):\n    return angle\n",
}


@pytest.mark.parametrize("body", EARLY.values(), ids=EARLY)
def test_a_draw_at_an_import_may_come_before_the_seed(audited: Audited, body: str) -> None:
    drawing = "import random\n\ndef draw():\n    return random.random()\n\n"
    seed = "torch.manual_seed(0); random.seed(0); import settings; print(settings.draw())"
    seeded = program(first="import random", seed=seed)
    [line] = open_lines(audited({**seeded, "settings.py": drawing + body})["train.py"], "seeds")
    assert "where it is imported" in line.text
    assert line.spots[-1].location.path == "settings.py"
    assert open_lines(audited({**seeded, "settings.py": drawing})["train.py"], "seeds") == []


TOO_EARLY = {
    "a value": "x = torch.randn(9)\n    torch.manual_seed(0)",
    "a value of a function": "x = drawn()\n    torch.manual_seed(0)",
}


@pytest.mark.parametrize("seed", TOO_EARLY.values(), ids=TOO_EARLY)
def test_a_draw_before_the_seed_has_no_tick(audited: Audited, seed: str) -> None:
    page = audited(program(first="def drawn():\n    return torch.randn(9)\n", seed=seed))["train.py"]
    [line] = open_lines(page, "seeds")
    assert (line.light, line.spots[-1].note) == (Light.AMBER, "draws before")
    late_body = program(first="LATE = torch.randn(9)")
    [line] = open_lines(audited(late_body)["train.py"], "seeds")
    assert "where it is imported" in line.text


ENTROPY = {
    "a draw": "import random\nfrom seeding import seed_all\nseed_all(random.randint(0, 9))",
    "a clock": "import time\nfrom seeding import seed_all\nseed_all(int(time.time()))",
    "one of two": "import os\nfrom seeding import seed_all\nseed_all(3)\nseed_all(os.getpid())",
}


@pytest.mark.parametrize("first", ENTROPY.values(), ids=ENTROPY)
def test_a_seed_that_a_caller_may_draw_has_no_tick(audited: Audited, first: str) -> None:
    seeding = {"seeding.py": "import torch\n\ndef seed_all(seed):\n    torch.manual_seed(seed)\n"}
    page = audited({**program(first=first, seed=""), **seeding})["train.py"]
    assert {line.code for line in open_lines(page, "seeds")} >= {"TL302"}
    sure = "from seeding import seed_all\nseed_all(3)"
    assert open_lines(audited({**program(first=sure, seed=""), **seeding})["train.py"], "seeds") == []


UNFILLED = "class Scale(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        {made}\n{more}"
FILLED = {
    "in place": "        self.scale.data.fill_(1)\n",
    "by torch": "        torch.nn.init.ones_(self.scale)\n",
    "all of them": "        for one in self.parameters():\n            one.data.zero_()\n",
    "in a method": "        self.reset()\n    def reset(self):\n        torch.nn.init.ones_(self.scale)\n",
}


@pytest.mark.parametrize("made", ["torch.Tensor(3, 4)", "torch.empty(3)"])
@pytest.mark.parametrize("more", FILLED.values(), ids=FILLED)
def test_a_parameter_without_values_is_open(audited: Audited, made: str, more: str) -> None:
    made = f"self.scale = torch.nn.Parameter({made})"
    read = "    def forward(self, x):\n        return x * self.scale\n"
    first = UNFILLED.format(made=made, more=read)
    [line] = open_lines(audited(program(first=first, load="Scale().load_state_dict({})"))["train.py"], "operators")
    assert line.code == "TL118"
    assert line.text.endswith("nothing in its class is seen to give it any")
    filled = program(first=UNFILLED.format(made=made, more=more + read), load="Scale()")
    assert open_lines(audited(filled)["train.py"], "operators") == []


@pytest.mark.parametrize(
    "load",
    [
        "net.load_state_dict(torch.load('a.pt'))",
        "print(torch.load('a.pt'))",
        "net.load_checkpoint('a.pt')",
        "import pickle; net = pickle.load(open('model.pkl', 'rb'))",
        "net.trainer.resume_from_checkpoint = 'a.pt'",
    ],
)
def test_a_state_that_is_loaded_leaves_restarts_open(audited: Audited, load: str) -> None:
    [line] = open_lines(audited(program(load=load))["train.py"], "restarts")
    assert (line.code, line.light) == ("TL313", Light.AMBER)


LEFTOVERS = {
    "a cache": ("import json, os", "rows = json.load(open('c.json')) if os.path.exists('c.json') else None", True),
    "a cache in a branch": ("import json, os", "if os.path.exists('c.json'): print(json.load(open('c.json')))", True),
    "a cache that is made": (
        "import numpy as np\nfrom pathlib import Path",
        "if not Path('c.npy').exists(): np.save('c.npy', 1)\n    else: print(np.load('c.npy'))",
        True,
    ),
    "a folder that is made": ("import os", "if not os.path.exists('out'): os.makedirs('out')", False),
}


@pytest.mark.parametrize(("first", "load", "is_open"), LEFTOVERS.values(), ids=LEFTOVERS)
def test_a_file_that_an_earlier_run_may_have_left_is_open(
    audited: Audited, first: str, load: str, *, is_open: bool
) -> None:
    lines = open_lines(audited(program(first=first, load=load))["train.py"], "restarts")
    assert [line.code for line in lines] == (["TL313"] if is_open else [])


def test_restored_generators_close_it(audited: Audited) -> None:
    load = "state = torch.load('a.pt'); net.load_state_dict(state['net']); torch.set_rng_state(state['torch'])"
    assert open_lines(audited(program(load=load))["train.py"], "restarts") == []


def test_an_environment_that_nothing_seeds_is_open(audited: Audited) -> None:
    first = "import gym\nfrom helpers import wrapped\nenv = wrapped(gym.make('CartPole-v1'))\nenv.reset()"
    helpers = {"helpers.py": "def wrapped(env):\n    return eval(input())(env)\n"}
    [line] = open_lines(audited({**program(first=first), **helpers})["train.py"], "randomness")
    assert (line.label, line.light) in (("environment", Light.AMBER), ("unseeded-environment", Light.RED))
    seeded = first.replace("env.reset()", "env.reset(seed=0)")
    assert open_lines(audited({**program(first=seeded), **helpers})["train.py"], "randomness") == []


def test_an_environment_beside_those_that_are_seeded_is_open(audited: Audited) -> None:
    making = "import gym\ndef made(seed):\n    env = gym.make('CartPole-v1')\n    env.seed(seed)\n    return env\n"
    other = "def tested():\n    env = gym.make('CartPole-v1')\n    env.reset()\n"
    [line] = open_lines(audited(program(first=f"{making}{other}made(0)\ntested()"))["train.py"], "randomness")
    assert [spot.location.line for spot in line.spots] == [11]
    assert open_lines(audited(program(first=f"{making}made(0)"))["train.py"], "randomness") == []
    both = "import gym\none = gym.make('CartPole-v1')\none.reset(seed=1)\ntwo = gym.make('CartPole-v1')\ntwo.reset()\n"
    [line] = open_lines(audited(program(first=both))["train.py"], "randomness")
    assert len(line.spots) == 2


def test_timing_that_may_choose_is_open(audited: Audited) -> None:
    first = "from helpers import wanted\ntorch.backends.cudnn.benchmark = wanted()"
    helpers = {"helpers.py": "def wanted():\n    return input() == 'y'\n"}
    assert open_lines(audited({**program(first=first), **helpers})["train.py"], "switches")
    assert not open_lines(audited(program(first="torch.backends.cudnn.benchmark = False"))["train.py"], "switches")


def test_a_shared_model_is_open(audited: Audited) -> None:
    [line] = open_lines(audited(program(load="net.share_memory()"))["train.py"], "workers")
    assert line.code == "TL503"


def test_files_that_no_program_runs_have_a_page(audited: Audited) -> None:
    tool = (
        "import os\nimport random\n\ndef split(folder):\n    names = os.listdir(folder)\n"
        "    random.shuffle(names)\n    return names\n"
    )
    page = audited({**program(), "tools/split.py": tool, "quiet.py": "def double(x):\n    return 2 * x\n"})[NAME]
    assert {section.key for section in page.sections} == {"seeds", "order"}
    assert page.subject.kind == "1 file"
    assert {spot.location.path for section in page.sections for line in section.lines for spot in line.spots} == {
        "tools/split.py"
    }


@pytest.mark.parametrize("resize", ["F.interpolate(x, scale_factor=2, mode='bilinear')", "F.interpolate(x, mode=kind)"])
def test_operators_of_files_that_no_program_runs_are_on_their_page(audited: Audited, resize: str) -> None:
    hidden = (
        "import torch\nimport torch.nn.functional as F\n\nclass Up(torch.nn.Module):\n"
        f"    def forward(self, x, kind):\n        return {resize}\n"
    )
    page = audited({**program(), "zoo/up.py": hidden})[NAME]
    assert [spot.location.path for line in open_lines(page, "operators") for spot in line.spots] == ["zoo/up.py"]


def test_whoever_asks_for_a_file_gets_its_page_alone(audited: Audited) -> None:
    audited({**program(), "tools.py": "import os\nimport torch\nprint(torch.rand(2), os.listdir('.'))\n"})
    found = api.audit_paths(["train.py"], api.CheckOptions(overrides=Overrides(), jobs=1))
    assert [page.subject.name for page in found.pages] == ["train.py"]


def test_answers_of_an_engine_are_no_draws_of_a_generator(audited: Audited) -> None:
    asking = (
        "import json\nimport torch\nfrom vllm import LLM\n\n\ndef main():\n    llm = LLM('tiny')\n"
        "    json.dump([one.text for one in llm.generate(['a'])], open('out.json', 'w'))\n\n\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    assert open_lines(audited({"ask.py": asking})["ask.py"], "seeds") == []


@pytest.mark.parametrize(
    "asking", ["requests.post('http://localhost', json={})", "requests.Session().post('http://localhost')"]
)
def test_a_server_that_a_training_asks_is_open(audited: Audited, asking: str) -> None:
    [line] = open_lines(audited(program(first="import requests", load=f"print({asking})"))["train.py"], "workers")
    assert line.code == "TL506"


def test_rules_that_are_off_by_default_leave_points_open(audited: Audited) -> None:
    reading = program(forward="return self.one(x[torch.randint(0, 2, (8,))])")
    [line] = [one for one in open_lines(audited(reading)["train.py"], "operators") if one.code]
    assert (line.code, line.light) == ("TL107", Light.AMBER)
    report = api.check_paths([Path()], api.CheckOptions(overrides=Overrides(), jobs=1))
    assert "TL107" not in {one.code for one in report.diagnostics}
    ignoring = {**reading, "torchlint.toml": 'ignore = ["TL107"]\n'}
    assert not [one for one in open_lines(audited(ignoring)["train.py"], "operators") if one.code]


def test_check_says_nothing_of_open_points(audited: Audited) -> None:
    audited(program(forward=OPERATORS["a mode out of sight"], load="net.load_state_dict(torch.load('a.pt'))"))
    report = api.check_paths([Path()], api.CheckOptions(overrides=Overrides(), jobs=1))
    assert report.left_open == ()
    assert not [one for one in report.diagnostics if one.variant == "open"]


def test_each_rule_that_leaves_points_open_has_words_for_them() -> None:
    from torchlint.catalogue import load_catalogue

    catalogue = load_catalogue()
    codes = {code for one in all_checks() if one.is_open for code in one.codes(catalogue)}
    assert {"TL103", "TL313", "TL401", "TL402", "TL403", "TL404", "TL503"} <= codes
    assert all("open" in catalogue.rules[code].messages for code in codes)


def test_the_last_of_many_open_points_are_folded() -> None:
    lines = [Line(f"point {number}", "may vary", Light.AMBER, advice="Mend it.") for number in range(11)]
    page = audits.page("a.py", *lines)
    assert page.folded == tuple(lines[8:])
    printed = list(page_lines(Audit((page,)), Style()))
    assert sum("Mend it." in line for line in printed) == 8
    assert sum(line.startswith("  ! point") for line in printed) == 11
    assert any("3 open points that were a cause less often" in line for line in printed)
    html = "\n".join(html_lines(Audit((page,))))
    assert html.count("What to do, and where") == 3
    assert html.count("Mend it.") == 11
