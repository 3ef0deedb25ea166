"""Recordings that exist already, compared without torch."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.diverge.recorded import Call, Entered, Held, Made, recorded
from torchlint.diverge.data import Divergence
from torchlint.diverge.offline import compared
from torchlint.diverge.sources import Sources
from torchlint.errors import TorchlintError

Compare = Callable[..., Divergence]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def compare(tmp_path: Path) -> Compare:
    """Compares two lists of steps; options of the second recording go by `other`."""

    def compare(
        first: Sequence[Made],
        second: Sequence[Made],
        *,
        tolerance: float | None = None,
        other: dict[str, Any] | None = None,
        **header: Any,  # noqa: ANN401 - fields of a header
    ) -> Divergence:
        one = recorded(tmp_path / "a.tlrec", *first, **header)
        two = recorded(tmp_path / "b.tlrec", *second, **{**header, **(other or {})})
        return compared(one, two, tolerance=tolerance, sources=Sources(tmp_path))

    return compare


def add(digest: int, line: int = 3, path: str = "/project/train.py") -> Call:
    return Call("aten.add.Tensor", line, (Held(7),), (Held(digest),), path=path)


def test_equal_recordings_are_equal(compare: Compare) -> None:
    steps = [Made((add(1),), losses=(0.5,)), Made((add(2),), losses=(0.4,))]
    found = compare(steps, steps)
    assert found.verdict == "EQUAL"
    assert found.causes == ()
    assert "compared bit by bit" in found.notes
    assert [each.recorded.steps for each in found.runs] == [2, 2]


def test_the_first_operator_that_differs_is_named_with_its_line(compare: Compare) -> None:
    same = Made((add(1),))
    found = compare([same, Made((add(2), add(3, 4)))], [same, Made((add(2), add(5, 4)), values={"parameters": 2})])
    (cause,) = found.causes
    assert found.verdict == "DIFFERENT"
    assert (cause.process, cause.step, cause.differing) == ("main", 2, ("parameters",))
    assert cause.origin is not None
    assert cause.origin.found.kind == "kernel"
    assert cause.source is not None
    assert cause.source.shown == "train.py:4"


def test_a_step_without_operators_says_how_to_record_them(compare: Compare) -> None:
    found = compare([Made()], [Made(values={"parameters": 2})], level="step")
    assert found.causes[0].origin is None
    assert any("torchlint record --level operator --steps 1" in note for note in found.notes)


def test_each_rank_is_held_against_its_like_and_the_earliest_comes_first(tmp_path: Path) -> None:
    for name, late in (("a", 1), ("b", 2)):
        (tmp_path / name).mkdir()
        for rank in (0, 2, 10):
            steps = [Made(values={"parameters": late if number >= rank else 1}) for number in range(1, 13)]
            steps = steps if rank else [Made()] * 12
            recorded(tmp_path / name / f"r{rank}.tlrec", *steps, level="step", role=f"rank {rank}")
    found = compared(tmp_path / "a", tmp_path / "b", sources=Sources(tmp_path))
    assert [(each.process, each.step) for each in found.causes] == [("rank 2", 2)]
    assert [(each.process, each.step) for each in found.elsewhere] == [("rank 10", 10)]


def test_a_rank_that_only_one_side_has_is_told_and_not_compared(tmp_path: Path) -> None:
    for name, ranks in (("a", (0, 1)), ("b", (0,))):
        (tmp_path / name).mkdir()
        for rank in ranks:
            recorded(tmp_path / name / f"r{rank}.tlrec", Made(), level="step", role=f"rank {rank}")
    found = compared(tmp_path / "a", tmp_path / "b", sources=Sources(tmp_path))
    assert "only the first has rank 1: not compared" in found.notes
    assert found.verdict == "EQUAL"


def test_one_process_is_held_against_the_only_rank_of_the_other_side(compare: Compare) -> None:
    found = compare([Made()], [Made(values={"parameters": 2})], level="step", other={"role": "rank 0"})
    assert [each.process for each in found.causes] == ["main"]


def test_ranks_of_which_none_is_in_both_are_refused(tmp_path: Path) -> None:
    for name, ranks in (("a", (0, 1)), ("b", (2, 3))):
        (tmp_path / name).mkdir()
        for rank in ranks:
            recorded(tmp_path / name / f"r{rank}.tlrec", Made(), level="step", role=f"rank {rank}")
    with pytest.raises(TorchlintError, match="no process that computes with torch is in both"):
        compared(tmp_path / "a", tmp_path / "b", sources=Sources(tmp_path))


def test_a_recording_that_is_cut_is_read_up_to_its_last_step_and_that_is_told(compare: Compare) -> None:
    found = compare([Made()] * 3, [Made()] * 2, other={"reason": None})
    assert found.verdict == "EQUAL"
    assert any("the second recording is cut off" in note for note in found.notes)


def test_recordings_that_share_no_step_are_refused(compare: Compare) -> None:
    with pytest.raises(TorchlintError, match="there is no step that both have"):
        compare([Made()], [], other={"reason": None})


def test_a_program_that_ends_earlier_by_itself_differs(compare: Compare) -> None:
    found = compare([Made()] * 3, [Made()] * 2)
    assert [(each.step, each.differing) for each in found.causes] == [(3, ())]


def test_a_program_that_the_recorder_ended_earlier_does_not_differ(compare: Compare) -> None:
    assert compare([Made()] * 3, [Made()] * 2, other={"reason": "seconds"}).verdict == "EQUAL"


def test_what_the_headers_differ_in_is_told(compare: Compare) -> None:
    found = compare(
        [Made()],
        [Made()],
        switches={"cudnn.benchmark": "False"},
        other={
            "argv": ("python", "train.py", "--epochs", "2"),
            "machine": {"cpu": "Another processor"},
            "variables": {"OMP_NUM_THREADS": "1"},
            "switches": {"cudnn.benchmark": "True"},
        },
    )
    assert "cpu: A processor in the first recording, Another processor in the second" in found.notes
    assert "OMP_NUM_THREADS: none in the first recording, 1 in the second" in found.notes
    assert "cudnn.benchmark: False in the first recording, True in the second" in found.notes
    assert "command: train.py in the first recording, train.py --epochs 2 in the second" in found.notes


def test_what_only_some_ranks_differ_in_is_told_of_these(tmp_path: Path) -> None:
    for name, cpu in (("a", "Old"), ("b", "New")):
        (tmp_path / name).mkdir()
        for rank in (0, 1):
            machine = {"cpu": cpu if rank else "Old"}
            recorded(tmp_path / name / f"r{rank}.tlrec", Made(), level="step", role=f"rank {rank}", machine=machine)
    found = compared(tmp_path / "a", tmp_path / "b", sources=Sources(tmp_path))
    assert "rank 1: cpu: Old in the first recording, New in the second" in found.notes


def test_recordings_of_two_levels_are_compared_by_their_steps(compare: Compare) -> None:
    steps = [Made((add(1),), values={"parameters": 1})]
    found = compare(steps, [Made((add(2),), values={"parameters": 2})], level="operator", other={"level": "step"})
    assert found.causes[0].origin is None
    assert any("operator level, the second at step level" in note for note in found.notes)


def test_projects_in_two_folders_stand_on_the_same_lines(compare: Compare) -> None:
    first = Made((add(1, path="/home/a/project/train.py"),))
    second = Made((add(2, path="/scratch/b/train.py"),), values={"parameters": 2})
    found = compare([first], [second], folder="/home/a/project", other={"folder": "/scratch/b"})
    assert found.causes[0].origin is not None
    assert found.causes[0].origin.found.kind == "kernel"
    assert found.causes[0].origin.found.operator.stack == (("train.py", 3),)


def test_lines_that_moved_between_two_commits_are_no_difference(compare: Compare) -> None:
    def calls(shift: int, digest: int) -> tuple[Call, ...]:
        mul = Call("aten.mul.Tensor", 5 + shift, (Held(1),), (Held(digest),))
        return add(1, 3 + shift), mul

    found = compare([Made(calls(0, 8))], [Made(calls(2, 9), values={"parameters": 2})])
    assert found.causes[0].origin is not None
    assert found.causes[0].origin.found.kind == "kernel"
    assert found.causes[0].origin.found.operator.name == "aten.mul.Tensor"


def test_a_tensor_that_an_earlier_step_made_is_followed_there(compare: Compare) -> None:
    def steps(digest: int) -> list[Made]:
        make = Call("aten.cumsum.default", 9, (Held(1),), (Held(digest),))
        use = Call("aten.mm.default", 5, (Held(digest),), (Held(digest + 10),))
        return [Made((make,)), Made((use,), values={"parameters": digest})]

    (cause,) = compare(steps(3), steps(4)).causes
    assert cause.origin is not None
    assert (cause.step, cause.origin.found.operator.name) == (1, "aten.cumsum.default")


def test_what_entered_differently_many_steps_before_is_told(compare: Compare) -> None:
    def steps(digest: int) -> list[Made]:
        seed = Entered("listing", "/project/data", digest, 2)
        use = Call("aten.mm.default", 5, (Held(digest),), (Held(digest + 10),))
        return [Made(entered=(seed,)), *[Made()] * 60, Made((use,), values={"parameters": digest})]

    (cause,) = compare(steps(3), steps(4)).causes
    assert [each.words for each in cause.entered] == ["listing data: other names, or another order"]


def test_a_batch_from_a_worker_of_a_loader_is_followed_there(tmp_path: Path) -> None:
    for name, digest in (("a", 3), ("b", 4)):
        (tmp_path / name).mkdir()
        given = Call("aten.mm.default", 5, (Held(digest),))
        recorded(tmp_path / name / "m.tlrec", Made((given,), values={"parameters": digest}))
        draw = Entered("draw", "random.random", digest, 8)
        sample = Entered("sample", "[1, 2]", digest, 20)
        fetch = Made(entered=(draw, sample), ends_with="fetch")
        recorded(tmp_path / name / "w.tlrec", Made(ends_with="fetch"), fetch, role="worker 0 of main")
    (cause,) = compared(tmp_path / "a", tmp_path / "b", sources=Sources(tmp_path)).causes
    assert (cause.process, cause.step) == ("worker 0 of main", 2)
    assert cause.entered[0].words == "draw random.random: the generator was in another state"


def test_comparing_recordings_brings_no_torch_along() -> None:
    asked = "import sys, torchlint.diverge.offline; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], check=False).returncode == 0
