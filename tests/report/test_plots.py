"""Plots of the evidence: what they draw, and what they take."""

from __future__ import annotations

import itertools
import math
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.html_pages import read
from tests.report.verifications import CURVE, HISTOGRAM, RATIOS, REPEATED
from torchlint.report.html_page import templates
from torchlint.report.plots import plots_of
from torchlint.report.scales import finite, log_scale, whole_ticks
from torchlint.report.svg import Figure

FIGURE = templates().from_string('{% from "verify_evidence.html" import figure %}{{ figure(plot) }}')
PART = {"place": "conv", "elements": 8, "differing": 2, "max_abs": 1e-7, "roundings": 1.5}


def markup(figure: Figure) -> str:
    """The figure as it stands on the page."""
    return FIGURE.render(plot=figure)


def drawn(**evidence: object) -> str:
    figures = plots_of(evidence).figures
    assert len(figures) == 1
    return markup(figures[0])


def picture(figure: str) -> ET.Element:
    """The drawing; a page is read leniently, but this is XML."""
    return ET.fromstring(re.search(r"<svg role.*?</svg>(?=\n|$)", figure, re.DOTALL)[0])  # type: ignore[index]  # noqa: S314 - of our own making


def labels(figure: str) -> list[str]:
    return [element.text or "" for element in picture(figure).iter("text")]


def heights(path: str) -> list[float]:
    return [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", path)]


def lines_of(figure: str) -> dict[str, str]:
    """The paths of a curve by their names."""
    return {path[0].text or "": path.attrib["d"] for path in picture(figure).iter("path")}


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("curve", CURVE, "60 steps, between 7.5e-09 and 0.00093"),
        ("ulp_histogram", HISTOGRAM, "98,341 elements in 7 bins; most are at 0"),
        ("ratios", RATIOS, "5 values; the largest number is 412 at head.out_proj"),
        (
            "runs_by_scale",
            {"1": 10, "16": 3},
            "the input: 10 runs, no bit differed; 16 copies: 3 runs, no bit differed",
        ),
        ("parts", [PART], "1 value; the largest number is 1.5 at conv"),
    ],
)
def test_each_plot_says_in_words_what_it_shows(key: str, value: object, said: str) -> None:
    figure = drawn(**{key: value})
    read(figure)
    svg = picture(figure)
    assert svg.attrib["role"] == "img"
    assert said in svg.attrib["aria-label"]
    assert svg[0].tag == "title"
    assert svg[0].text == svg.attrib["aria-label"]


@pytest.mark.parametrize("evidence", [{"curve": CURVE}, {"ulp_histogram": HISTOGRAM}, {"ratios": RATIOS}, REPEATED])
def test_all_that_is_drawn_lies_in_the_picture(evidence: dict[str, Any]) -> None:
    svg = picture(drawn(**evidence))
    width, height = map(float, svg.attrib["viewBox"].split()[2:])
    for element in svg.iter():
        across = [float(element.attrib[name]) for name in ("x", "x1", "x2") if name in element.attrib]
        down = [float(element.attrib[name]) for name in ("y", "y1", "y2") if name in element.attrib]
        if element.tag == "rect":
            across.append(across[0] + float(element.attrib["width"]))
            down.append(down[0] + float(element.attrib["height"]))
        if element.tag == "path":
            across += [float(x) for x in re.findall(r"[ML]([\d.]+) ", element.attrib["d"])]
            down += heights(element.attrib["d"])
        assert all(0 <= x <= width for x in across), element.attrib
        assert all(0 <= y <= height for y in down), element.attrib


def test_the_curve_has_an_axis_in_decades_and_a_line_for_all_and_each_module() -> None:
    figure = drawn(curve=CURVE)
    assert {"1e-9", "1e-3", "60", "optimiser step", "greatest difference of parameters"} <= set(labels(figure))
    lines = lines_of(figure)
    assert len(lines) == 13
    rising = heights(lines["in total"])
    assert len(rising) == 60
    assert rising == sorted(rising, reverse=True)
    steps = [after - before for before, after in itertools.pairwise(rising)]
    assert max(steps) - min(steps) < 0.3  # a geometric series is straight
    assert "blocks.5.attn" in figure.partition("</figcaption>")[2]
    assert "8 more modules" in figure


def test_equal_values_lie_on_a_line_of_their_own() -> None:
    figure = drawn(curve={"total": [0, 0, 1e-8, 1e-6]})
    assert "0" in labels(figure)
    first, second, third, fourth = heights(lines_of(figure)["in total"])
    assert first == second > third > fourth


def test_a_curve_that_is_all_zero_is_drawn() -> None:
    figure = drawn(curve={"total": [0.0, 0.0]})
    assert "2 steps, between 0 and 0" in figure
    assert labels(figure)[0] == "0"


def test_what_is_not_finite_leaves_a_gap_and_is_said() -> None:
    figure = drawn(curve={"steps": [5, 10, 15, 20, 25], "total": [1e-8, math.nan, 1e-7, 1e-6, None]})
    assert lines_of(figure)["in total"].count("M") == 2
    assert "from step 10 on, not every value is a finite number" in figure


def test_a_point_that_stands_alone_is_drawn() -> None:
    path = lines_of(drawn(curve={"total": [math.inf, 1e-3, math.inf]}))["in total"]
    assert len(heights(path)) == 2
    assert len(set(heights(path))) == 1


def test_a_curve_of_modules_alone_is_drawn() -> None:
    assert set(lines_of(drawn(curve={"modules": {"a": [1, 2], "": [2, 3]}}))) == {"a", "the model itself"}


def test_bins_of_very_unlike_size_have_logarithmic_heights() -> None:
    def columns(*counts: int) -> list[float]:
        figure = drawn(ulp_histogram={"bins": list(range(len(counts))), "counts": list(counts)})
        assert ("logarithmic" in figure) == (max(counts) > 50 * min(counts))
        return [float(rect.attrib["height"]) for rect in picture(figure).iter("rect")]

    linear, wide = columns(10, 20, 40), columns(10, 100, 1000)
    assert linear == pytest.approx([37.5, 75.0, 150.0])
    assert wide[1] - wide[0] == pytest.approx(wide[2] - wide[1], abs=0.2)


def test_ratios_reach_from_one_to_both_sides_the_largest_first() -> None:
    figure = drawn(ratios=RATIOS)
    names = [words for words in labels(figure) if words in RATIOS]
    assert names == ["head.out_proj", "body.1", "body.0", "stem.conv", "head.norm"]
    bars = [(rect.attrib["class"], float(rect.attrib["x"])) for rect in picture(figure).iter("rect")]
    one = bars[0][1]
    assert [kind for kind, _ in bars] == ["bar beyond"] * 3 + ["bar"] * 2
    assert all((x < one) == (kind == "bar") for kind, x in bars)


def test_a_ratio_that_is_no_number_is_said_in_words() -> None:
    figure = drawn(ratios={"a": math.nan, "b": 2.0, "c": None, "d": math.inf})
    assert labels(figure).count("not a finite number") == 3
    assert len(list(picture(figure).iter("rect"))) == 1


def test_only_the_largest_of_many_are_drawn_and_the_rest_is_counted() -> None:
    figure = drawn(ratios={f"layer.{number}": number + 1.0 for number in range(100)})
    assert len(list(picture(figure).iter("rect"))) == 20
    assert "the 20 largest of 100" in figure
    assert "layer.99" in figure


def test_parts_are_drawn_by_ratio_where_there_is_one_and_stay_in_the_table() -> None:
    assert "float64" in drawn(parts=[{**PART, "ratio": 3.0}])
    assert "roundings" in drawn(parts=[PART])
    assert plots_of({"parts": [PART]}).tell == frozenset()


def test_runs_end_with_the_one_that_differs() -> None:
    def kinds(**evidence: object) -> list[str]:
        figure = drawn(**evidence)
        return [rect.attrib["class"].removeprefix("run ") for rect in picture(figure).iter("rect")]

    assert kinds(**REPEATED) == ["first", *["same"] * 9, "first", "same", "other"]
    assert "other" not in kinds(runs_by_scale={"1": 10})
    assert len(kinds(runs_by_scale={"1": 100_000})) == 100
    assert "one run, compared with none" in drawn(runs_by_scale={"1": 1})
    assert "16 copies (128x3): run 3 gave other bits" in drawn(**REPEATED)


@pytest.mark.parametrize("key", ["curve", "ulp_histogram", "ratios", "parts", "runs_by_scale"])
@pytest.mark.parametrize(
    "value",
    [
        *(None, "", "text", 3, [], {}, [1]),
        *({"total": "x"}, {"total": [math.nan]}, {"steps": [1, 2]}, {"modules": {"a": []}}),
        *({"bins": [], "counts": []}, {"bins": "a", "counts": "b"}, {"bins": ["a"], "counts": [0]}, {"a": None}),
    ],
)
def test_what_cannot_be_drawn_is_left_to_the_text(key: str, value: object) -> None:
    drawing = plots_of({key: value})
    assert (drawing.figures, drawing.tell) == ((), frozenset())


VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.just(10**400), st.text(max_size=5))
LISTS = st.lists(VALUES, max_size=12)
NAMED = st.dictionaries(st.text(max_size=6), VALUES, max_size=5)


@given(
    curve=st.fixed_dictionaries({"steps": LISTS, "total": LISTS, "modules": st.dictionaries(st.text(), LISTS)}),
    histogram=st.fixed_dictionaries({"bins": LISTS, "counts": LISTS}),
    ratios=NAMED,
    runs=NAMED,
)
def test_any_numbers_make_a_well_formed_picture(
    curve: dict[str, Any], histogram: dict[str, Any], ratios: dict[str, Any], runs: dict[str, Any]
) -> None:
    evidence = {"curve": curve, "ulp_histogram": histogram, "ratios": ratios, "runs_by_scale": runs, "scale": 1}
    for figure in map(markup, plots_of(evidence).figures):
        assert "nan" not in " ".join(re.findall(r'(?:d|x|y|width|height)="([^"]*)"', figure))
        read(figure)


# -- scales -------------------------------------------------------------------------------------------


def test_a_scale_holds_all_values_in_whole_decades() -> None:
    scale = log_scale([3e-8, 2e-3, 0.0, math.inf])
    assert scale is not None
    assert (scale.low, scale.high) == (-8, -2)
    assert [words for _, words in scale.ticks] == ["1e-8", "1e-7", "1e-6", "1e-5", "1e-4", "1e-3", "0.01"]
    assert scale.share(1e-5) == pytest.approx(0.5)


def test_a_scale_of_one_value_has_length() -> None:
    scale = log_scale([1.0])
    assert scale is not None
    assert scale.high == scale.low + 1
    assert log_scale([0.0, math.nan]) is None


def test_a_scale_of_all_floats_has_few_ticks() -> None:
    scale = log_scale([5e-324, 1.7e308])
    assert scale is not None
    assert 4 <= len(scale.ticks) <= 8
    assert "1" in [words for _, words in scale.ticks]


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (1, 5, [1, 2, 3, 4, 5]),
        (1, 60, [10, 20, 30, 40, 50, 60]),
        (0, 0, [0]),
        (7, 7, [7]),
        (0, 1000, [0, 200, 400, 600, 800, 1000]),
    ],
)
def test_ticks_are_round(low: int, high: int, ticks: list[int]) -> None:
    assert whole_ticks(low, high) == ticks


@pytest.mark.parametrize("value", [True, None, "1", math.nan, -math.inf, 10**400, [1]])
def test_what_is_no_number_is_none(value: object) -> None:
    assert finite(value) is None
