"""The page of `verify`."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.harness.html_pages import Reader, read
from tests.report.verifications import (
    REPEATED,
    STANZA,
    every_verdict,
    make_answer,
    make_result,
    make_run,
    make_verification,
)
from torchlint.recording.names import VerdictName
from torchlint.report.verify_html import html_lines
from torchlint.report.verify_words import NOT_YET_SAFE
from torchlint.verify.data import STRONGEST_FIRST, Verification

ROOT = Path(__file__).parents[2]
HOSTILE = "</pre></style><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x1b[31m\u202e"


def page(found: Verification) -> str:
    return "\n".join(html_lines(found))


def shown(found: Verification) -> Reader:
    return read(page(found))


def words(found: Verification) -> str:
    """What a reader sees, without the places of it: cells of a table do not run together."""
    body = page(found).partition("<body>")[2]
    apart = re.sub(r"</?(?!wbr|code|span|b>)[^>]*>", " ", body)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", apart)).split())


def card(found: Verification, anchor: str) -> str:
    """The markup of one finding."""
    text = page(found)
    start = text.index(f'id="{anchor}"')
    return text[start : text.index("</section>", start)]


def test_the_page_is_well_formed_and_stands_alone() -> None:
    reader = shown(every_verdict())
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(reader.seen)
    assert not re.search(r"url\(|@import|https?://", page(every_verdict()))
    assert len(reader.ids) == len(set(reader.ids))


def test_every_link_leads_to_something_and_every_finding_has_one() -> None:
    reader = shown(every_verdict())
    assert {link.removeprefix("#") for link in reader.links} == set(reader.ids)
    assert [link for link in reader.links if re.fullmatch(r"#f\d+", link)] == [f"#f{n}" for n in range(1, 10)]


def test_the_strongest_verdicts_come_first_in_the_index_and_on_the_page() -> None:
    text = page(every_verdict())
    index = text[text.index('<nav class="index"') : text.index('<article class="target"')]
    places = [index.index(f"{verdict}</span>") for verdict in STRONGEST_FIRST]
    assert places == sorted(places)
    cards = re.findall(r'<section class="section finding \w+" id="(f\d+)"', text)
    assert cards == [f"f{number}" for number in range(1, 10)]


def test_the_same_data_give_the_same_bytes_whatever_the_hash_seed() -> None:
    script = (
        "from tests.report.verifications import every_verdict\n"
        "from torchlint.report.verify_html import html_lines\n"
        "import hashlib; print(hashlib.sha256('\\n'.join(html_lines(every_verdict())).encode()).hexdigest())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=True,
            text=True,
            timeout=600,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1


def test_counts_environment_and_protection_are_said() -> None:
    said = words(every_verdict())
    for part in ("9 findings, 2 targets", "torch 2.13.0+cu130", "cuda: NVIDIA H200", "landlock (writes, TCP)"):
        assert part in said
    for part in (
        "CUBLAS_WORKSPACE_CONFIG :4096:8",
        "CPU capability AVX512",
        "3 more findings",
        "a.ipynb: is no notebook",
    ):
        assert part in said
    assert "1 ? NOT REPRODUCED" in said


def test_a_finding_is_shown_with_its_evidence() -> None:
    found = make_verification(make_result(evidence=REPEATED, others=(make_answer(),)))
    said = words(found)
    for part in (
        "✗ DIVERGED run 3 gave other bits than run 1",
        "src/model.py:9:9 · TL106 scatter-accumulation · probe repeat on cuda",
        "return out.index_add(0, index, x)",
        "index_add adds in no fixed order on CUDA",
        "called at src/model.py:9",
        "constructed at src/model.py:5",
        "sizes self 4x3, index 8, alpha scalar",
        "repeated indices 0.375",
        "? NOT REPRODUCED strict on cpu torch refused nothing",
        "torchlint verify src/model.py:9 --select TL106 --device cuda",
        "executed Pool(width=3), called with (float32[8,3], int64[8]{0..3}) (invented)",
        "replaced missing imports apex",
    ):
        assert part in said


def test_not_reproduced_is_neutral_and_never_called_safe() -> None:
    text = card(make_verification(make_result("NOT REPRODUCED", reason="30 runs gave the same bits")), "f1")
    assert f"{NOT_YET_SAFE[1:]}." in text
    assert "30 runs gave the same bits" in text
    assert "green" not in text
    assert "✓" not in text
    assert (
        re.findall(
            r"(?<!not mean )\bsafe\b|deterministic",
            words(every_verdict()).replace("does not have a deterministic implementation", ""),
        )
        == []
    )


@pytest.mark.parametrize(
    ("verdict", "colour"),
    [
        ("DIVERGED", "red"),
        ("RAISED", "red"),
        ("CONFIRMED", "red"),
        ("REFUTED", "green"),
        ("VARIES", "blue"),
        ("TRACED", "amber"),
        ("KERNEL-ONLY", "amber"),
        ("NOT REPRODUCED", "open"),
        ("SKIPPED", "open"),
    ],
)
def test_each_verdict_has_a_colour_and_a_sign(verdict: VerdictName, colour: str) -> None:
    text = page(make_verification(make_result(verdict)))
    assert f'<section class="section finding {colour}" id="f1">' in text
    assert re.search(
        rf'<span class="state-badge {colour}"[^>]*><span class="mark"[^>]*>.</span> {verdict}</span>', text
    )


def test_a_skipped_target_comes_with_what_to_paste() -> None:
    found = make_verification(make_result("SKIPPED", evidence={"kind": "inputs", "configure": STANZA}))
    text = "".join(shown(found).text)
    assert STANZA in text
    assert text.count("args = []") == 1


def test_a_finding_without_a_run_is_shown() -> None:
    found = make_verification(make_result("SKIPPED", target="", probe=None, reproduce=""), runs=(), environment=None)
    said = words(found)
    assert "not planned src/model.py" in said
    assert "Run it alone" not in said


def test_a_named_target_has_its_probe_where_findings_have_a_code() -> None:
    found = make_verification(
        make_result("TRACED", code="", name="trace", probe="trace", message="`Pool` was asked for")
    )
    said = words(found)
    assert "trace src/model.py:9 run 3" in said
    assert "src/model.py:9:9 · probe trace on cuda" in said


def test_nothing_to_verify_is_a_page_too() -> None:
    found = make_verification(runs=(), environment=None, sandbox="")
    assert "Nothing to verify" in words(found)
    assert shown(found).links == []


# -- what was executed --------------------------------------------------------------------------------


def rows(found: Verification) -> list[str]:
    listing = re.findall(r'<div class="row.*?</div>', page(found))
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in listing]


def test_the_listing_has_the_numbers_of_the_file_and_marks_its_lines() -> None:
    found = make_verification(make_result(evidence=REPEATED))
    assert rows(found) == [
        "1 import torch",
        "2 from torch import nn",
        "3",
        "4",
        "5 class Pool(nn.Module): constructed here",
        "⋮ 3 lines blank or left out",
        "9 def forward(self, x, index): TL106 called here",
        "10 return x.new_zeros(4, 3).index_add(0, index, x)",
    ]
    assert '<div class="row flagged"><span class="number">9</span>' in page(found)
    assert '<div class="row seen"><span class="number">5</span>' in page(found)


def test_a_line_of_another_file_is_not_marked_in_this_one() -> None:
    evidence = {"forward_line": {"path": "src/other.py", "cell": None, "line": 10}}
    assert not [row for row in rows(make_verification(make_result(evidence=evidence))) if "called here" in row]


def test_lines_of_a_notebook_count_in_their_cells() -> None:
    run = make_run(
        path="a.ipynb", text="\nimport torch\nclass Pool:\n    pass", places=((2, 1), (2, 2), (5, 1), (5, 2))
    )
    result = make_result(
        line=1, path="a.ipynb", cell=5, evidence={"forward_line": {"path": "a.ipynb", "cell": 5, "line": 2}}
    )
    found = make_verification(result, runs=(run,))
    assert rows(found) == [
        "⋮ 1 line blank or left out",
        "cell 2",
        "2 import torch",
        "cell 5",
        "1 class Pool: TL106",
        "2 pass called here",
    ]


def test_indentation_is_kept_and_tabs_are_spaces() -> None:
    found = make_verification(make_result(), runs=(make_run(text="if 1:\n\tx = 1\n"),))
    assert "<code>    x = 1</code>" in page(found)


def test_what_it_printed_is_shown_line_by_line() -> None:
    text = "".join(shown(make_verification(make_result(), runs=(make_run(output="one\n\x1b[31mtwo\n"),))).text)
    assert "one\n\\x1b[31mtwo\n" in text
    assert "What it printed" not in page(make_verification(make_result(), runs=(make_run(output="\n"),)))


def test_how_a_process_ended_is_said_where_it_did_not_end_well() -> None:
    assert "ended crash: signal 11" in words(
        make_verification(make_result("SKIPPED"), runs=(make_run(end="crash: signal 11", executed=None),))
    )


# -- hostile text -------------------------------------------------------------------------------------


def test_hostile_text_is_text() -> None:
    evidence = {
        HOSTILE: HOSTILE,
        "operator": HOSTILE,
        "list": [HOSTILE],
        f"{HOSTILE} records": [{HOSTILE: HOSTILE}],
        "forward_line": {"path": HOSTILE, "cell": None, "line": 1},
        "configure": HOSTILE,
        "curve": {"pair": HOSTILE, "total": [1.0], "modules": {HOSTILE: [2.0]}},
        "ulp_histogram": {"bins": [HOSTILE], "counts": [1]},
        "ratios": {HOSTILE: 2.0},
        "runs_by_scale": {HOSTILE: 2},
        "input_sizes": {HOSTILE: HOSTILE},
    }
    texts: dict[str, Any] = dict.fromkeys(
        ("path", "code", "name", "message", "source_line", "target", "reason", "reproduce"), HOSTILE
    )
    result = make_result(
        evidence=evidence,
        others=(make_answer(reason=HOSTILE, evidence=evidence, device=HOSTILE),),
        **texts,
    )
    run = make_run(path=HOSTILE, name=HOSTILE, text=HOSTILE, output=HOSTILE, end=HOSTILE)
    found = make_verification(result, runs=(run,), sandbox=HOSTILE)
    reader = shown(found)
    assert not {"script", "img"} & set(reader.seen)
    assert page(found).count("<style>") == page(found).count("</style>") == 1
    assert "\x1b" not in page(found)
    assert "\u202e" not in page(found)
    assert "".join(reader.text).count("alert(1)") > 30
