"""What is written of an order: lists by the words of their names, as `train.txt`, and the rows of arrays."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_orders
from torchlint.catalogue.values import Kind
from torchlint.facts.definitions import definitions_of
from torchlint.facts.ends import Definition, Through
from torchlint.facts.memoizing import memoized
from torchlint.facts.options.declared import option_defaults
from torchlint.facts.order.files import LINES, file_of
from torchlint.facts.order.loops import names_in
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import BindingKind
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tree import method_called

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_NAMED = re.compile(r"(?:^|[^a-z])(?:train|val|valid|test|trainval|split|manifest|file_?list|metadata)(?:$|[^a-z])")
_SPLIT = re.compile(r"train|val|valid|test|trainval")
SPELLED = "spelled"
"""The label of a text that has the order of the entries it says."""
JOINED = "joined"
"""The label of an array whose rows have the order."""
_WRITING = frozenset({"numpy.save", "numpy.savez", "numpy.savez_compressed", "torch.save"})
NUMBERING = frozenset({"numpy.savez", "numpy.savez_compressed"})
"""They keep what is spread over them as `arr_0`, `arr_1`."""
_PREPARING = re.compile(r"(?<![a-z])data(?:sets?)?(?![a-z])|pre_?process|prepare")
"""Words of files that make the data for others."""


def is_listed(facts: FileFacts, call: ast.Call) -> bool:
    """Whether a call writes to a file that is named as a list of what is trained or tested with."""
    file = file_of(facts, call)
    return file is not None and _is_named(facts, file, facts.index.scope_of(call))


def is_of_entry(facts: FileFacts, call: ast.Call, loop: ast.For | ast.AsyncFor) -> bool:
    """Whether a loop writes a file for each entry, and no list: `np.save(folder / f"{name}.npy", rows)`."""
    is_added = isinstance(call.func, ast.Attribute) and call.func.attr in LINES
    file = None if is_added else file_of(facts, call)
    return file is not None and not names_in(file).isdisjoint(_names_of_entry(facts, loop))


@memoized
def _names_of_entry(facts: FileFacts, loop: ast.For | ast.AsyncFor) -> set[str]:  # noqa: ARG001 - keeps the answer
    """The names that a loop binds to an entry, and to what is made of it."""
    found, count = names_in(loop.target), 0
    nodes = list(ast.walk(loop))
    bound: list[tuple[ast.expr, ast.expr | None]] = [
        (one.value, target) for one in nodes if isinstance(one, ast.Assign) for target in one.targets
    ]
    bound += [(one.context_expr, one.optional_vars) for one in nodes if isinstance(one, ast.withitem)]
    while len(found) != count:
        count = len(found)
        found |= {target.id for value, target in bound if isinstance(target, ast.Name) and names_in(value) & found}
    return found


def _is_named(facts: FileFacts, file: ast.expr, scope: int, depth: int = 6) -> bool:
    """Whether the path of a file, or of what was opened, holds one of the words."""
    if depth <= 0:
        return False
    if isinstance(file, ast.Name):
        bound = reaching(facts, file.id, scope, file)
        entered = [one.value for one in bound if one.kind is BindingKind.ENTERED]
        opened = [(value, scope) for value in entered if value is not None]
        ends = definitions_of(facts, file, scope, Through.CHANGES | Through.PARAMETERS)
        opened += [(end.node, end.scope) for end in ends if isinstance(end, Definition) and not end.parts]
        return any(value is not file and _is_named(facts, value, where, depth - 1) for value, where in opened)
    if isinstance(file, ast.FormattedValue):
        return _is_split(facts, file.value, scope)
    if isinstance(file, ast.Call):
        holder = [file.func.value] if isinstance(file.func, ast.Attribute) else []
        return any(_is_named(facts, one, scope, depth - 1) for one in (*holder, *file.args))
    if isinstance(file, ast.JoinedStr):
        return any(_is_named(facts, part, scope, depth - 1) for part in file.values)
    if isinstance(file, ast.BinOp):
        put_in = file.right.elts if isinstance(file.right, ast.Tuple) else [file.right]
        is_put_in = isinstance(file.op, ast.Mod) and any(_is_split(facts, one, scope) for one in put_in)
        return is_put_in or any(_is_named(facts, one, scope, depth - 1) for one in (file.left, file.right))
    paths = option_defaults(facts, file.attr) if isinstance(file, ast.Attribute) else [getattr(file, "value", None)]
    return any(isinstance(path, str) and _NAMED.search(path.lower()) for path in paths)


def _is_split(facts: FileFacts, name: ast.expr, scope: int) -> bool:
    """Whether what is put into a path names a part of the data: `split` of `for split in ("train", "val"):`."""
    found = facts.value(name, scope).constants
    found += tuple(
        text
        for end in definitions_of(facts, name, scope, Through.PARAMETERS)
        if isinstance(end, Definition)
        for text in facts.value(end.node, end.scope).constants
    )
    return any(isinstance(text, str) and _SPLIT.fullmatch(text) for text in found)


def spells(facts: FileFacts, call: ast.Call) -> bool:
    """Whether a call makes a text of the entries it is given."""
    scope = facts.index.inner_scope_of(call)
    if method_called(call) == "join":
        return kind_of(facts, call.func.value, scope) is Kind.TEXT  # type: ignore[attr-defined]
    return facts.names(call.func, scope).only in load_orders().spelling


def is_data(facts: FileFacts, call: ast.Call) -> bool:
    """Whether a call writes an array that is data by the path of the file that writes it."""
    name = facts.names(call.func, facts.index.scope_of(call)).only
    return name in _WRITING and _PREPARING.search(facts.path.lower()) is not None
