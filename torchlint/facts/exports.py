"""What a module shows to the files that import it, name by name: what others make of it hangs on nothing else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from torchlint.encoding import checksum, decoded, encoded
from torchlint.facts.scopes import BindingKind

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.scopes import Binding

STARS = "*"
"""In the place of a name: what all that the module does not bind hangs on."""
_WORD = re.compile(r"\w+")
_MOST_STEPS = 50_000
"""From name to name; of a module with more, every name hangs on all others."""


class Export(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How a name is bound, as a checksum. `is_own` says that no other file of the project is asked for it."""

    told: bytes
    is_own: bool = True


def exports_of(facts: FileFacts) -> bytes:
    """Changes for a name when it is bound in another way, or a name that it is made of: see `read_exports`.

    Lines that move and bodies of functions change nothing.
    """
    module = facts.symbols.scopes[0]
    bound = {name: [_told(facts, one) for one in bindings] for name, bindings in module.bindings.items()}
    words = {name: _names_in(told) & bound.keys() for name, told in bound.items()}
    made_of = _made_of(words)
    stars = repr(module.stars)
    exports = {STARS: Export(checksum(stars)[:8])}
    for name, bindings in module.bindings.items():
        told = [(one, bound[one]) for one in made_of[name]]
        exports[name] = Export(checksum(repr((told, stars)))[:8], not any(_is_of_project(facts, b) for b in bindings))
    return encoded(exports) or b""


def read_exports(exports: bytes) -> Mapping[str, Export]:
    """The exports by name; empty for those of a file that cannot be read."""
    return decoded(exports or None, dict[str, Export]) or {}


def names_that_differ(before: bytes, now: bytes) -> frozenset[str] | None:
    """The names that others get another answer for; None where that may be any."""
    old, new = read_exports(before), read_exports(now)
    if not old or not new or old[STARS] != new[STARS]:
        return None if before != now or not now else frozenset()
    return frozenset(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def _told(facts: FileFacts, binding: Binding) -> tuple[object, ...]:
    """How a binding reads."""
    scope = None if binding.definition is None else facts.symbols.scopes[binding.definition]
    defined = None if scope is None else (scope.kind.value, scope.qualname)
    written = [_lines(facts, one) for one in (binding.value, binding.annotation) if one is not None]
    return binding.kind.value, binding.target, defined, written, binding.position


def _lines(facts: FileFacts, node: ast.expr) -> tuple[str, ...]:
    """The lines of an expression, with what else stands on them."""
    return facts.source.lines[node.lineno - 1 : node.end_lineno or node.lineno]


def _names_in(told: Iterable[tuple[object, ...]]) -> set[str]:
    return {word for _, _, _, written, _ in told for lines in written for line in lines for word in _WORD.findall(line)}  # type: ignore[attr-defined]


def _made_of(words: Mapping[str, set[str]]) -> Mapping[str, list[str]]:
    """For each name the names that its value is made of, itself included, at any remove."""
    found, steps = {}, 0
    for name in words:
        made_of, waiting = {name}, [name]
        while waiting and steps <= _MOST_STEPS:
            new = words[waiting.pop()] - made_of
            made_of |= new
            waiting += new
            steps += len(new) + 1
        found[name] = sorted(made_of)
    return found if steps <= _MOST_STEPS else dict.fromkeys(words, sorted(words))


def _is_of_project(facts: FileFacts, binding: Binding) -> bool:
    """Whether a binding is a name of another file."""
    target = binding.target
    if binding.kind is not BindingKind.IMPORT or target is None or target.name is None:
        return False
    return bool(target.level) or facts.resolver.modules.locate(target, facts.path) is not None
