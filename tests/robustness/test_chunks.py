"""Files go to processes in chunks of about one size, neighbours together."""

from __future__ import annotations

from torchlint.engine.processes import Processes


def chunks(sizes: list[int], jobs: int = 2) -> list[list[int]]:
    """The sizes of what goes out together."""
    processes: Processes[int, int] = Processes(int, int, jobs, int)
    return [list(chunk) for chunk in processes._chunks(sizes)]


def test_small_files_go_together_and_large_ones_alone() -> None:
    sizes = [1, 1, 1, 100, 1, 1, 90, 40, 5]
    assert chunks(sizes) == [[1, 1, 1], [100], [1, 1], [90], [40], [5]]


def test_all_go_once_and_in_order() -> None:
    sizes = [size % 7 for size in range(1000)]
    out = chunks(sizes, jobs=3)
    assert [size for chunk in out for size in chunk] == sizes
    assert max(map(len, out)) == 24
    assert min(map(len, out)) > 0


def test_files_of_no_size_go_as_well() -> None:
    assert [len(chunk) for chunk in chunks([0] * 50)] == [24, 24, 2]


def test_nothing_goes_out_for_nothing() -> None:
    assert chunks([]) == []
