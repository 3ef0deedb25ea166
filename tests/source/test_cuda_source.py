"""Functions of CUDA source, what they name and add, and what Python may call."""

from __future__ import annotations

import pytest

from torchlint.source.cuda import Function, bindings, functions

KERNEL = """
#define CUDA_LOOP(i, n) \\
  for (int i = 0; i < n; i++)
namespace shifts { namespace {
template <typename scalar_t>
__global__ void __launch_bounds__(256) add(const scalar_t* values, scalar_t* out, const char* brace = "{") {
  // atomicAdd(out, 1.5f);
  CUDA_LOOP(i, 4) { out[i] = '}'; }
  atomicAdd(out + 1, values[0]);
}
}}
extern "C" { void launch(float* out) { shifts::add<<<1, 256>>>(out, out); } }
float zero() { return 0.0f; }
"""


def _named(source: str) -> dict[str, Function]:
    return {function.name: function for function in functions(source)}


def test_functions_are_found_in_namespaces_with_what_they_call() -> None:
    found = _named(KERNEL)
    assert list(found) == ["add", "launch", "zero"]
    assert "add" in found["launch"].words
    assert [(one.line, one.name) for one in found["add"].additions] == [(9, "atomicAdd")]
    assert not found["launch"].additions


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("atomicAdd(&out[i], value);", 1),
        ("gpuAtomicAddNoReturn(out + i, value);", 1),
        ("atomicAdd(&counts[i], value);", 0),
        ("atomicAdd(&out[i], 1);", 0),
        ("float sign = i % 2 ? 1.0f : -1.0f; atomicAdd(&out[i], sign);", 1),
        ("float sign = 1.0f; if (i) sign = -1.f; atomicAdd(&out[i], -sign);", 0),
        ("atomicMax(&out[i], value);", 0),
    ],
)
def test_sums_of_floats_count_and_sums_of_whole_numbers_do_not(body: str, count: int) -> None:
    source = f"__global__ void add(float* out, int* counts, float value, int i) {{ {body} }}"
    assert len(_named(source)["add"].additions) == count


@pytest.mark.parametrize(
    "source", ["", "}}}{{{", "void open(", 'char* text = "{', "/* atomicAdd(out, x) {", "#define A {\\"]
)
def test_what_is_no_source_holds_no_functions(source: str) -> None:
    assert not _named(source)


def test_bindings_of_modules_and_of_torch_libraries() -> None:
    source = """
    PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
      // m.def("old", &old);
      m.def("forward", &shifts::forward, "values", py::arg("x"));
      m.def("backward",
            &backward);
    }
    TORCH_LIBRARY_IMPL(shifts, CUDA, m) { m.impl("look_up", TORCH_FN(look_up_cuda)); }
    """
    found = [("forward", "forward"), ("backward", "backward"), ("look_up", "look_up_cuda")]
    assert list(bindings(source)) == found
