"""Digests of what tensors hold: the order of elements counts, how they lie in memory does not."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from torchlint.recording.journal import digests, samples

pytestmark = pytest.mark.torch
CHUNK = 1 << 20
"""Elements that the sums of a device weigh at once."""


def digest(tensor: torch.Tensor) -> int:
    return digests.resolved(digests.Digests().of(tensor))


def numbers(*shape: int, dtype: torch.dtype | None = None) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=dtype)


@pytest.fixture(scope="module")
def sums() -> digests.DeviceSums:
    return digests.DeviceSums(torch.device("cpu"))


def summed(sums: digests.DeviceSums, *tensors: torch.Tensor) -> list[int]:
    """The digests as an accelerator makes them."""
    sums.reset()
    pending = [sums.of(each) for each in tensors]
    return [each.fetched() for each in pending]


# -- hashed where they lie --------------------------------------------------------------------------------


def test_a_copy_has_the_digest_of_its_tensor() -> None:
    tensor = numbers(5, 7)
    assert digest(tensor) == digest(tensor.clone()) != 0
    assert digest(torch.nn.Parameter(tensor)) == digest(tensor)


def test_a_permutation_has_another_digest() -> None:
    tensor = numbers(100)
    assert digest(tensor.flip(0)) != digest(tensor)
    assert digest(tensor.sort().values) != digest(tensor)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int64", "uint8", "bool", "complex64"])
def test_one_changed_element_changes_the_digest(dtype: str) -> None:
    tensor = torch.zeros(33, dtype=getattr(torch, dtype))
    changed = tensor.clone()
    changed[17] = 1
    assert digest(tensor) != digest(changed)
    assert digest(tensor) == digest(tensor.clone())


def test_a_transposed_tensor_on_the_same_bytes_has_another_digest() -> None:
    square = numbers(4, 4)
    assert digest(square.t()) != digest(square)
    images = numbers(2, 3, 3, 3)
    lying_last = images.permute(0, 3, 1, 2)
    assert lying_last.is_contiguous(memory_format=torch.channels_last)
    assert digest(lying_last) != digest(images)


def test_equal_tensors_of_equal_strides_have_one_digest() -> None:
    tensor = numbers(4, 6)
    assert digest(tensor.t()) == digest(tensor.clone().t())
    images = numbers(2, 3, 5, 5).to(memory_format=torch.channels_last)
    assert digest(images) == digest(images.clone())


@pytest.mark.parametrize(
    "view", ["t[:, ::2]", "t[3:, 2:5]", "t[2]", "t[:, 1]", "t.expand(2, 6, 8)", "t[None].permute(2, 0, 1)", "t[::3]"]
)
def test_a_slice_has_the_digest_of_its_copy(view: str) -> None:
    found = eval(view, {"t": numbers(6, 8)})  # noqa: S307 - written above
    assert digest(found) == digest(found.clone(memory_format=torch.contiguous_format))


@pytest.mark.parametrize("shape", [(5,), (3, 4)])
def test_conjugate_and_negative_views_have_the_digests_of_their_copies(shape: tuple[int, ...]) -> None:
    tensor = numbers(*shape, dtype=torch.complex64)
    conjugate, negative = tensor.conj(), tensor.conj().imag
    assert conjugate.is_conj()
    assert negative.is_neg()
    assert digest(conjugate) == digest(conjugate.resolve_conj()) != digest(tensor)
    assert digest(negative) == digest(negative.resolve_neg().contiguous()) != digest(tensor.imag)


def test_bits_that_compare_equal_or_unequal_are_told_by_their_bits() -> None:
    quiet, other = torch.tensor([0x7FC00000, 0x7FC00001], dtype=torch.int32).view(torch.float32)
    assert torch.isnan(quiet)
    assert torch.isnan(other)
    assert digest(quiet) == digest(quiet.clone())
    assert digest(quiet) != digest(other)
    assert digest(torch.tensor(0.0)) != digest(torch.tensor(-0.0))


def test_a_tensor_without_dimensions_has_a_digest() -> None:
    assert digest(torch.tensor(2.5)) == digest(torch.tensor([2.5])) != 0


@pytest.mark.parametrize("made", ["torch.empty(0)", "torch.empty(3, 0)", "torch.empty(3, device='meta')"])
def test_what_holds_nothing_has_no_digest(made: str) -> None:
    assert digest(eval(made, {"torch": torch})) == 0  # noqa: S307 - written above


def test_joined_digests_depend_on_their_order() -> None:
    assert digests.joined(1, 2) != digests.joined(2, 1)
    assert digests.joined(1, 2) == digests.joined(1, 2)


# -- the sums of a device ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int64", "uint8", "complex64"])
def test_sums_of_a_device_depend_on_order(sums: digests.DeviceSums, dtype: str) -> None:
    tensor = (numbers(1000) * 40).abs().to(getattr(torch, dtype))
    swapped = tensor.clone()
    swapped[[3, 4]] = tensor[[4, 3]]
    assert not torch.equal(tensor, swapped)
    found = summed(sums, tensor, tensor.clone(), tensor.flip(0), swapped)
    assert found[0] == found[1]
    assert len(set(found)) == 3


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "complex64", "complex128"])
@pytest.mark.parametrize(("one", "other"), [(1.0, -1.0), (0.0, 1.0), (1.0, 2.0)])
def test_two_elements_that_differ_in_few_bits_are_told_apart_wherever_they_lie(
    sums: digests.DeviceSums, dtype: str, one: float, other: float
) -> None:
    kind = getattr(torch, dtype)
    unit = 1j if kind.is_complex else 1
    ones = torch.full((300,), one * unit, dtype=kind)
    tensors = [ones.clone() for _ in range(300)]
    for place, each in enumerate(tensors):
        each[place] = torch.tensor(other * unit)
    assert len(set(summed(sums, ones, *tensors))) == 301


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_an_even_number_of_changed_signs_changes_the_sums(sums: digests.DeviceSums, dtype: str) -> None:
    tensor = numbers(1000, dtype=getattr(torch, dtype))
    first, second = tensor.clone(), tensor.clone()
    first[:2] *= -1
    second[500:] *= -1
    assert len(set(summed(sums, tensor, first, second, -tensor))) == 4


@pytest.mark.parametrize("count", [1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 1])
def test_each_element_counts_on_both_sides_of_a_chunk(sums: digests.DeviceSums, count: int) -> None:
    tensor = torch.ones(count, dtype=torch.int16)
    tensors = [tensor]
    for place in {0, min(count, CHUNK) - 1, count - 1}:
        changed = tensor.clone()
        changed[place] = 2
        tensors.append(changed)
    found = summed(sums, *tensors)
    assert len(set(found)) == len(tensors)
    assert summed(sums, *tensors) == found


def test_chunks_that_are_swapped_change_the_sums(sums: digests.DeviceSums) -> None:
    tensor = torch.arange(2 * CHUNK, dtype=torch.int32)
    swapped = torch.cat([tensor[CHUNK:], tensor[:CHUNK]])
    one_swapped = tensor.clone()
    one_swapped[[5, CHUNK + 5]] = tensor[[CHUNK + 5, 5]]
    assert len(set(summed(sums, tensor, swapped, one_swapped))) == 3


def test_sums_see_through_views(sums: digests.DeviceSums) -> None:
    tensor = numbers(6, 8, dtype=torch.complex64)
    for view in (tensor[:, ::2], tensor.t(), tensor.conj(), tensor.conj().imag, tensor[0, 0]):
        copy = view.resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
        assert len(set(summed(sums, view, copy))) == 1
    assert len(set(summed(sums, tensor[:6, :6], tensor[:6, :6].t()))) == 2


def test_more_digests_than_a_buffer_holds_go_to_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "_SLOTS", 3)
    own = digests.Digests()
    device = torch.device("cpu")
    tensors = [torch.tensor([number, number + 1]) for number in range(8)]
    for _ in range(2):
        pending = [own._sums(device).of(each) for each in tensors]  # `of` hashes in place on the CPU
        assert len({id(each.buffer) for each in pending}) == 3
        found = [digests.resolved(each) for each in pending]
        assert found == summed(digests.DeviceSums(device), *tensors[:3]) + found[3:]
        assert len(set(found)) == 8
        own.begin_step()


def test_a_slot_is_used_anew_in_the_next_step(sums: digests.DeviceSums) -> None:
    first, other = numbers(10), numbers(10).flip(0)
    assert summed(sums, first, other) == summed(sums, other, first)[::-1]


# -- parts ------------------------------------------------------------------------------------------------


class Pair(torch.Tensor):
    """A wrapper of two tensors, as quantized weights are."""

    first: torch.Tensor
    second: torch.Tensor

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["first", "second"], None

    @classmethod
    def __torch_dispatch__(cls, *_: object, **__: object) -> Any:  # noqa: ANN401 - torch's own signature
        raise NotImplementedError


def paired(first: torch.Tensor, second: torch.Tensor) -> Pair:
    own: Pair = torch.Tensor._make_wrapper_subclass(Pair, first.shape, dtype=first.dtype)
    own.first, own.second = first, second
    return own


class Marked(torch.Tensor):
    """A subclass that holds what it holds itself."""


def test_a_plain_tensor_is_its_only_part() -> None:
    (part,) = digests.parts_of(torch.nn.Parameter(numbers(3)))
    assert torch.equal(part, numbers(3))
    assert not part.requires_grad


@pytest.mark.parametrize("layout", ["sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"])
@pytest.mark.filterwarnings("ignore:Sparse")
def test_a_compressed_tensor_has_three_parts(layout: str) -> None:
    size = (2, 2) if "bs" in layout else None
    made = torch.eye(4).to_sparse(layout=getattr(torch, layout), blocksize=size)
    assert len(digests.parts_of(made)) == 3


@pytest.mark.filterwarnings("ignore:Sparse")
def test_a_sparse_tensor_has_indices_and_values_as_they_are_stored() -> None:
    at_first = torch.sparse_coo_tensor(torch.tensor([[0, 0, 1]]), [1.0, 2.0, 3.0], (2,))
    reordered = torch.sparse_coo_tensor(torch.tensor([[0, 0, 1]]), [2.0, 1.0, 3.0], (2,))
    elsewhere = torch.sparse_coo_tensor(torch.tensor([[0, 1, 1]]), [1.0, 2.0, 3.0], (2,))
    assert [list(each.shape) for each in digests.parts_of(at_first)] == [[1, 3], [3]]
    assert len({digest(each) for each in (at_first, reordered, elsewhere)}) == 3
    assert digest(at_first) == digest(at_first.clone())


@pytest.mark.filterwarnings("ignore:.*quant")
def test_a_quantized_tensor_is_told_by_its_whole_numbers() -> None:
    first, same, other = (
        torch.quantize_per_tensor(torch.tensor(values), 0.1, 0, torch.qint8)
        for values in ([1.0, 2.0], [1.0, 2.0], [2.0, 1.0])
    )
    assert digest(first) == digest(same) != digest(other)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_jagged_tensor_is_told_by_its_values_and_offsets() -> None:
    pieces = [torch.arange(3.0), torch.arange(2.0)]
    first, same = (torch.nested.nested_tensor(pieces, layout=torch.jagged) for _ in range(2))
    other = torch.nested.nested_tensor(pieces[::-1], layout=torch.jagged)
    assert len(digests.parts_of(first)) >= 2
    assert digest(first) == digest(same) != digest(other)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_nested_tensor_in_one_buffer_has_no_parts() -> None:
    assert digests.parts_of(torch.nested.nested_tensor([torch.arange(3.0), torch.arange(2.0)])) == []


def test_a_wrapper_is_told_by_what_it_wraps() -> None:
    first, second = numbers(3), numbers(3) + 1
    assert [each.tolist() for each in digests.parts_of(paired(first, second))] == [first.tolist(), second.tolist()]
    assert digest(paired(first, second)) != digest(paired(second, first))
    nested = paired(first, paired(second, first))
    assert len(digests.parts_of(nested)) == 3


def test_a_subclass_has_the_digest_of_the_tensor_that_it_is() -> None:
    assert digest(numbers(4).as_subclass(Marked)) == digest(numbers(4))


def test_what_stands_for_a_tensor_has_no_parts() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() as mode:
        assert digests.parts_of(mode.from_tensor(numbers(3))) == []
    assert digests.parts_of(torch.empty(3, device="meta")) == []
    seen: list[int] = []

    def one(row: torch.Tensor) -> torch.Tensor:
        seen.append(len(digests.parts_of(row)))
        return row

    torch.vmap(one)(numbers(2, 3))
    assert seen == [0]


# -- samples and bytes ------------------------------------------------------------------------------------


def test_the_sample_of_a_tensor_that_is_not_seen_whole_is_empty() -> None:
    for each in (numbers(3).as_subclass(Marked), numbers(3, dtype=torch.complex64).conj().imag):
        assert samples.sample_of(each) == ()
    assert samples.sample_of(torch.tensor(1.5)) == (1.5,)


@pytest.mark.parametrize("count", [1, 7, 8, 9, 1000])
def test_at_most_eight_elements_are_sampled_and_the_first_is_one(count: int) -> None:
    sample = samples.sample_of(torch.arange(float(count)))
    assert sample[0] == 0
    assert min(count, 5) <= len(sample) <= 8


def test_bytes_are_those_of_the_tensors_own_order() -> None:
    tensor = torch.tensor([[1, 2], [3, 4]], dtype=torch.uint8)
    assert digests.bytes_of(tensor.t()) == bytes([1, 3, 2, 4])
    assert digests.bytes_of(tensor.to_sparse()) == b""


def test_a_kind_tells_type_shape_and_device() -> None:
    assert digests.kind_of(torch.zeros(2, 3, dtype=torch.bfloat16)) == "bfloat16[2,3] cpu"
    assert digests.kind_of(torch.tensor(1)) == "int64[] cpu"
