"""Any text in, diagnostics out: nothing raises and no check breaks."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import hypothesmith
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.harness.programs import all_programs
from torchlint.api import CheckOptions, check_paths, check_source
from torchlint.config import Overrides

LENIENT = settings(max_examples=60, suppress_health_check=list(HealthCheck), derandomize=True)
PROGRAMS = [(path, data) for program in all_programs() for path, data in program.files.items() if path[-3:] != "oml"]
SOURCES = [(path, data) for path, data in PROGRAMS if path.endswith((".py", ".ipynb"))]
TORCH = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
SHAPES = (
    "nn.Conv2d(*{0}, padding_mode='replicate', **{1})",
    "F.pad({0}, {1}, mode='reflect')",
    "torch.manual_seed({0})",
    "torch.backends.cudnn.{1} = {0}",
    "setattr({0}, {1}, {2})",
    "nn.DataParallel[{0}]({1})({2})",
    "hash({0}) % {1}",
    "torch.use_deterministic_algorithms({0}, warn_only={1})",
    "for x in set({0}): y[{1}] = x",
    "nn.Sequential(nn.Conv2d({0}, {1}, 3), nn.BatchNorm2d({2}))",
    "(lambda {0}=nn.ReplicationPad2d({1}): {2})",
)
TERMS = st.recursive(
    st.sampled_from(
        ["x", "1", "'a'", "None", "True", "[]", "()", "torch", "nn", "x.y", "...", "b''", "1j", "-1", "*x"]
    ),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]} if {pair[1]} else {pair[0]})"),
        inner.map(lambda term: f"partial({term})"),
        inner.map(lambda term: f"[{term} for x in {term}]"),
        inner.map(lambda term: f"{{{term}, {term}}}"),
        inner.map(lambda term: f"nn.Conv2d({term})"),
        inner.map(lambda term: f"(y := {term})"),
    ),
    max_leaves=5,
)


def check_text(text: str, path: str = "program.py") -> None:
    """Check a text alone, and again through bytes, where a broken check shows itself."""
    check_source(text, path, CheckOptions(overrides=Overrides(select=("ALL",))))


def check_bytes(path: str, data: bytes) -> None:
    name = Path("/nowhere") / path
    options = CheckOptions(overrides=Overrides(isolated_facts=True, select=("ALL",)), isolated=True, jobs=1)
    report = check_paths([], options, {name: data})
    assert report.internal_errors == ()
    assert all(diagnostic.location.line >= 1 and diagnostic.location.column >= 1 for diagnostic in report.diagnostics)


@LENIENT
@given(hypothesmith.from_node())
def test_generated_programs_are_analysed(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_bytes("program.py", f"{TORCH}{text}".encode())


@LENIENT
@given(st.lists(st.tuples(st.sampled_from(SHAPES), TERMS, TERMS, TERMS), min_size=1, max_size=4))
def test_odd_arguments_of_known_names_are_analysed(parts: list[tuple[str, str, str, str]]) -> None:
    text = TORCH + "\n".join(shape.format(*terms) for shape, *terms in parts)
    check_bytes("program.py", text.encode())


@settings(LENIENT, max_examples=150)
@given(st.data())
def test_damaged_fixtures_are_analysed_or_reported(data: st.DataObject) -> None:
    path, content = data.draw(st.sampled_from(SOURCES))
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(content)))
        length = data.draw(st.integers(0, 40))
        piece = data.draw(
            st.one_of(st.binary(max_size=6), st.sampled_from([b"\n", b"\r", b"(", b"'''", b"\\", b";", b"\f"]))
        )
        content = content[:position] + piece + content[position + length :]
    check_bytes(path, content)


@settings(LENIENT, max_examples=60)
@given(st.binary(max_size=400), st.sampled_from(["any.py", "any.ipynb"]))
def test_any_bytes_are_analysed_or_reported(content: bytes, path: str) -> None:
    check_bytes(path, content)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20), st.sampled_from(["code", "%%time\nx"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["cells", "cell_type", "source", "metadata", "worksheets"]), inner, max_size=4),
    ),
    max_leaves=12,
)


@LENIENT
@given(JSON)
def test_any_json_is_a_notebook_or_reported(value: object) -> None:
    check_bytes("any.ipynb", json.dumps(value).encode())


def test_text_may_be_checked_without_a_file() -> None:
    check_text("import torch\ntorch.manual_seed = 1\n")
    check_text('{"cells": []}', "notebook.ipynb")
