"""What the catalogue says about torch, asked of the torch that is installed.

torchlint never needs torch to check a file, so these tests run only where one is at hand.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from tests.catalogue.fresh_torch import run_fresh
from tests.catalogue.signatures import EMPTY, Parameter, resolve, signatures, target
from torchlint.catalogue import load_catalogue
from torchlint.catalogue.detection import Condition
from torchlint.catalogue.load import load_values
from torchlint.catalogue.programs import SwitchModule
from torchlint.catalogue.registry import Spelling, Surroundings
from torchlint.catalogue.values import Kind
from torchlint.catalogue.versions import Minor, VersionRange, parse_minor
from torchlint.catalogue.wording import spelled

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]

CATALOGUE = load_catalogue()
SPELLINGS = [s for operator in CATALOGUE.operators if operator.library == "torch" for s in operator.spelling]
CONDITIONS = [(s, condition) for s in SPELLINGS for condition in s.where if condition.argument != "self"]
MAKERS = [
    (Spelling(call=spelling.call.removesuffix("()")), condition)
    for spelling in SPELLINGS
    for condition in spelling.made_with
]
"""The constructors of instances that are called, with the conditions on them."""
ASSIGNED = [
    (p, name) for rule in CATALOGUE.rules.values() if rule.code != "TL212" for p in rule.detect for name in p.assign
]
NEEDS_CUDA = "torch.backends.cuda.cufft_plan_cache"  # it asks for the current device even to set a name
NOT_LOADED = {"xeon", "xnnpack"}  # submodules that `import torch` leaves alone


@pytest.fixture(scope="module")
def installed() -> Minor:
    return parse_minor(importlib.import_module("torch").__version__)


def spelling_id(value: object) -> str:
    return spelled(value) if isinstance(value, Spelling) else str(getattr(value, "argument", value))


@pytest.mark.parametrize("spelling", dict.fromkeys(SPELLINGS), ids=spelling_id)
def test_a_spelling_resolves(spelling: Spelling) -> None:
    assert callable(target(spelling))


@pytest.mark.parametrize("spelling", dict.fromkeys(SPELLINGS), ids=spelling_id)
def test_the_operands_of_a_spelling_are_its_parameters(spelling: Spelling) -> None:
    found = signatures(spelling)
    if not found:
        pytest.skip("torch tells no signature")
    assert any(fits(spelling, signature) for signature in found)


def fits(spelling: Spelling, signature: list[Parameter]) -> bool:
    positions = {parameter.name: parameter.position for parameter in signature}
    if spelling.input not in ("", "self") and positions.get(spelling.input) != 0:
        return False
    operands = [argument for argument in (spelling.index, spelling.source) if argument is not None]
    return all(a.argument in positions and positions[a.argument] == a.position for a in operands)


@pytest.mark.parametrize(("spelling", "condition"), dict.fromkeys([*CONDITIONS, *MAKERS]), ids=spelling_id)
def test_a_condition_agrees_with_the_signature(spelling: Spelling, condition: Condition) -> None:
    every = signatures(spelling)
    found = [p for signature in every for p in signature if p.name == condition.argument.partition(".")[0]]
    if condition.given is False and not found:
        return  # an overload that has no such argument at all
    if condition.not_named is not None:  # whatever the default is, it is none of these
        assert any(p.position == condition.position for p in found)
        assert all(
            resolve(name) is not None and resolve(name) not in {p.default for p in found}
            for name in condition.not_named
        )
        return
    # TOML has no None, so a default of None is left out. An overload without the argument does what its default says.
    # Where torch has None, something else decides, and the condition says what comes of it.
    expected: tuple[object, ...] = (EMPTY, None) if condition.default is msgspec.UNSET else (condition.default, None)
    if len(found) < len(every):
        expected = (*expected, EMPTY)
    assert any(p.position == condition.position and p.default in expected for p in found), found


@pytest.mark.parametrize(
    "surroundings", [s for operator in CATALOGUE.operators for s in operator.unless_within], ids=lambda s: s.call
)
def test_what_steadies_an_operator_is_there(surroundings: Surroundings) -> None:
    parameters = inspect.signature(resolve(surroundings.call)).parameters
    for condition in surroundings.where:
        assert list(parameters).index(condition.argument) == condition.position
        assert all(resolve(name) is not None for name in condition.named or ())
        if condition.default is not msgspec.UNSET:
            assert parameters[condition.argument].default == condition.default


def test_torch_s_own_mode_switches_agree_with_their_signatures(installed: Minor) -> None:
    for mode in CATALOGUE.programs.mode:
        if mode.call.startswith("torch.") and installed in VersionRange.parse(mode.torch):
            names = list(inspect.signature(resolve(mode.call)).parameters)
            assert names.index(mode.argument) == mode.position
            assert not mode.warn_argument or mode.warn_argument in names


def test_torch_names_of_the_patterns_resolve(installed: Minor) -> None:
    for rule in CATALOGUE.rules.values():
        for pattern in rule.detect:
            gone = (
                rule.code == "TL202"
                or pattern.message == "removed"
                or installed not in VersionRange.parse(pattern.torch)
            )
            for name in (*pattern.call, *pattern.assign):
                if name.startswith(("torch.", "random.")):
                    assert hasattr(resolve(name.rpartition(".")[0]), name.rpartition(".")[2]) is not gone, name


def test_names_that_return_tensors_resolve() -> None:
    for name in load_values().calls[Kind.TENSOR] | load_values().annotations[Kind.TENSOR]:
        assert not name.startswith("torch.") or callable(resolve(name)), name


def test_private_homes_exist() -> None:
    for private, public in CATALOGUE.names.same.items():
        if private.startswith("torch."):
            assert resolve(private.rpartition(".")[0]) is not None
            assert resolve(public) is not None


def own_names(module: ModuleType) -> set[str]:
    """The public names that a module, or the stand-in that replaces it, defines; not what it merely imported."""
    names: set[str] = set()
    for namespace in (module, getattr(module, "m", module)):
        names |= {name for name in vars(namespace) if not name.startswith("_")}
    for kind in type(module).__mro__:
        if kind.__module__.startswith("torch.") and kind.__name__ != "PropModule":
            names |= {name for name in vars(kind) if not name.startswith("_")}
    names -= imported_names(source_of(module.__name__)) | {"m"}
    return {name for name in names if hasattr(module, name)}


def source_of(module: str) -> str:
    """Read the file: what stands in `sys.modules` may be a stand-in that knows no file."""
    top = importlib.import_module("torch").__file__
    assert top is not None
    path = Path(top).parent.joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return path.read_text(encoding="utf-8")


def imported_names(source: str) -> set[str]:
    names: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module != "torch.backends":
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def listed(module: SwitchModule, installed: Minor) -> set[str]:
    return {a.name for a in module.attribute if installed in VersionRange.parse(a.torch)}


def modules_of(installed: Minor) -> Iterator[SwitchModule]:
    return (module for module in CATALOGUE.switches.module if listed(module, installed))


def test_listed_switches_exist(installed: Minor) -> None:
    for module in modules_of(installed):
        if module.name != NEEDS_CUDA:
            missing = {n for n in listed(module, installed) - NOT_LOADED if not hasattr(resolve(module.name), n)}
            assert missing == set(), module.name


def test_no_switch_is_left_out(installed: Minor) -> None:
    for module in modules_of(installed):
        found = resolve(module.name)
        if isinstance(found, ModuleType):
            borrowed = {"ContextProp", "PropModule"}
            assert own_names(found) - borrowed - listed(module, installed) == set(), module.name


def test_no_namespace_is_left_out() -> None:
    backends = importlib.import_module("torch.backends")
    known = {module.name for module in CATALOGUE.switches.module}
    loaded = {
        name for name in sys.modules if name.startswith("torch.backends.") and hasattr(backends, name.split(".")[2])
    }
    assert {name for name in loaded if "._" not in name} - {f"torch.backends.{n}" for n in NOT_LOADED} <= known


ASSIGN = """
import json, sys
import torch

answers = {}
for name in json.load(sys.stdin):
    found = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    try:
        found.determinstc = True
    except AttributeError:
        answers[name] = "raises"
    else:
        answers[name] = "silent"
print(json.dumps(answers))
"""

MISSING = """
import json, sys
import torch

answers = {}
for name in json.load(sys.stdin):
    try:
        exec("import torch; " + name + ".cudnn.benchmark = True")
    except AttributeError:
        answers[name] = "raises"
print(json.dumps(answers))
"""

OVERWRITE = """
import importlib, json, sys
import torch

answers = {}
for name in json.load(sys.stdin):
    parts = name.split(".")
    holder = importlib.import_module(parts[0])
    for part in parts[1:-1]:
        holder = getattr(holder, part)
    before = getattr(holder, parts[-1], None)
    setattr(holder, parts[-1], True)
    answers[name] = [callable(before), callable(getattr(holder, parts[-1]))]
answers["mode"] = torch._C._get_deterministic_algorithms()
print(json.dumps(answers))
"""


def ask(program: str, names: list[str]) -> dict[str, Any]:
    """Run a program in a Python of its own: it leaves torch damaged."""
    answers: dict[str, Any] = json.loads(run_fresh(textwrap.dedent(program), json.dumps(names)))
    return answers


def test_an_unknown_switch_is_dead_or_raises_as_listed(installed: Minor) -> None:
    expected = {module.name: module.unknown_name for module in modules_of(installed) if module.name != NEEDS_CUDA}
    assert ask(ASSIGN, list(expected)) == expected


def test_a_missing_namespace_raises() -> None:
    names = list(CATALOGUE.switches.missing_namespaces)
    assert ask(MISSING, names) == dict.fromkeys(names, "raises")


PRECISION = """
    import importlib, json, sys
    import torch

    answers = {}
    for name in json.load(sys.stdin):
        module, _, attribute = name.rpartition(".")
        holder = torch
        for part in module.split(".")[1:]:
            holder = getattr(holder, part)
        value = "tf32" if attribute == "fp32_precision" else True
        setattr(holder, attribute, value)
        answers[name] = getattr(holder, attribute) == value
    print(json.dumps(answers))
"""


def test_the_switches_of_precision_take_their_values(installed: Minor) -> None:
    patterns = [p for p in CATALOGUE.rules["TL212"].detect if installed in VersionRange.parse(p.torch)]
    names = [name for pattern in patterns for name in pattern.assign]
    answers = {name: taken for name in names for taken in ask(PRECISION, [name]).values()}  # old and new do not mix
    assert answers == dict.fromkeys(names, True)


def test_assigning_to_a_function_destroys_it(installed: Minor) -> None:
    here = [
        name
        for pattern, name in ASSIGNED
        if name.startswith(("torch.", "random.")) and installed in VersionRange.parse(pattern.torch)
    ]
    answers = ask(OVERWRITE, here)
    assert answers.pop("mode") is False
    removed = {name for pattern, name in ASSIGNED if pattern.message == "removed"}
    assert answers == {name: [name not in removed, False] for name in here}


@pytest.mark.parametrize("rule", [r for r in CATALOGUE.rules.values() if r.good], ids=lambda rule: rule.code)
def test_the_good_example_runs(rule: Any) -> None:  # noqa: ANN401 - a Rule
    if "cuda" in rule.good:
        pytest.skip("the example needs CUDA")
    for name in re.findall(r"^(?:import|from) (\w+)", rule.good, re.MULTILINE):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"the example needs {name}")
    run_fresh(rule.good)
