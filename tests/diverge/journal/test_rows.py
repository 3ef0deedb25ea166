"""The rows of a step: what each operator takes, writes and draws from, and where it ran."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.diverge.journal.program import NAME, Program, recorded_program
from torchlint.diverge.recordings import Operator

pytestmark = pytest.mark.torch

ONE_STEP = """\
import threading

import torch
from torch import nn

torch.manual_seed(0)
a = torch.ones(4)  # made
b = a + 1  # first_read
c = a.view(2, 2)  # viewed
c.mul_(3)  # in_place
d = a * 2  # read_after_write
a[1] = 7.0  # indexed_store
e = a * 2  # read_after_store
torch.zeros_like(e)  # not_read_again

memory = torch.empty(4)  # allocated
g = memory.clone()  # read_unwritten
memory[:2].fill_(1.0)  # filled_in_part
h = memory.clone()  # read_half_written
memory.fill_(1.0)  # filled
i = memory.clone()  # read_written

table = torch.arange(6.0)  # table
first = table[1:4].clone()  # from_one
second = table[2:5].clone()  # from_two
for place in (0, 1):
    table.select(0, place).fill_(5)  # at_place
for width in (2, 3):
    torch.full((4,), width)  # by_width
    torch.full((4,), 9)  # by_nine
many = torch.stack([table, table])  # from_list
out = torch.empty(6)
torch.add(table, 1, out=out)  # into_out
out.clone()  # read_out
out.t()  # only_viewed
values, indices = table.sort()  # two_results

torch.rand(3)  # drawn
torch.rand(3)  # drawn_later
own = torch.Generator().manual_seed(5)
torch.rand(3, generator=own)  # drawn_from_own
torch.rand(3, generator=own.manual_seed(5))  # drawn_from_own_again
nn.functional.dropout(torch.ones(8), 0.5)  # dropped
leaky = torch.ones(8)  # leaky
nn.functional.rrelu_(leaky, training=True)  # drawn_and_read
leaky.bernoulli_(0.5)  # drawn_over
print(table.sum().item())  # item
if table[0] > 0:  # truth
    pass
print(table.tolist())  # listed


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.frozen = nn.Parameter(torch.ones(4), requires_grad=False)

    def forward(self, x):
        return self.inner(x).relu() * self.frozen  # in_block


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)  # block_called
        x = x.tanh()  # in_net
        return self.head(x)


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2  # own_forward

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2  # own_backward


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, foreach=False)
loss = Doubled.apply(net(torch.ones(2, 4)).exp()).sum()  # loss
loss.register_hook(lambda gradient: gradient * 1)  # hook
loss.backward()  # backward
alone = nn.Linear(2, 2)


def threaded():
    alone(torch.ones(1, 2))  # threaded
    torch.ones(3).cos()  # cosine_of_thread


thread = threading.Thread(target=threaded)
thread.start()
thread.join()
optimizer.step()  # stepped
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return recorded_program(tmp_path_factory.mktemp("one-step"), ONE_STEP)


def writer(program: Program, reader: Operator, place: int = 0) -> Operator | None:
    """The operator that wrote an operand last."""
    number = reader.row.operands[place].writer
    rows = {each.number: each for thread in program.details[0].threads for each in thread}
    return rows[number] if number >= 0 else None


def made_at(program: Program, mark: str, name: str = "", place: int = 0) -> int:
    """The line of the operator that wrote an operand of the operator of a line."""
    found = writer(program, program.one(mark, name), place)
    assert found is not None
    assert found.stack[0][0] == NAME
    return found.stack[0][1]


# -- who wrote an operand ---------------------------------------------------------------------------------


def test_an_operand_has_the_row_that_made_it(program: Program) -> None:
    assert made_at(program, "first_read") == program.line("made")


def test_a_write_by_way_of_a_view_is_a_write_to_the_storage(program: Program) -> None:
    assert made_at(program, "in_place") == program.line("made")
    assert made_at(program, "read_after_write") == program.line("in_place")
    assert made_at(program, "read_after_store") == program.line("indexed_store")


def test_what_is_written_in_place_is_operand_and_result(program: Program) -> None:
    row = program.one("in_place").row
    assert len(row.operands) == len(row.results) == 1
    assert row.operands[0].digest != row.results[0].digest
    before, after = program.one("first_read").row.operands[0], program.one("read_after_write").row.operands[0]
    assert before.digest != after.digest


def test_a_result_is_what_the_next_operator_takes(program: Program) -> None:
    result = writer(program, program.one("read_after_store"))
    assert result is not None
    assert program.one("made").row.results[0].digest == program.one("first_read").row.operands[0].digest


def test_what_only_makes_a_view_gets_no_row(program: Program) -> None:
    assert program.operators("viewed") == []
    assert program.operators("only_viewed") == []


def test_the_tensors_of_a_list_are_operands(program: Program) -> None:
    row = program.one("from_list", "stack" if program.names("from_list") == ["stack"] else "cat").row
    assert len(row.operands) == 2
    assert row.operands[0].digest == row.operands[1].digest


def test_all_results_are_told(program: Program) -> None:
    operator = program.one("two_results")
    assert operator.given == ("float32[6] cpu", "int64[6] cpu")


def test_an_out_argument_is_a_result_and_no_operand(program: Program) -> None:
    row = program.one("into_out").row
    assert len(row.operands) == len(row.results) == 1
    assert made_at(program, "read_out") == program.line("into_out")
    assert not program.one("read_out").row.operands[0].is_unwritten


# -- memory that was not written --------------------------------------------------------------------------


def test_memory_is_unwritten_until_it_is_filled(program: Program) -> None:
    assert program.one("allocated").row.results[0].digest == 0
    reads = [program.one(mark).row.operands[0] for mark in ("read_unwritten", "read_half_written", "read_written")]
    assert [each.is_unwritten for each in reads] == [True, True, False]
    assert not program.one("first_read").row.operands[0].is_unwritten


def test_what_is_overwritten_is_no_operand(program: Program) -> None:
    assert program.one("filled").row.operands == ()


# -- arguments that Python gave ---------------------------------------------------------------------------


def test_a_number_from_python_changes_the_digest_of_the_arguments(program: Program) -> None:
    two, three = (each.row.arguments for each in program.operators("by_width"))
    assert two != three
    nine, again = (each.row.arguments for each in program.operators("by_nine"))
    assert nine == again


def test_where_a_view_begins_belongs_to_the_arguments(program: Program) -> None:
    one, two = program.one("from_one"), program.one("from_two")
    assert one.taken == two.taken
    assert one.row.arguments != two.row.arguments


# -- random numbers ---------------------------------------------------------------------------------------


def test_a_draw_has_the_state_that_it_was_made_from(program: Program) -> None:
    first, later = program.one("drawn", "rand").row.generator, program.one("drawn_later", "rand").row.generator
    assert 0 != first != later != 0


def test_a_generator_of_its_own_is_the_one_whose_state_is_told(program: Program) -> None:
    own, again = program.one("drawn_from_own", "rand"), program.one("drawn_from_own_again", "rand")
    assert own.row.generator == again.row.generator != program.one("drawn", "rand").row.generator
    assert own.row.results[0].digest == again.row.results[0].digest


def test_dropout_draws_and_addition_does_not(program: Program) -> None:
    assert any(each.row.generator for each in program.operators("dropped"))
    assert program.one("first_read").row.generator == 0


def test_a_draw_overwrites_memory_unless_it_also_reads_it(program: Program) -> None:
    assert program.one("drawn_over").row.operands == ()
    assert made_at(program, "drawn_and_read", "rrelu") == program.line("leaky")
    assert not any(each.is_unwritten for each in program.one("drawn_and_read", "rrelu").row.operands)


# -- numbers that Python takes ----------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["item", "truth"])
def test_a_number_that_python_takes_is_a_row_and_a_read_of_the_step(program: Program, mark: str) -> None:
    assert "_local_scalar_dense" in program.names(mark)
    assert program.details[0].step.values["reads"]


# -- parameters, modules and directions -------------------------------------------------------------------


def test_parameters_are_told_from_what_is_computed(program: Program) -> None:
    first, second = program.operators("in_block")[:2]
    linear = next(each for each in program.operators("in_block") if each.name.startswith("aten.addmm"))
    assert [each.is_parameter for each in linear.row.operands] == [True, False, True]
    times = next(each for each in program.operators("in_block") if each.name.startswith("aten.mul"))
    assert [each.is_parameter for each in times.row.operands] == [False, True]
    assert not any(each.is_parameter for each in (*first.row.results, *second.row.results))


def test_an_operator_has_the_path_of_its_module(program: Program) -> None:
    modules = [each.module for each in program.operators("in_block") if each.name.startswith("aten.addmm")]
    assert modules == ["Net.blocks.0.inner", "Net.blocks.1.inner"]
    relus = [each.module for each in program.operators("in_block") if each.name.startswith("aten.relu")]
    assert relus == ["Net.blocks.0", "Net.blocks.1"]
    assert program.one("in_net", "tanh").module == "Net"
    assert program.one("made").module == ""


def test_an_operator_has_the_lines_that_led_to_it(program: Program) -> None:
    relu = next(each for each in program.operators("in_block") if each.name.startswith("aten.relu"))
    assert relu.stack == tuple((NAME, program.line(mark)) for mark in ("in_block", "block_called", "loss"))


def test_a_backward_operator_has_the_line_of_its_forward_call(program: Program) -> None:
    assert "tanh_backward" in program.names("in_net", "backward")
    assert "threshold_backward" in program.names("in_block", "backward")
    tanh = program.one("in_net", "tanh_backward", "backward")
    assert tanh.module == "Net"
    assert tanh.stack == program.one("in_net", "tanh").stack
    assert program.operators("loss", "backward")


def test_a_backward_and_a_hook_of_the_programs_own_have_their_own_lines(program: Program) -> None:
    assert program.names("own_backward", "backward") == ["mul"]
    assert program.names("hook", "backward") == ["mul"]
    assert program.names("own_forward") == ["mul"]


def test_what_starts_the_backward_pass_is_no_part_of_it(program: Program) -> None:
    assert program.operators("backward", "backward") == []
    assert program.names("backward") == ["ones_like"]


def test_what_an_optimizer_runs_is_an_update(program: Program) -> None:
    assert program.operators("stepped") == []
    updates = program.operators("stepped", "update")
    assert any(each.row.operands[0].is_parameter for each in updates if each.name.startswith("aten.add_"))


def test_a_thread_that_calls_modules_has_rows_of_its_own(program: Program) -> None:
    assert len(program.details[0].threads) == 2
    assert [each.row.thread for each in program.operators("cosine_of_thread") if "cos" in each.name] == [1]
    assert any(each.name.startswith("aten.addmm") for each in program.operators("threaded"))
    assert {each.row.thread for each in program.operators("in_net")} == {0}


def test_rows_are_numbered_over_all_threads(program: Program) -> None:
    numbers = [each.number for thread in program.details[0].threads for each in thread]
    assert sorted(numbers) == list(range(len(numbers)))
    assert not program.details[0].is_cut
