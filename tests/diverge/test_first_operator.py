"""The first operator of a step that differs, and of what kind the difference is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.diverge.recorded import Call, Held, detail, operators
from torchlint.diverge.alignment import aligned
from torchlint.diverge.first_operator import FirstOperator, first_operator

SAME = Call("aten.relu.default", 1, (Held(1),), (Held(2),))
LOGGED = Call("aten.mean.default", 90, (Held(2),), (Held(3),))


def first(ours: Sequence[Call], theirs: Sequence[Call]) -> FirstOperator:
    found = first_operator(detail(*ours), detail(*theirs))
    assert found is not None
    return found


def named(calls: str) -> list[Call]:
    """An operator a letter, each on a line of its own."""
    return [Call(f"aten.{each}.default", ord(each)) for each in calls]


def pairs(ours: str, theirs: str) -> str:
    """`a=a b- -c`: what stands beside what."""
    both = aligned(operators(*named(ours)), operators(*named(theirs)))
    return " ".join("".join("-" if each is None else each.name[5] for each in pair) for pair in both)


def test_equal_steps_have_no_first_operator() -> None:
    assert first_operator(detail(SAME, LOGGED), detail(SAME, LOGGED)) is None


def test_equal_sequences_stand_side_by_side() -> None:
    assert pairs("abc", "abc") == "aa bb cc"


def test_an_operator_that_only_one_run_has_does_not_shift_the_others() -> None:
    assert pairs("abxcd", "abcd") == "aa bb x- cc dd"
    assert pairs("abcd", "abxcd") == "aa bb -x cc dd"


def test_operators_behind_the_end_of_the_other_run_stand_alone() -> None:
    assert pairs("ab", "a") == "aa b-"
    assert pairs("", "ab") == "-a -b"


def test_sequences_that_have_nothing_in_common_stand_alone() -> None:
    assert pairs("ab", "cd") == "a- b- -c -d"


def test_a_long_stretch_of_one_run_is_passed() -> None:
    extra = [Call("aten.x.default", number) for number in range(1_000)]
    both = list(aligned(operators(SAME, *extra, LOGGED), operators(SAME, LOGGED)))
    assert [one.name for one, two in both if one is not None and two is not None] == [SAME.name, LOGGED.name]
    assert len(both) == 1_002


def test_one_program_is_held_against_itself_by_lines() -> None:
    calls = [replace(each, line=each.line + 1) for each in named("ab")]
    assert [two for _, two in aligned(operators(*named("ab")), operators(*calls))][:2] == [None, None]


def test_two_versions_of_a_program_are_held_against_each_other_by_names() -> None:
    calls = [replace(each, line=each.line + 1) for each in named("ab")]
    both = list(aligned(operators(*named("ab")), operators(*calls), may_have_moved=True))
    assert all(one is not None and two is not None and one.name == two.name for one, two in both)


def test_equal_operands_that_give_other_bits_are_a_kernel() -> None:
    ours, theirs = (Call("aten.index_add.default", 2, (Held(2),), (Held(digest),)) for digest in (5, 6))
    found = first([SAME, ours], [SAME, theirs])
    assert (found.kind, found.operator.name, found.place) == ("kernel", "aten.index_add.default", 0)


def test_a_tensor_from_outside_torch_is_data() -> None:
    ours, theirs = (Call("aten.lift_fresh.default", 2, (Held(digest),), (Held(digest),)) for digest in (5, 6))
    found = first([SAME, ours], [SAME, theirs])
    assert (found.kind, found.place, found.is_carried) == ("data", -1, False)


def test_a_tensor_that_no_operator_of_the_step_wrote_may_come_from_an_earlier_one() -> None:
    ours, theirs = (Call("aten.mm.default", 2, (Held(1), Held(digest))) for digest in (5, 6))
    found = first([ours], [theirs])
    assert (found.kind, found.place, found.is_carried) == ("data", -2, True)


def test_numbers_of_python_that_differ_are_data() -> None:
    ours, theirs = (replace(SAME, arguments=digest) for digest in (5, 6))
    assert first([ours], [theirs]).kind == "data"


def test_weights_that_differ_are_parameters() -> None:
    ours, theirs = (Call("aten.mm.default", 2, (Held(digest, is_parameter=True),)) for digest in (5, 6))
    assert first([ours], [theirs]).kind == "parameters"


def test_weights_that_are_written_outside_an_update_are_parameters() -> None:
    ours, theirs = (
        Call("aten.copy_.default", 2, (Held(digest),), (Held(digest, is_parameter=True),)) for digest in (5, 6)
    )
    assert first([ours], [theirs]).kind == "parameters"


def test_memory_that_nobody_wrote_is_memory() -> None:
    ours, theirs = (Call("aten.sum.default", 2, (Held(digest, is_unwritten=True),)) for digest in (5, 6))
    assert first([ours], [theirs]).kind == "memory"


def test_a_draw_from_another_state_is_a_draw() -> None:
    ours, theirs = (Call("aten.bernoulli_.float", 2, gives=(Held(digest),), generator=digest) for digest in (5, 6))
    found = first([SAME, ours], [SAME, theirs])
    assert (found.kind, found.has_extra_draws) == ("draw", False)


def test_a_draw_that_only_one_run_makes_explains_the_later_ones() -> None:
    extra = Call("aten.randn.default", 2, gives=(Held(8),), generator=5)
    ours, theirs = (Call("aten.rand.default", 3, gives=(Held(digest),), generator=digest) for digest in (7, 5))
    found = first([extra, ours], [theirs])
    assert (found.kind, found.operator.name, found.theirs) == ("draw", "aten.randn.default", None)
    assert found.has_extra_draws


def test_a_value_that_an_extra_operator_changed_is_control_flow() -> None:
    clamp = Call("aten.clamp_.default", 2, (Held(2),), (Held(5),))
    ours = Call("aten.exp.default", 3, (Held(5, writer=1),), (Held(6),))
    theirs = Call("aten.exp.default", 3, (Held(2, writer=0),), (Held(7),))
    found = first([SAME, clamp, ours], [SAME, theirs])
    assert (found.kind, found.operator.name, found.extras) == ("control-flow", "aten.clamp_.default", 1)


def test_an_extra_operator_that_changes_nothing_is_passed_and_counted() -> None:
    ours, theirs = (Call("aten.cumsum.default", 3, (Held(2),), (Held(digest),)) for digest in (5, 6))
    found = first([SAME, LOGGED, ours], [SAME, theirs])
    assert (found.kind, found.operator.name, found.extras) == ("kernel", "aten.cumsum.default", 1)


def test_extra_operators_alone_are_control_flow() -> None:
    found = first([SAME], [SAME, LOGGED])
    assert (found.kind, found.ours, found.operator.name) == ("control-flow", None, "aten.mean.default")


def test_bytes_that_changed_between_two_operators_are_told_with_the_one_before() -> None:
    ours, theirs = (Call("aten.exp.default", 3, (Held(digest, writer=0),)) for digest in (5, 6))
    found = first([SAME, ours], [SAME, theirs])
    assert (found.kind, found.place) == ("kernel", -1)
    assert found.before is not None
    assert found.before.name == "aten.relu.default"


def test_a_difference_that_reaches_no_update_gives_way_to_one_that_does() -> None:
    logged, other = (replace(LOGGED, gives=(Held(digest),)) for digest in (3, 4))
    ours, theirs = (Call("aten.cumsum.default", 3, (Held(2),), (Held(digest),)) for digest in (5, 6))
    update = Call("aten.add_.Tensor", 4, (Held(5, writer=1),), direction="update")
    assert first([logged, ours, update], [other, theirs, update]).operator.name == "aten.cumsum.default"
    assert first([logged, update], [other, update]).operator.name == "aten.mean.default"


def test_a_draw_reaches_an_update_by_a_later_draw() -> None:
    extra, other = (Call("aten.rand.default", 2, gives=(Held(digest),), generator=digest) for digest in (3, 4))
    ours, theirs = (Call("aten.cumsum.default", 3, (Held(2),), (Held(digest),)) for digest in (5, 6))
    later = Call("aten.rand.default", 5, gives=(Held(9),), generator=1)
    update = Call("aten.add_.Tensor", 6, (Held(9, writer=2), Held(5, writer=1)), direction="update")
    assert first([extra, ours, later, update], [other, theirs, later, update]).kind == "draw"
