from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec
import pytest

from torchlint.verify.configurations import configurations

LAUGHS = "\n".join(
    ["a0: &a0 {width: 1}"]
    + [f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}], pair: [*a{n - 1}, *a{n - 1}]}}" for n in range(1, 40)]
)


def test_the_smallest_model_comes_first_and_what_says_nothing_of_one_last(tmp_path: Path) -> None:
    tables = {
        "unet_large.yaml": "model: {hidden_dim: 512, layers: [3, 4]}",
        "unet_base.json": '{"model": {"hidden_dim": 64}, "classes": {"cat": 3}}',
        "debug.yml": "hidden_dim: 4096",
        "data.yaml": "folder: pictures\nseed: 99999",
        "broken.yaml": "{a: [",
        "list.json": "[1, 2]",
        "custom.yaml": "net: !unet {width: 8}\nrate: 1e-4\nsize: ${net.width}\ndepth: 3",
    }
    for name, text in tables.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = configurations(tmp_path)
    places = ["debug.yml", "custom.yaml", "unet_base.json", "unet_large.yaml", "data.yaml"]
    assert [each.place for each in found] == places
    assert found[1].entries == {"net": None, "rate": 1e-4, "depth": 3}


def test_a_group_of_options_is_called_as_its_folder(tmp_path: Path) -> None:
    (tmp_path / "conf" / "model").mkdir(parents=True)
    (tmp_path / "conf" / "model" / "unet.yaml").write_text("width: 8\n", encoding="utf-8")
    (tmp_path / "conf" / "train.yaml").write_text("width: 9\n", encoding="utf-8")
    group, whole = configurations(tmp_path)
    assert group.entries == {"width": 8, "model": {"width": 8}}
    assert whole.entries == {"width": 9}


@pytest.mark.parametrize(
    ("name", "text", "entries"),
    [
        (
            "merged.yaml",
            "base: &base {width: 8}\nnet: {<<: *base, depth: 2}",
            {"base": {"width": 8}, "net": {"width": 8, "depth": 2}},
        ),
        ("numbers.json", f'{{"a": {2**63}, "b": -{2**63}, "c": NaN, "d": Infinity, "e": 5}}', {"e": 5}),
        ("numbers.yaml", "a: .inf\nb: .nan\nc: 1e999\nd: 0x7f\ne: [.inf, 2]", {"c": "1e999", "d": 127, "e": [2]}),
        ("texts.json", '{"a": "\\ud800", "\\udfff": 1, "b": "\\ud83d\\ude00"}', {"b": "\U0001f600"}),
        ("day.yaml", "when: 2020-01-02\nbytes: !!binary aGk=\nnet: !!python/object/apply:os.getcwd []", None),
        ("deep.json", '{"a":' * 500 + "1" + "}" * 500, None),
    ],
)
def test_any_value_can_be_told_to_another_process(
    tmp_path: Path, name: str, text: str, entries: dict[str, object] | None
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (found,) = configurations(tmp_path)
    assert entries is None or found.entries == entries
    assert msgspec.json.decode(msgspec.json.encode(found), type=type(found)) == found


@pytest.mark.parametrize(
    "text",
    [
        LAUGHS,
        "a: &a [*a, 1]",
        "a: &a {b: *a}",
        "? [a, b]\n: c",
        "a: 1\n---\nb: 2",
        "[" * 20_000,
        '{"a": ' * 10_000,
        "\x00a: 1",
    ],
    ids=["laughs", "list in itself", "table in itself", "table as key", "two", "deep", "deep tables", "no text"],
)
@pytest.mark.parametrize("suffix", [".yaml", ".json"])
def test_a_file_that_no_program_can_use_is_passed_over(tmp_path: Path, text: str, suffix: str) -> None:
    (tmp_path / f"broken{suffix}").write_text(text, encoding="utf-8")
    (tmp_path / "whole.yaml").write_text("width: 8", encoding="utf-8")
    assert [each.place for each in configurations(tmp_path)] == ["whole.yaml"]


def test_files_that_are_not_the_projects_are_not_read(tmp_path: Path) -> None:
    for place in (".git/a.json", "node_modules/b/package.json", "env/pyvenv.cfg", "env/c.yaml", "configs/d.yaml"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("width: 8" if place.endswith("yaml") else '{"width": 8}', encoding="utf-8")
    (tmp_path / "e.json").write_text(json_of_size(200_000), encoding="utf-8")
    assert [each.place for each in configurations(tmp_path)] == ["configs/d.yaml"]


def json_of_size(size: int) -> str:
    return '{"width": 8, "names": "' + "x" * size + '"}'


@pytest.mark.skipif(sys.platform != "linux", reason="other systems' names are text")
def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff.yaml"
    Path(os.fsdecode(path)).write_text("width: 8", encoding="utf-8")
    assert configurations(tmp_path) == ()
