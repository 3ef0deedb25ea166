"""What a module shows to the files that import it, as a checksum: what others make of it hangs on nothing else."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.encoding import checksum

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.scopes import Binding


def exports_of(facts: FileFacts) -> bytes:
    """Changes when a name of the module is bound in another way: to another value, definition or import.

    Lines that move and bodies of functions change nothing.
    """
    module = facts.symbols.scopes[0]
    bound = [(name, [_told(facts, one) for one in bindings]) for name, bindings in module.bindings.items()]
    return checksum(repr((bound, module.stars)))


def _told(facts: FileFacts, binding: Binding) -> tuple[object, ...]:
    """How a binding reads."""
    scope = None if binding.definition is None else facts.symbols.scopes[binding.definition]
    defined = None if scope is None else (scope.kind.value, scope.qualname)
    written = [_lines(facts, one) for one in (binding.value, binding.annotation) if one is not None]
    return binding.kind.value, binding.target, defined, written, binding.position


def _lines(facts: FileFacts, node: ast.expr) -> tuple[str, ...]:
    """The lines of an expression, with what else stands on them."""
    return facts.source.lines[node.lineno - 1 : node.end_lineno or node.lineno]
