"""Which devices a file names: what no code moves away stays on the CPU, where torch makes it."""

from __future__ import annotations

import ast
import bisect
import functools
import re
import sys
from collections.abc import Collection, Iterator, Sequence

import msgspec

from torchlint.catalogue.devices import DeviceFile
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import CallSite
from torchlint.facts.tensors.devices import is_dtype
from torchlint.facts.tree import children, last_word
from torchlint.source.syntax import first_line
from torchlint.source.text import distinct_words, small_letters

CUDA = "cuda"
GPUS = frozenset({CUDA, "rocm"})
"""What `torch.cuda` may run on."""
OPEN = "open"
"""A device that comes from elsewhere, in the words of the registry."""
CHOSEN = "chosen"
"""A device that a library may choose, a call of `to`, or code made at run time."""
_NO_TENSORS = frozenset(
    {
        *("self", "args", "opt", "opts", "options", "cfg", "config", "conf", "params", "hparams", "flags", "settings"),
        "torch",
    }
)
"""What holds a program's options; and torch itself, whose `torch.device` is a class."""
_TEXT: dict[type[ast.AST], str] = {
    ast.Name: "id",
    ast.Attribute: "attr",
    ast.Constant: "value",
    **dict.fromkeys((ast.arg, ast.keyword), "arg"),
    **dict.fromkeys((ast.alias, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef), "name"),
}
"""Where a node holds its name."""
_DYNAMIC = frozenset({"exec", "eval", "__import__"})
_MOVING = _DYNAMIC | {"to"}


class DeviceWords(msgspec.Struct, frozen=True, eq=False):
    """The registry's words, ready to be looked for."""

    inside: tuple[tuple[str, str], ...]
    """Pairs of a text that counts anywhere, and the device it names."""
    whole: dict[str, str]
    """By the word that counts between characters that are no letters."""
    neutral: frozenset[str]
    neutral_words: frozenset[str]
    """Their last words: a cheap look before a name is resolved."""
    libraries: frozenset[str]

    @classmethod
    def of(cls, registry: DeviceFile) -> DeviceWords:
        return cls(
            inside=tuple((text, entry.names) for entry in registry.words for text in entry.inside),
            whole={word: entry.names for entry in registry.words for word in entry.whole},
            neutral=frozenset(registry.neutral_calls),
            neutral_words=frozenset(call.rpartition(".")[2] for call in registry.neutral_calls),
            libraries=frozenset(registry.plain_libraries) | sys.stdlib_module_names,
        )

    def spoken_in(self, lowered: str) -> list[tuple[str, str]]:
        """The texts that speak of devices in a name, or in words of a source (small letters), each with its device."""
        parts = [(part, name) for part, name in self.inside if part in lowered]
        words = ((word, name) for word, name in self.whole.items() if word in lowered)
        return [*parts, *((word, name) for word, name in words if _alone(word).search(lowered))]


@functools.cache
def _alone(word: str) -> re.Pattern[str]:
    """A word between characters that are no letters. What it begins with comes first: that is found fast."""
    return re.compile(rf"{word}(?<![a-z]{word})(?![a-z])")


def devices_spoken_of(facts: FileFacts, words: DeviceWords) -> frozenset[str]:
    """The devices that the text of a file speaks of, be it in comments, and CHOSEN: its code names no others."""
    spoken = words.spoken_in(distinct_words(facts.source.text))
    return frozenset({*(name for _, name in spoken), *((CHOSEN,) if _is_chosen(facts, words) else ())})


def devices_named(facts: FileFacts, words: DeviceWords, spoken_of: frozenset[str]) -> frozenset[str]:
    """Those of the devices that the text of a file speaks of which its code names."""
    found = spoken_of & {CHOSEN}
    sites = facts.calls.find(words=words.neutral_words)
    neutral = {site.node.func for site in sites if facts.names(site.node.func, site.scope).only in words.neutral}
    lowered, lines = small_letters(facts.source.text), set[int]()
    for part, _ in words.spoken_in(distinct_words(facts.source.text)):
        line, before, place = 1, 0, lowered.find(part)
        while place >= 0:
            line, before = line + lowered.count("\n", before, place), place
            lines.add(line)
            place = lowered.find(part, place + len(part))
    for name in _texts(facts.tree, sorted(lines), neutral, words):
        found |= _named_by(words, name)
        if spoken_of <= found:
            break
    return found


@functools.lru_cache(maxsize=4096)  # the same names stand everywhere
def _named_by(words: DeviceWords, text: str) -> frozenset[str]:
    return frozenset(name for _, name in words.spoken_in(text.lower()))


def _is_chosen(facts: FileFacts, words: DeviceWords) -> bool:
    """Whether a library, a call of `to` or code made at run time may choose a device."""
    absolute = (target for target, _ in facts.symbols.imports if not target.level)
    outside = (target for target in absolute if target.module.partition(".")[0] not in words.libraries)
    if any(facts.resolver.modules.locate(target, facts.path) is None for target in outside):
        return True
    return any(_may_move(facts, site) for site in facts.calls.find(words=_MOVING))


def _may_move(facts: FileFacts, site: CallSite) -> bool:
    """`x.to(place)`; not `x.to(torch.float32)`, `x.to("cpu")` or `x.to(y.device)`, where `y` holds no options."""
    function = site.node.func
    if isinstance(function, ast.Name):
        return function.id in _DYNAMIC
    if not isinstance(function, ast.Attribute) or function.attr != "to":
        return False
    given = [*site.node.args, *(keyword.value for keyword in site.node.keywords if keyword.arg != "dtype")]
    words = [one.value for one in given if isinstance(one, ast.Constant)]
    others = (one for one in given if not isinstance(one, ast.Constant) and not _follows_a_tensor(one))
    is_kept = all(word == "cpu" or isinstance(word, bool) for word in words)
    return not (is_kept and all(is_dtype(facts, one, site.scope) for one in others))


def _texts(tree: ast.Module, lines: Sequence[int], neutral: Collection[ast.expr], words: DeviceWords) -> Iterator[str]:
    """The names and strings of the statements on some lines, docstrings and what moves nothing left out."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.stmt, ast.arg)):  # its decorators included
            first = first_line(node)
            place = bisect.bisect_left(lines, first)
            if place == len(lines) or lines[place] > (node.end_lineno or first):
                continue
        # Docstrings, `x.device`, and the argument `device=x.device` say nothing.
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text or node in neutral or _follows_a_tensor(node.value if isinstance(node, ast.keyword) else node):
            continue
        if isinstance(node, ast.ImportFrom):
            yield from {f"{node.module}.{alias.name}" for alias in node.names} - words.neutral
            continue
        text = getattr(node, _TEXT.get(type(node), ""), None)
        if isinstance(text, str):
            yield text
        waiting += children(node)


def _follows_a_tensor(node: ast.AST) -> bool:
    """`x.device`, `self.weight.device`: wherever that is, other code has put it there."""
    return isinstance(node, ast.Attribute) and node.attr == "device" and last_word(node.value) not in _NO_TENSORS
