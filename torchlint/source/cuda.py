"""CUDA and C++ source, as far as its atomic additions ask for it: functions, and what their bodies name."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

_ATOMIC = re.compile(
    r"\b(?P<name>atomicAdd(?:_block|_system)?|gpuAtomicAdd\w*|unsafeAtomicAdd)\s*\(\s*(?P<target>[^,;]+),(?P<value>[^;]*)"
)
_WHOLE = re.compile(r"[+-]?\s*\d+(?:u|l|ul|ull|ll)?\s*\)", re.IGNORECASE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INTEGERS = r"(?:int|unsigned|long|short|size_t|u?int(?:8|16|32|64)_t)"
_UNCODED = re.compile(
    r"""//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.)*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""",
    re.DOTALL | re.MULTILINE,
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_TRANSPARENT = re.compile(r"\b(?:namespace|extern)\b[^()]*$")
_NAME = re.compile(r"([A-Za-z_]\w*)\s*$")
_BINDING = re.compile(
    r"""\.\s*(?:def|impl)\s*\(\s*"(?P<name>\w+)[^"]*"\s*,\s*(?:TORCH_FN\s*\(\s*)?&?\s*(?:\w+\s*::\s*)*(?P<function>\w+)"""
)


class Addition(msgspec.Struct, frozen=True):
    """A float that is added atomically; the line counts from 1."""

    line: int
    name: str


class Function(msgspec.Struct, frozen=True):
    """A function that is defined, with every word of its body: among them those that it calls."""

    name: str
    words: frozenset[str]
    additions: tuple[Addition, ...]


def functions(source: str) -> Iterator[Function]:
    """The functions that a file defines outside of classes, in namespaces or not."""
    code = _UNCODED.sub(_blanked, source)
    header = depth = start = 0
    for mark in re.finditer(r"[{};]", code):
        if mark[0] == "{":
            if depth <= 0 and _TRANSPARENT.search(code[header : mark.start()]):
                header = mark.end()
                continue
            start = mark.start() if depth <= 0 else start
            depth += 1
        elif mark[0] == "}":
            depth = max(depth - 1, 0)
        if depth <= 0:
            if mark[0] == "}" and start >= header:
                yield from _function(code, header, start, mark.end())
            header = mark.end()


def _function(code: str, header: int, start: int, end: int) -> Iterator[Function]:
    name = _name(code[header:start])
    if name:
        before = code.count("\n", 0, header)
        found = (Addition(before + line + 1, word) for line, word in _additions(code[header:end], start - header))
        yield Function(name, frozenset(_WORD.findall(code, start, end)), tuple(found))


def _name(header: str) -> str:
    """The word before the last parentheses: `__global__ void __launch_bounds__(256) add(float* out)`."""
    depth, close = 0, header.rfind(")")
    for place in range(close, -1, -1):
        depth += {")": 1, "(": -1}.get(header[place], 0)
        if depth <= 0:
            found = _NAME.search(header[:place])
            return found[1] if found else ""
    return ""


def bindings(source: str) -> Iterator[tuple[str, str]]:
    """What Python may call, and the function behind it: `m.def("backward", &roi_align_backward)`."""
    code = _COMMENT.sub(_blanked, source)
    yield from ((found["name"], found["function"]) for found in _BINDING.finditer(code))


def atomic_additions(source: str) -> Iterator[tuple[int, str]]:
    """The line (from 0) and name of every atomic addition in CUDA source, but for those that add integers."""
    yield from _additions(_COMMENT.sub(_blanked, source), 0)


def _additions(code: str, start: int) -> Iterator[tuple[int, str]]:
    for match in _ATOMIC.finditer(code, start):
        pointer = re.search(r"[A-Za-z_]\w*", match["target"])
        is_integer = pointer is not None and re.search(
            rf"\b{_INTEGERS}\s*(?:\*\s*(?:__restrict__\s*)?|&\s*)?{re.escape(pointer[0])}\b", code
        )
        if not is_integer and not _is_whole(match["value"].strip(), code):
            yield code.count("\n", 0, match.start()), match["name"]


def _is_whole(value: str, code: str) -> bool:
    """Whether whole numbers alone are added, whose sums are exact: `1`, or a sign that is only ever 1 or -1."""
    if _WHOLE.match(value):
        return True
    name = re.match(r"[+-]?\s*([A-Za-z_]\w*)\s*\)", value)
    given = re.findall(rf"\b{name[1]}\s*=(?!=)\s*([^;,]+)", code) if name else []
    return bool(given) and all(re.fullmatch(r"[+-]?\s*\d+(?:\.0*)?f?\s*", one) for one in given)


def _blanked(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])
