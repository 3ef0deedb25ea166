"""What a module is to the files that import it: its own statements, name by name, without what stands in functions.

The interface of a file is made of that file alone, and is all that others read of it. So a file can be read without the
functions of any other, and whatever is found out about an import is the same in whatever order files are read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from torchlint.encoding import checksum, decoded, encoded
from torchlint.facts.control.blocks import lines_of
from torchlint.facts.graphs import components
from torchlint.facts.scopes import Binding, BindingKind
from torchlint.source.syntax import first_line

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_BINDS_OUTSIDE = re.compile(r"\bglobal\b|:=")
"""What binds a name of the module from inside a function, or from its head."""


def interface_of(text: str, tree: ast.Module) -> str:
    r"""A module without the bodies, the parameters and the decorators of its functions, and without docstrings.

    Lines stay where they are. A function that may bind a name of the module stays whole.

    >>> text = "import torch\ndef f(x):\n    y = x + 1\n    return y\nA = f"
    >>> interface_of(text, ast.parse(text))
    'import torch\ndef f(): 0\n\n\nA = f'
    """
    lines = text.split("\n")
    may_bind = ("global" in text or ":=" in text) and _BINDS_OUTSIDE.search(text) is not None
    for statement in _left_out(tree.body):
        start, end = first_line(statement) - 1, statement.end_lineno or statement.lineno
        whole = lines[start:end]
        if isinstance(statement, ast.Expr) and not _has_lines_of_its_own(statement, whole):
            continue
        if may_bind and not isinstance(statement, ast.Expr) and any(map(_BINDS_OUTSIDE.search, whole)):
            continue
        first = whole[statement.lineno - 1 - start]
        lines[start:end] = [""] * len(whole)
        head = "" if isinstance(statement, ast.Expr) else f"def {statement.name}(): "
        lines[statement.lineno - 1] = f"{first[: len(first) - len(first.lstrip())]}{head}0"
    return "\n".join(lines)


def _left_out(statements: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.Expr]:
    """The functions of a module and of its classes, and the texts that stand alone."""
    for statement in statements:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield statement
        elif isinstance(statement, ast.Expr):
            if isinstance(statement.value, ast.Constant):
                yield statement
        else:
            for block in ("body", "orelse", "finalbody"):
                yield from _left_out(getattr(statement, block, ()))
            for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                yield from _left_out(part.body)


def _has_lines_of_its_own(text: ast.Expr, lines: list[str]) -> bool:
    before = lines[0].encode()[: text.col_offset]
    after = lines[-1].encode()[text.end_col_offset or 0 :].strip()
    return not before.strip() and (not after or after.startswith(b"#"))


STARS = "*"
"""In the place of a name: what all that the module does not bind hangs on."""
_WORD = re.compile(r"\w+")
_Node = str | tuple[int, int]
"""A name, or lines that bind names."""


class Export(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How a name is bound, as a checksum. `is_own` says that no other file of the project is asked for it."""

    told: bytes
    is_own: bool = True


def exports_of(facts: FileFacts) -> bytes:
    """Changes for a name when it is bound in another way, or a name that it is made of: see `read_exports`.

    Lines that move and bodies of functions change nothing.
    """
    module = facts.symbols.scopes[0]
    stars = repr(module.stars).encode()
    told = _told(facts, module.bindings)
    exports = {STARS: Export(checksum(stars)[:8], is_own=not module.stars)}
    for name, bindings in module.bindings.items():
        imported = (one.target for one in bindings if one.kind is BindingKind.IMPORT)
        names = (one for one in imported if one is not None and one.name is not None)
        is_own = not any(one.level or facts.resolver.modules.locate(one, facts.path) for one in names)
        exports[name] = Export(checksum(told[name] + stars)[:8], is_own)
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


def _told(facts: FileFacts, module: Mapping[str, list[Binding]]) -> Mapping[_Node, bytes]:
    """A checksum for each name: of how it is bound, and of those of the names on the lines that bind it."""
    own: dict[_Node, bytes] = {}
    following: dict[_Node, list[_Node]] = {}
    for name, bindings in module.items():
        told_by = [one for binding in bindings for one in (binding.value, binding.annotation) if one is not None]
        spans = [lines_of([one]) for one in told_by]  # with what else stands on them: many names may be bound there
        following[name] = [*dict.fromkeys(spans)]
        for span in spans:
            if span not in own:
                text = "\n".join(facts.source.lines[span[0] - 1 : span[1]])
                own[span] = checksum(text)
                following[span] = [word for word in dict.fromkeys(_WORD.findall(text)) if word in module]
        own[name] = checksum(repr(([_bound(facts, one) for one in bindings], [own[span] for span in spans])))
    told: dict[_Node, bytes] = {}
    for group in components(following):
        behind = [told[one] for node in group for one in following[node] if one in told]
        whole = checksum(b"".join([*sorted(own[node] for node in group), *sorted(set(behind))]))
        told |= {node: checksum(own[node] + whole) for node in group}
    return told


def _bound(facts: FileFacts, binding: Binding) -> tuple[object, ...]:
    """How a binding reads, but for its lines."""
    scope = None if binding.definition is None else facts.symbols.scopes[binding.definition]
    defined = None if scope is None else (scope.kind.value, scope.qualname)
    parts = [one is not None for one in (binding.value, binding.annotation)]
    return binding.kind.value, binding.target, defined, binding.position, parts
