"""The timelines of two runs around their first difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.harness.made_recordings import From, Made, Op, recorded
from torchlint.diverge.data import Moment
from torchlint.diverge.recordings import read_recorded
from torchlint.diverge.sources import Sources
from torchlint.diverge.timeline import timeline_of
from torchlint.diverge.tracing import origin_of

LINEAR = Op("aten.addmm.default", 3)


def timeline(folder: Path, ours: Sequence[Op | From], theirs: Sequence[Op | From]) -> tuple[Moment, ...]:
    first, other = recorded(folder / "a", Made(ours)), recorded(folder / "b", Made(theirs))
    origin = origin_of(first, other, "main", 1)
    assert origin is not None
    return timeline_of(first, other, origin, Sources(folder))


def told(rows: Sequence[Moment]) -> list[tuple[str, str, str, str]]:
    return [(each.kind, each.ours, each.theirs, each.state) for each in rows]


def test_rows_are_equal_up_to_the_first_difference_and_differ_behind_it(tmp_path: Path) -> None:
    ours = [LINEAR, Op("aten.mul.Tensor", 4, gives=5), Op("aten.sum.default", 5, takes=5, gives=6), LINEAR]
    theirs = [LINEAR, Op("aten.mul.Tensor", 4, gives=7), Op("aten.sum.default", 5, takes=7, gives=8), LINEAR]
    rows = timeline(tmp_path, ours, theirs)
    assert told(rows) == [
        ("operator", "aten.addmm.default", "aten.addmm.default", "same"),
        ("operator", "aten.mul.Tensor", "aten.mul.Tensor", "first"),
        ("operator", "aten.sum.default", "aten.sum.default", "differs"),
        ("operator", "aten.addmm.default", "aten.addmm.default", "same"),
    ]
    assert [each.source.line for each in rows if each.source is not None] == [3, 4, 5, 3]


def test_what_one_run_alone_did_has_a_row_of_its_own(tmp_path: Path) -> None:
    differing = [Op("aten.mul.Tensor", 4, gives=each) for each in (5, 6)]
    rows = timeline(
        tmp_path,
        [LINEAR, Op("aten.abs.default", 9), differing[0], Op("aten.neg.default", 9)],
        [LINEAR, differing[1], Op("aten.exp.default", 9)],
    )
    assert told(rows)[1:] == [
        ("operator", "aten.abs.default", "", "only-first"),
        ("operator", "aten.mul.Tensor", "aten.mul.Tensor", "first"),
        ("operator", "aten.neg.default", "", "only-first"),
        ("operator", "", "aten.exp.default", "only-second"),
    ]


def test_a_first_difference_of_one_run_alone_is_marked(tmp_path: Path) -> None:
    rows = timeline(tmp_path, [LINEAR, LINEAR], [LINEAR, LINEAR, Op("aten.exp.default", 9), LINEAR])
    assert told(rows)[2] == ("operator", "", "aten.exp.default", "first")
    assert [each.state for each in rows].count("first") == 1


def test_what_entered_stands_before_the_operator_that_ran_next(tmp_path: Path) -> None:
    data = str(Path.cwd() / "data")
    made: list[list[Op | From]] = [
        [
            From("seed", f"random.seed({number})", number, 1),
            LINEAR,
            From("listing", data, number, 2),
            From("draw", "random.shuffle", 1, 3),
            From("write", "log.txt", number, 3),
            Op("aten.lift_fresh.default", 4, takes=number),
        ]
        for number in (5, 6)
    ]
    assert told(timeline(tmp_path, *made)) == [
        ("draw", "random.seed(5)", "random.seed(6)", "differs"),
        ("operator", "aten.addmm.default", "aten.addmm.default", "same"),
        ("data", "listing data", "listing data", "differs"),
        ("draw", "draw random.shuffle", "draw random.shuffle", "same"),
        ("operator", "aten.lift_fresh.default", "aten.lift_fresh.default", "first"),
    ]


def test_what_entered_in_the_second_run_alone_keeps_its_order(tmp_path: Path) -> None:
    last = [Op("aten.lift_fresh.default", 4, takes=number) for number in (5, 6)]
    reads: list[Op | From] = [
        From("read", "/b", 1, 9),
        LINEAR,
        From("read", "/c", 1, 7),
        LINEAR,
        From("read", "/d", 1, 9),
    ]
    rows = timeline(tmp_path, [LINEAR, LINEAR, last[0]], [*reads, last[1]])
    assert [each.theirs for each in rows if each.state == "only-second"] == ["read /b", "read /c", "read /d"]
    assert rows[0].theirs == "read /b"


def test_backward_and_update_are_told(tmp_path: Path) -> None:
    made = [
        [Op("aten.mm.default", 4, direction="backward"), Op("aten.add_.Tensor", 5, direction="update", gives=each)]
        for each in (5, 6)
    ]
    assert [each.ours for each in timeline(tmp_path, *made)] == [
        "aten.mm.default (backward)",
        "aten.add_.Tensor (update)",
    ]


def test_only_the_rows_around_the_difference_are_kept(tmp_path: Path) -> None:
    made = [[*[LINEAR] * 120, Op("aten.mul.Tensor", 4, gives=each), *[LINEAR] * 120] for each in (5, 6)]
    rows = timeline(tmp_path, *made)
    assert [each.state for each in rows].index("first") == 25
    assert len(rows) == 51


def test_the_thread_that_differs_is_shown(tmp_path: Path) -> None:
    made = [[LINEAR, Op("aten.exp.default", 4, thread=1, gives=each), LINEAR] for each in (5, 6)]
    assert told(timeline(tmp_path, *made)) == [("operator", "aten.exp.default", "aten.exp.default", "first")]


def test_a_worker_of_a_loader_is_shown_by_what_it_gave(tmp_path: Path) -> None:
    for name, digest in (("a", 5), ("b", 6)):
        recorded(tmp_path / name, Made([Op("aten.stack.default", 4, takes=digest)]))
        recorded(tmp_path / name, Made([LINEAR, From("sample", "[1, 2]", digest)]), role="worker 0 of main")
    first, other = (read_recorded(tmp_path / name) for name in "ab")
    origin = origin_of(first, other, "main", 1)
    assert origin is not None
    assert origin.process == "worker 0 of main"
    assert told(timeline_of(first, other, origin, Sources(tmp_path))) == [
        ("operator", "aten.addmm.default", "aten.addmm.default", "same"),
        ("data", "sample [1, 2]", "sample [1, 2]", "first"),
    ]


def test_a_process_or_a_step_that_was_not_written_has_no_timeline(tmp_path: Path) -> None:
    first, other = (recorded(tmp_path / str(each), Made([Op("aten.exp.default", gives=each)])) for each in (5, 6))
    origin = origin_of(first, other, "main", 1)
    assert origin is not None
    for process, step in (("rank 3", 1), ("main", 9)):
        elsewhere = replace(origin, process=process, step=step)
        assert timeline_of(first, other, elsewhere, Sources(tmp_path)) == ()
