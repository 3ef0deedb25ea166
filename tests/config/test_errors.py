"""Every mistake names the file, the key and the nearest right one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torchlint.config import Overrides, load_settings
from torchlint.errors import ConfigError

MISTAKES = [
    ('selct = ["TL101"]', "`selct`: unknown key; did you mean `select`?"),
    ('extend_select = ["TL101"]', "`extend_select`: unknown key; did you mean `extend-select`?"),
    ("Min-Severity = 'info'", "`Min-Severity`: unknown key; did you mean `min-severity`?"),
    ("zzz = 1", "`zzz`: unknown key; the keys are baseline, determinism, devices, exclude,"),
    ("[rules]\nTL101 = 1", "`rules`: unknown key"),
    ('select = "TL101"', "`select`: expected a list, got a string"),
    ("select = [1]", "`select[0]`: expected a string, got a whole number"),
    ('select = ["TL101", []]', "`select[1]`: expected a string, got a list"),
    ('select = ["TL999"]', "`select`: unknown rule `TL999`"),
    ('select = ["TL9"]', "`select`: unknown rule `TL9`"),
    ('select = ["T"]', "`select`: unknown rule `T`"),
    ('select = [""]', "`select`: unknown rule ``"),
    ('ignore = ["unset-mod"]', "`ignore`: unknown rule `unset-mod`; did you mean `unset-mode`?"),
    ('extend-ignore = ["TL1O1"]', "`extend-ignore`: unknown rule `TL1O1`; did you mean `TL101`?"),
    ('select = ["TL301"]', "`select`: rule `TL301` is planned and not selectable yet"),
    ('extend-select = ["unseeded-generator"]', "`extend-select`: rule `unseeded-generator` is planned and not"),
    ('select = ["TL3"]', "`select`: the rules of `TL3` are planned and not selectable yet"),
    ('select = ["TL203"]', "`select`: rule `TL203` was removed"),
    ('[per-file-ignores]\n"a/*" = "TL101"', '`per-file-ignores."a/*"`: expected a list, got a string'),
    ('[per-file-ignores]\n"a/*" = [2]', '`per-file-ignores."a/*"[0]`: expected a string, got a whole number'),
    ('[per-file-ignores]\n"a/*" = ["TL999"]', '`per-file-ignores."a/*"`: unknown rule `TL999`'),
    ('per-file-ignores = ["TL101"]', "`per-file-ignores`: expected a table, got a list"),
    ("force-exclude = 'yes'", "`force-exclude`: expected true or false, got a string"),
    ("exclude = [['a']]", "`exclude[0]`: expected a string, got a list"),
    ("torch = 2.1", "`torch`: expected a string, got a number"),
    ("torch = '>=2,1'", "`torch`: `>=2,1` is not a torch version such as 2.6 or >=2.1,<2.6"),
    ("torch = 'newest'", "`torch`: `newest` is not a torch version"),
    ("torch = ''", "`torch`: needs a torch version"),
    ("determinism = true", "`determinism`: expected a string, got true or false"),
    ("determinism = 'warm'", "`determinism`: unknown value `warm`; did you mean `warn`? (choose from on, warn, off)"),
    (
        "devices = ['gpu']",
        "`devices[0]`: unknown value `gpu`; did you mean `cuda`? (choose from cuda, rocm, cpu, mps, xpu)",
    ),
    (
        "devices = ['ROCm']",
        "`devices[0]`: unknown value `ROCm`; did you mean `rocm`? (choose",
    ),
    ("devices = 'cuda'", "`devices`: expected a list, got a string"),
    ("extend-rules = ['nowhere']", "`extend-rules`: "),
    ("max-file-size = '2 MB'", "`max-file-size`: expected a whole number, got a string"),
    ("max-file-size = 0", "`max-file-size`: must be more than 0 bytes"),
    ("max-file-size = true", "`max-file-size`: expected a whole number, got true or false"),
    ("min-severity = 'eror'", "`min-severity`: unknown value `eror`; did you mean `error`? (choose from error,"),
    ("min-confidence = 'sure'", "`min-confidence`: unknown value `sure` (choose from high, medium, low)"),
    ("fail-on = 'Warning'", "`fail-on`: unknown value `Warning`; did you mean `warning`?"),
]

TABLES = [
    ("[verify.'pkg:UNet']\ninputs = 'float32[2]'", '`verify."pkg:UNet".inputs`: expected a list, got a string'),
    (
        "[verify.'pkg:UNet']\ninputs = ['None', 'flot32[2,3]']",
        '`verify."pkg:UNet".inputs[1]`: `flot32[2,3]` is neither a tensor such as float32[2,3] nor a literal; did you',
    ),
    ("[verify.'pkg:UNet']\ninputs = ['mask=yes']", '`verify."pkg:UNet".inputs[0]`: `yes` is neither a tensor such as'),
    (
        "[verify.'pkg:UNet']\ninputs = ['int64[2]{10..0}']",
        '`verify."pkg:UNet".inputs[0]`: the range {10..0} is empty: its upper end is left out',
    ),
    (
        "[verify.'pkg:UNet']\ninputs = ['int64[2]{0..n}']",
        '`verify."pkg:UNet".inputs[0]`: the range {0..n} does not lie between two numbers, as {0..10} does',
    ),
    ("[verify.'pkg:UNet']\nshapes = []", '`verify."pkg:UNet"`: unknown key shapes'),
    ("[verify]\n'pkg:UNet' = 3", '`verify."pkg:UNet"`: expected a table, got a whole number'),
    (
        "[verify.'pkg:UNet']\nfactory = 'make'",
        '`verify."pkg:UNet".factory`: write a function as "package.module:function"',
    ),
]
"""Tables of targets: one that is wrong concerns its target alone."""


@pytest.mark.parametrize(("text", "message"), TABLES, ids=[text for text, _ in TABLES])
def test_a_wrong_table_of_a_target_takes_nothing_else_down(project: Path, text: str, message: str) -> None:
    file = project / "torchlint.toml"
    file.write_text(f"{text}\n[verify.'pkg:Net']\nargs = [3]")
    settings = load_settings(project, Overrides())
    assert [target for target, _ in settings.verify] == ["pkg:Net"]
    ((target, mistake),) = settings.verify_mistakes
    assert target == "pkg:UNet"
    assert mistake.startswith(f"{file}: {message}")
    assert "\n" not in mistake


@pytest.mark.parametrize(("text", "message"), MISTAKES, ids=[text for text, _ in MISTAKES])
def test_a_mistake_in_torchlint_toml(project: Path, text: str, message: str) -> None:
    file = project / "torchlint.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match="^" + re.escape(f"{file}: {message}")) as caught:
        load_settings(project, Overrides())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "message"), MISTAKES, ids=[text for text, _ in MISTAKES])
def test_pyproject_errors_name_the_full_key(project: Path, text: str, message: str) -> None:
    file = project / "pyproject.toml"
    file.write_text("[tool.torchlint]\n" + text.replace("[", "[tool.torchlint.", 1 if text.startswith("[") else 0))
    expected = message.replace("`", "`tool.torchlint.", 1)
    with pytest.raises(ConfigError, match="^" + re.escape(f"{file}: {expected}")):
        load_settings(project, Overrides())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"select = [\n", ":1: is not TOML: "),
        (b"\n\nselect = ALL\n", ":3: is not TOML: invalid value"),
        (b"torch = '2.6'\ntorch = '2.5'\n", ":2: is not TOML: cannot overwrite a value"),
        (b"\n# \xff\n", ":2: is not UTF-8 text"),
    ],
)
def test_what_is_not_toml_is_named_with_its_line(project: Path, data: bytes, message: str) -> None:
    file = project / "torchlint.toml"
    file.write_bytes(data)
    with pytest.raises(ConfigError, match="^" + re.escape(f"{file}{message}")):
        load_settings(project, Overrides())


def test_tool_torchlint_must_be_a_table(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool]\ntorchlint = 1\n")
    with pytest.raises(ConfigError, match=r"`tool\.torchlint`: expected a table"):
        load_settings(project, Overrides())


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (Overrides(select=("TL999",)), "--select: unknown rule `TL999`"),
        (Overrides(ignore=("TL999",)), "--ignore: unknown rule `TL999`"),
        (Overrides(extend_select=("TL301",)), "--extend-select: rule `TL301` is planned and not selectable yet"),
        (Overrides(extend_ignore=("x-y",)), "--extend-ignore: unknown rule `x-y`"),
        (Overrides(torch="two"), "--torch: `two` is not a torch version"),
        (Overrides(devices=("cdua",)), "--devices: unknown value `cdua`; did you mean `cuda`?"),
    ],
)
def test_a_mistake_on_the_command_line_names_the_option(project: Path, overrides: Overrides, message: str) -> None:
    with pytest.raises(ConfigError, match="^" + re.escape(message)):
        load_settings(project, overrides)


def test_a_configuration_file_that_cannot_be_read(project: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml: cannot be read: "):
        load_settings(project, Overrides(), config=project / "gone.toml")
