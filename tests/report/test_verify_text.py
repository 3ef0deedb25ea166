"""The verdicts for the terminal."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.report.verifications import (
    ENVIRONMENT,
    REPEATED,
    STANZA,
    every_verdict,
    make_answer,
    make_result,
    make_run,
    make_verification,
)
from torchlint.recording.names import VerdictName
from torchlint.report.verify_text import full_lines, text_lines
from torchlint.report.verify_words import NOT_YET_SAFE, worded
from torchlint.verify.data import Verification


def text(found: Verification) -> list[str]:
    return list(text_lines(found, colour=False))


def full(found: Verification) -> list[str]:
    return list(full_lines(found, colour=False))


def test_a_line_for_each_finding_then_the_counts() -> None:
    found = make_verification(
        make_result(), make_result("SKIPPED", 3, cell=2, reason="no inputs were found"), without_probe=4
    )
    assert text(found) == [
        "src/model.py:9:9: TL106 DIVERGED run 3 gave other bits than run 1",
        "src/model.py:cell 2:3:9: TL106 SKIPPED no inputs were found",
        "2 findings run: 1 DIVERGED, 1 SKIPPED",
        "4 more that running the code cannot verify (see `torchlint check`)",
    ]


def test_counts_are_the_strongest_first() -> None:
    [closing] = [line for line in text(every_verdict()) if line.startswith("9 findings run")]
    assert re.findall(r"1 ([A-Z][A-Z -]+[A-Z])", closing) == [
        *("DIVERGED", "RAISED", "CONFIRMED", "REFUTED", "VARIES", "TRACED", "KERNEL-ONLY", "NOT REPRODUCED", "SKIPPED")
    ]


def test_what_was_not_reproduced_is_not_called_safe() -> None:
    found = make_verification(make_result("NOT REPRODUCED", reason="30 runs gave the same bits"))
    assert text(found)[1:] == ["1 finding run: 1 NOT REPRODUCED", NOT_YET_SAFE]


def test_nothing_to_verify_is_said() -> None:
    assert text(make_verification(runs=())) == ["nothing to verify"]


def test_a_named_target_has_its_name_and_probe_instead_of_a_code() -> None:
    assert text(make_verification(make_result(code="")))[0].startswith("src/model.py:9:9: Pool repeat DIVERGED ")


def test_the_full_report_has_evidence_the_command_and_the_environment() -> None:
    found = make_verification(make_result(evidence=REPEATED, others=(make_answer(),)))
    assert full(found) == [
        "src/model.py:9:9: TL106 DIVERGED run 3 gave other bits than run 1",
        "  finding: `index_add` adds in no fixed order on CUDA",
        "  code: return out.index_add(0, index, x)",
        "  executed: Pool(width=3), called with (float32[8,3], int64[8]{0..3}) (invented)",
        "  replaced missing imports: apex",
        "  operator: aten.index_add.default",
        "  called at: src/model.py:9",
        "  constructed at: src/model.py:5",
        "  module: pool",
        "  sizes: self 4x3, index 8, alpha scalar",
        "  inputs: float32[8,3], int64[8]{0..3}",
        "  repeated indices: 0.375",
        "  runs: 13",
        "  threads: 2",
        "  greatest difference: 4.77e-07",
        "  strict on cpu: NOT REPRODUCED torch refused nothing on cpu under the determinism mode",
        "  run it alone: torchlint verify src/model.py:9 --select TL106 --device cuda",
        "",
        "torch 2.13.0+cu130, Python 3.12.4, cpu: AMD EPYC, cuda: NVIDIA H200",
        "CPU capability AVX512, 2 threads, seed 0",
        "environment: CUBLAS_WORKSPACE_CONFIG=:4096:8 PYTHONHASHSEED=0",
        "protected by: landlock (writes, TCP)",
        "",
        "1 finding run: 1 DIVERGED",
    ]


def test_the_stanza_can_be_pasted_once_its_margin_is_off() -> None:
    lines = full(make_verification(make_result("SKIPPED", evidence={"kind": "inputs", "configure": STANZA})))
    start = lines.index("  tell torchlint how to run it:") + 1
    assert [line.removeprefix("    ") for line in lines[start : start + 3]] == STANZA.splitlines()


HOSTILE = "a\nb\x1b[31mc\u202ed\r"


def test_control_characters_are_written_out() -> None:
    variables = {"CUBLAS_WORKSPACE_CONFIG": HOSTILE}
    environment = type(ENVIRONMENT)(
        **{name: getattr(ENVIRONMENT, name) for name in ENVIRONMENT.__struct_fields__ if name != "variables"},
        variables=variables,
    )
    texts: dict[str, Any] = dict.fromkeys(
        ("path", "code", "message", "source_line", "reason", "reproduce", "target"), HOSTILE
    )
    result = make_result(
        evidence={"operator": HOSTILE, "words": HOSTILE, "sizes": {HOSTILE: [1]}},
        others=(make_answer(reason=HOSTILE),),
        **texts,
    )
    found = make_verification(
        result, runs=(make_run(path=HOSTILE, name=HOSTILE),), environment=environment, sandbox=HOSTILE
    )
    lines = [*text(found), *full(found)]
    assert all(line.isprintable() for line in lines)
    assert sum(r"a\nb\x1b[31mc\u202ed" in line for line in lines) >= 10


@pytest.mark.parametrize("report", [text_lines, full_lines])
def test_colours_only_where_asked(report: object) -> None:
    assert callable(report)
    plain = "\n".join(report(every_verdict(), colour=False))
    painted = "\n".join(report(every_verdict(), colour=True))
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[\d*m", "", painted) == plain
    colours = {
        verdict: colour for colour, verdict in re.findall(r"(?:\x1b\[(3\d)m)?\x1b\[1m([A-Z][A-Z -]+)\x1b", painted)
    }
    assert colours == {
        **dict.fromkeys(("DIVERGED", "RAISED", "CONFIRMED"), "31"),
        **dict.fromkeys(("TRACED", "KERNEL-ONLY"), "33"),
        "VARIES": "36",
        "REFUTED": "32",
        **dict.fromkeys(("NOT REPRODUCED", "SKIPPED"), ""),
    }


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([2, 3, 64], "2x3x64"),
        ([], "scalar"),
        ([[2, 3], [4]], "2x3, 4"),
        (["a", "b"], "a, b"),
        (0.1234567, "0.123"),
        (True, "yes"),
        (None, "none"),
        ({"path": "a.ipynb", "cell": 3, "line": 7}, "a.ipynb:cell 3:7"),
        ({"path": "a.py", "cell": None, "line": 7}, "a.py:7"),
        ({"self": [2, 3], "alpha": []}, "self 2x3, alpha scalar"),
        ([{"what": "batch", "sizes": [1, 8]}, {"what": "length"}], "what batch, sizes 1x8; what length"),
    ],
)
def test_evidence_in_words(value: object, words: str) -> None:
    assert worded(value) == words


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("it ran 30 times", "it ran 30 times"),
        (f"no effect: {'moved by little, ' * 9}and so on", f"no effect: {'moved by little, ' * 5}".rstrip(", ") + " …"),
        (f"no effect (the weight: {'0.75 ' * 30})", "no effect …"),
        ("word " * 40, "word " * 22 + "…"),
    ],
)
def test_a_line_has_the_clauses_that_fit_and_the_full_report_has_all(reason: str, shown: str) -> None:
    found = make_verification(make_result("NOT REPRODUCED", reason=reason))
    assert text(found)[0] == f"src/model.py:9:9: TL106 NOT REPRODUCED {shown}"
    assert full(found)[0] == f"src/model.py:9:9: TL106 NOT REPRODUCED {reason}"


@pytest.mark.parametrize("verdict", ["DIVERGED", "RAISED", "CONFIRMED", "REFUTED", "VARIES", "TRACED", "KERNEL-ONLY"])
def test_a_verdict_that_shows_something_holds_its_evidence(verdict: VerdictName) -> None:
    reason = f"no effect: {'moved by little, ' * 9}and so on"
    assert text(make_verification(make_result(verdict, reason=reason)))[0].endswith(f" {verdict} {reason}")
