"""Files that an order is written to: lists by the words of their names, rows of arrays; where others read them.

A file is known by the last part of its path, or by the constant of the project that holds the path.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator

from torchlint.catalogue.load import load_orders
from torchlint.catalogue.values import Kind
from torchlint.facts.definitions import seen_values
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Through
from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import followed
from torchlint.facts.notation import is_module, name_in
from torchlint.facts.options.declared import option_defaults
from torchlint.facts.order.loops import names_bound
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import BindingKind, CallSite
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tree import literal_text, method_called, names_in
from torchlint.facts.values import argument_of

LINES = frozenset({"write", "writelines", "writerow", "writerows", "write_text", "write_bytes"})
_OPENING = frozenset({"builtins.open", "io.open", "codecs.open", "gzip.open"})
_SAME = _OPENING | {"pathlib.Path", "pathlib.PurePath", "builtins.str", "os.path.abspath", "csv.writer", "csv.reader"}
_OF_RECEIVER = frozenset({"open", "read", "read_text", "resolve", "expanduser", "absolute"})
_NAMED = re.compile(r"(?:^|[^a-z])(?:train|val|valid|test|trainval|split|manifest|file_?list|metadata)(?:$|[^a-z])")
SPELLED = "spelled"
"""The label of a text that has the order of the entries it says."""
JOINED = "joined"
"""The label of an array whose rows have the order."""
_WRITING = frozenset({"numpy.save", "numpy.savez", "numpy.savez_compressed", "torch.save"})
NUMBERING = frozenset({"numpy.savez", "numpy.savez_compressed"})
"""They keep what is spread over them as `arr_0`, `arr_1`."""
_PREPARING = re.compile(r"(?<![a-z])data(?:sets?)?(?![a-z])|pre_?process|prepare")
"""Words of files that make the data for others."""


def file_of(facts: FileFacts, call: ast.Call) -> ast.expr | None:
    """The file that a call writes to: `json.dump(rows, file)`, `file.write(row)`, `table.to_csv(file)`."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in LINES:
        return call.func.value
    name = facts.names(call.func, facts.index.inner_scope_of(call)).only or ""
    if name == "builtins.print":
        return argument_of(call, "file", None)
    place = 0 if method_called(call) in load_orders().exporting else load_orders().written.get(name)
    return None if place is None or place >= len(call.args) else call.args[place]


def sorts_keys(facts: FileFacts, call: ast.Call) -> bool:
    """Whether what writes a mapping sorts it: YAML does unless it is told not to."""
    scope = facts.index.inner_scope_of(call)
    asked = facts.value(argument_of(call, "sort_keys", None), scope).only(bool)
    return (facts.names(call.func, scope).only or "").startswith("yaml.") if asked is None else asked


def reads_of(facts: FileFacts, name: str) -> Iterator[ast.Call]:
    """The calls of a file that give what another wrote: of what was dumped, and of the lines of a text."""
    yield from facts.cached(_reads).get(name, ())


def _reads(facts: FileFacts) -> dict[str, list[ast.Call]]:
    read = ((names_of_file(facts, _read_from(facts, site), site.scope), site.node) for site in facts.symbols.calls)
    return grouped((name, call) for names, call in read for name in names)


@followed(otherwise=frozenset[str]())
def names_of_file(facts: FileFacts, file: ast.expr | None, scope: int) -> frozenset[str]:
    """What a file is called, given its path or what was opened; empty where that is not seen."""
    if file is None:
        return frozenset()
    if isinstance(file, ast.Name):
        return _of_name(facts, file, scope)
    if isinstance(file, ast.Call):
        return _of_call(facts, file, scope)
    if isinstance(file, ast.BinOp):
        return names_of_file(facts, file.right, scope)
    if isinstance(file, ast.Attribute):
        module = facts.names(file.value, scope).only or ""
        paths = [one for one in option_defaults(facts, file.attr) if isinstance(one, str)]
        return frozenset({f"{module}{file.attr}"} if is_module(module) else map(posixpath.basename, paths)) - {""}
    last = file.values[-1] if isinstance(file, ast.JoinedStr) and file.values else file
    name = posixpath.basename(literal_text(last))
    return frozenset({name}) if name.strip(".").partition(".")[2] and not name.startswith(".") else frozenset()


def _of_name(facts: FileFacts, file: ast.Name, scope: int) -> frozenset[str]:
    bound = reaching(facts, file.id, scope, file)
    target = bound[0].target if bound else None
    if target is not None:
        home = None if target.name is None else facts.resolver.modules.locate(target, facts.path)
        return frozenset() if home is None else frozenset({name_in(home, target.name or "")})
    found = [names_of_file(facts, one, where) for one, where in _opened(facts, file, scope)]
    is_own = any(one.scope == 0 and one.kind is BindingKind.ASSIGN for one in bound)
    return frozenset({name_in(facts.path, file.id)} if is_own else ()).union(*found)


def _opened(facts: FileFacts, file: ast.Name, scope: int) -> list[tuple[ast.expr, int]]:
    """What a name holds, be it a path or an open file."""
    entered = (one for one in reaching(facts, file.id, scope, file) if one.kind is BindingKind.ENTERED)
    found = [(one.value, one.scope) for one in entered if one.value is not None]
    found += seen_values(facts, file, scope, Through.PARAMETERS)
    return [one for one in found if one[0] is not file]


def _of_call(facts: FileFacts, call: ast.Call, scope: int) -> frozenset[str]:
    name = facts.names(call.func, scope).only
    if name == "os.path.join" or (name in _SAME and name not in _OPENING):
        return names_of_file(facts, call.args[-1] if call.args else None, scope)
    if name in _SAME:
        return names_of_file(facts, argument_of(call, "file", 0), scope)
    is_of_receiver = isinstance(call.func, ast.Attribute) and call.func.attr in _OF_RECEIVER
    if is_of_receiver or method_called(call) == "joinpath":
        return names_of_file(facts, call.func.value if is_of_receiver else call.args[-1], scope)  # type: ignore[attr-defined]
    return frozenset()


def _read_from(facts: FileFacts, site: CallSite) -> ast.expr | None:
    """The file that a call gives the contents of, or opens for symbols."""
    call = site.node
    name = facts.names(call.func, site.scope).only
    if name in load_orders().read:
        return call.args[0] if call.args else None
    is_method = method_called(call) in ("open", "read_text") and name not in _OPENING
    if name not in _OPENING and not is_method:
        return None
    mode = facts.value(argument_of(call, "mode", 0 if is_method else 1), site.scope).only(str) or "r"
    return call if set(mode).isdisjoint("wax") else None


def is_listed(facts: FileFacts, call: ast.Call) -> bool:
    """Whether a call writes to a file that is named as a list of what is trained or tested with."""
    file = file_of(facts, call)
    return file is not None and _is_named(facts, file, facts.index.scope_of(call))


def is_of_entry(facts: FileFacts, call: ast.Call, loop: ast.For | ast.AsyncFor) -> bool:
    """Whether a loop writes a file for each entry, and no list: `np.save(folder / f"{name}.npy", rows)`."""
    is_added = isinstance(call.func, ast.Attribute) and call.func.attr in LINES
    file = None if is_added else file_of(facts, call)
    return file is not None and not names_in(file).isdisjoint(names_bound(loop))


@followed(otherwise=False)
def _is_named(facts: FileFacts, file: ast.expr, scope: int) -> bool:
    """Whether the path of a file, or of what was opened, holds one of the words."""
    if isinstance(file, ast.Name):
        return any(_is_named(facts, one, where) for one, where in _opened(facts, file, scope))
    if isinstance(file, ast.FormattedValue):
        return _is_named(facts, file.value, scope)
    if isinstance(file, ast.Call):
        holder = [file.func.value] if isinstance(file.func, ast.Attribute) else []
        return any(_is_named(facts, one, scope) for one in (*holder, *file.args))
    if isinstance(file, ast.JoinedStr):
        return any(_is_named(facts, part, scope) for part in file.values)
    if isinstance(file, ast.BinOp):
        put_in = file.right.elts if isinstance(file.right, ast.Tuple) else [file.right]
        return any(_is_named(facts, one, scope) for one in (file.left, *put_in))
    paths = option_defaults(facts, file.attr) if isinstance(file, ast.Attribute) else [getattr(file, "value", None)]
    return any(isinstance(path, str) and _NAMED.search(path.lower()) for path in paths)


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
