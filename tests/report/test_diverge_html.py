"""The page of `diverge`."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from tests.harness.html_pages import read
from tests.report.divergences import made_cause, made_divergence, made_runs
from torchlint.diverge.data import Cause, Cure, Divergence, Entered, Explanation, Growth, Moment, Source
from torchlint.report.diverge_html import html_lines
from torchlint.report.diverge_words import NOT_PROVEN, UNEXPLAINED, kind_words

HOSTILE = "</pre></style><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x1b[31m\u202e"


def page(found: Divergence) -> str:
    text = "\n".join(html_lines(found))
    reader = read(text)
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(reader.seen)
    assert len(reader.ids) == len(set(reader.ids))
    return text


def words(found: Divergence) -> str:
    """What a reader sees; cells of a table do not run together."""
    body = page(found).partition("<body>")[2]
    apart = re.sub(r"<(?!/?(?:wbr|code|span|b)\b)[^>]*>", " ", body)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", apart)).split())


def rows(found: Divergence) -> list[tuple[str, str]]:
    """The states and the words of the rows of timelines."""
    text = page(found).partition('<table class="timeline">')[2].partition("</table>")[0]
    told = re.findall(r'<tr class="([\w-]+)">(.*?)</tr>', text, re.DOTALL)
    return [(state, " ".join(re.sub(r"<[^>]+>", " ", row.replace("<wbr>", "")).split())) for state, row in told]


def test_the_page_stands_alone(tmp_path: Path) -> None:
    assert not re.search(r"url\(|@import|https?://", page(made_divergence(tmp_path)))


def test_a_cause_has_a_card_with_all_that_is_known(tmp_path: Path) -> None:
    found = made_divergence(tmp_path)
    said = words(found)
    for part in (
        "python train.py --epochs 1",
        "torch 2.13.0",
        "DIFFERENT at step 1 of 3: loss and parameters",
        "train.py:3 kernel x = torch.tensor(data)",
        kind_words(found.causes[0]).replace("`", ""),
        "operator aten.mm.default",
        "1 of 4 elements differ (largest difference 1)",
        "Called from train.py:4 loss = model(x)",
        "Before it, not the same listing data: other names, or another order train.py:2",
        "the runs are equal with listing (folders are listed in sorted order) held fixed; 7 runs spent",
        "still different with only torch-random held",
        "train.py:2 TL301 os.listdir has no order",
        "sorted(os.listdir(...)): equal, 1.02 times the time",
        "Next: torchlint rule TL301",
        "the recorder: os.urandom could not be held",
    ):
        assert part in said
    assert NOT_PROVEN not in said


def test_experiments_and_runs_are_tables(tmp_path: Path) -> None:
    said = words(made_divergence(tmp_path))
    for part in (
        "torch-random, listing equal 2 3.2",
        "torch-random different 2 3.0",
        "threads not run to its end 1 1.0",
        "1 0 3 9 1.5 nothing",
        "2 0 3 9 1.5 hash-seed",
        "And 9 more runs",
    ):
        assert part in said


def test_both_timelines_are_shown_side_by_side_with_the_first_difference_marked(tmp_path: Path) -> None:
    found = rows(made_divergence(tmp_path))
    assert [state for state, _ in found] == ["differs", "same", "first", "differs"]
    assert re.fullmatch(r"✗ operator aten\.mm\.default aten\.mm\.default \S*train\.py:3", found[2][1])
    assert found[0][1].startswith("≠ data listing")


def test_what_one_run_alone_did_leaves_a_gap_in_the_other(tmp_path: Path) -> None:
    runs = made_runs(tmp_path)
    alone = Moment("operator", "", "aten.exp.default", None, "only-second")
    found = made_divergence(tmp_path, runs=runs, causes=(made_cause(tmp_path, runs, timeline=(alone,)),))
    assert '<td class="nothing"></td><td>aten.exp.default</td>' in page(found)


def test_growth_is_drawn_and_the_losses_are_told(tmp_path: Path) -> None:
    found = made_divergence(tmp_path)
    text = page(found)
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", text)
    assert captions == ["How far two trainings are apart (parameters)", "How far two trainings are apart (loss)"]
    assert "distance, relative to their size" in text
    assert "digits that show it 1 2.5 2.5 2 2.4 2.4125 3" in words(found)


def test_many_losses_are_told_at_even_distances_with_the_first_that_differs(tmp_path: Path) -> None:
    growth = tuple(
        Growth(step, 1e-9, (1.0, 1.0 if step < 33 else 1.5), None if step < 33 else 2) for step in range(1, 401)
    )
    text = page(made_divergence(tmp_path, growth=growth)).partition("The losses in numbers")[2]
    steps = re.findall(r"<tr><td>(\d+)</td>", text.partition("</table>")[0])
    assert steps[:4] == ["1", "21", "33", "41"]
    assert steps[-1] == "400"
    assert len(steps) == 22


@pytest.mark.parametrize(
    "growth",
    [
        (),
        (Growth(1, None, None, None),),
        (Growth(1, 0.0, (1.0, 1.0), None),),
        (Growth(1, 1e300, (float("nan"), 1.0), None), Growth(2, None, (1e308, -1e308), 1)),
        (Growth(1, 5e-324, (5e-324, 0.0), 1), Growth(10**9, 1.7e308, (1.7e308, 1.0), 1)),
    ],
)
def test_any_growth_makes_a_page(tmp_path: Path, growth: tuple[Growth, ...]) -> None:
    text = page(made_divergence(tmp_path, growth=growth))
    assert ('id="growth"' in text) == bool(growth and growth[0].loss)
    assert not re.search(r'(?:[xyd]\d?|width|height)="[^"]*(?:nan|inf)', text)


def test_equal_runs_are_no_proof(tmp_path: Path) -> None:
    found = made_divergence(tmp_path, verdict="EQUAL", growth=(), experiments=0)
    said = words(found)
    for part in ("EQUAL: two runs of 3 steps and 9 operators", "Not varied: threads, clock.", NOT_PROVEN):
        assert part in said
    assert "How it grew" not in said
    assert "green" not in page(found).partition("<body>")[2]


def test_a_command_that_failed_in_both_runs_is_said(tmp_path: Path) -> None:
    assert "FAILED: the command ended with exit 3 in both runs" in words(
        made_divergence(tmp_path, verdict="FAILED", exit=3, growth=())
    )


def test_a_difference_without_an_operator_is_shown(tmp_path: Path) -> None:
    found = made_divergence(tmp_path, was_interrupted=True, causes=(Cause("rank 1", 2, (), None, None),))
    said = words(found)
    for part in ("Step 2 no operator could be named", "Interrupted", "one run ended its steps before the other"):
        assert part in said
    assert "Explained by" not in said
    assert rows(found) == []


def test_a_second_cause_and_other_processes_are_led_to(tmp_path: Path) -> None:
    runs = made_runs(tmp_path)
    first = made_cause(tmp_path, runs, explained_by=())
    second = made_cause(tmp_path, runs, step=3)
    elsewhere = (Cause("rank 1", 7, ("loss",), None, None),)
    said = words(made_divergence(tmp_path, runs=runs, causes=(first, second), elsewhere=elsewhere))
    for part in (
        "with listing held, the next difference is at step 3:",
        f"Explained by {UNEXPLAINED.replace('`', '')}",
        "rank 1 differs first at its step 7: no order among processes follows from that",
    ):
        assert part in said


def test_hostile_text_is_text(tmp_path: Path) -> None:
    source = Source(HOSTILE, 1, None, HOSTILE)
    runs = made_runs(tmp_path, what=HOSTILE, operator=HOSTILE, source=f"/x/{HOSTILE}")
    cause = made_cause(
        tmp_path,
        runs,
        process=HOSTILE,
        differing=(HOSTILE,),
        source=source,
        stack=(source, source),
        entered=(Entered(HOSTILE, source),),
        explained_by=(Explanation(HOSTILE, HOSTILE, 1, HOSTILE),),
        cures=(Cure(HOSTILE, equal=None, cost=None),),
    )
    found = made_divergence(
        tmp_path, runs=runs, command=(HOSTILE,), causes=(cause,), elsewhere=(cause,), notes=(HOSTILE,), not_varied=()
    )
    text = page(found)
    assert text.count("<style>") == text.count("</style>") == 1
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "".join(read(text).text).count("alert(1)") > 20
