"""What is named by a text that is worked out: `import_module("models." + name)`, `getattr(models, name)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.contents import entries_gone_through
from torchlint.facts.flow.values import Item
from torchlint.facts.full_names import UNKNOWN, Names, named, union_of
from torchlint.facts.notation import hangs_on_call, is_module, name_in, symbol_of
from torchlint.facts.scopes import Binding, BindingKind
from torchlint.facts.tree import is_method_call, literal_text
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.names import Resolver

IMPORTING = frozenset({"importlib.import_module", "builtins.__import__"})
_ANY = r"[\w.]*"
_MOST_MODULES = 60
"""Of more, none is meant."""
_FIELD = re.compile(r"%\w|\{[^{}]*\}")


def says_any(written: str) -> bool:
    """Whether such an expression has a word of its own: what matches it is meant, not only there by chance."""
    return re.search(r"\w", written.replace(_ANY, "")) is not None


def pattern_of(resolver: Resolver, text: ast.expr, scope: int, depth: int = 4) -> str:
    """A regular expression for what a text may be; names are followed a few steps: `a = b + b` doubles the text."""
    if isinstance(text, ast.Constant):
        return re.escape(str(text.value))
    if isinstance(text, ast.JoinedStr):
        return "".join(pattern_of(resolver, part, scope, depth) for part in text.values)
    if isinstance(text, ast.BinOp) and isinstance(text.op, ast.Add):
        return "".join(pattern_of(resolver, side, scope, depth) for side in (text.left, text.right))
    template = text.left if isinstance(text, ast.BinOp) and isinstance(text.op, ast.Mod) else None
    if isinstance(text, ast.Call) and isinstance(text.func, ast.Attribute) and text.func.attr == "format":
        template = text.func.value
    if isinstance(template, ast.Constant):
        return _ANY.join(map(re.escape, _FIELD.split(str(template.value))))
    if isinstance(text, ast.Name) and depth:
        owner = resolver.owner(text.id, scope)
        bound = owner.bindings[text.id] if owner is not None else []
        if len(bound) == 1 and bound[0].kind is BindingKind.ASSIGN and bound[0].value is not None:
            return pattern_of(resolver, bound[0].value, bound[0].scope, depth - 1)
    return _default_of(resolver, text.attr) or _ANY if isinstance(text, ast.Attribute) else _ANY


def _default_of(resolver: Resolver, option: str) -> str:
    """A regular expression for what an option is where it is not given: `add_argument("--model", default="small")`."""
    for site in resolver.symbols.calls:
        flag = site.node.args[0] if is_method_call(site.node, "add_argument") and site.node.args else None
        if isinstance(flag, ast.Constant) and str(flag.value).lstrip("-").replace("-", "_") == option:
            return re.escape(literal_text(argument_of(site.node, "default", None)))
    return ""


_EVERY = ast.Name("any", ast.Load())
"""A key that may name everything."""
TAKING = frozenset({"get", "pop", "__getitem__"})
_MOST = 100
"""Functions and classes that one may be picked from; of more, none is meant."""


def looked_up(resolver: Resolver, call: ast.Call, function: str, scope: int) -> Names | None:
    """What a call gives that looks a name up: `getattr(models, name)`, `import_module(name)`; None for other calls."""
    if function in IMPORTING:  # any of the modules of the project that the text may name
        written = pattern_of(resolver, call.args[0], scope)
        modules = resolver.modules.matching(written, resolver.path) if says_any(written) else ()
        names = [name_in(path) for path in modules] if len(modules) <= _MOST_MODULES else []
        return named(*names, complete=False) if names else UNKNOWN
    if function == "builtins.eval":
        # What the module has of that name, be it a module. Other texts than names may say anything.
        is_name = isinstance(call.args[0], (ast.Name, ast.Attribute, ast.JoinedStr))
        written = pattern_of(resolver, call.args[0], scope) if is_name else ""
        return _picked(resolver, resolver.path, written, has_imports=True) if is_name else None
    if isinstance(call.func, ast.Attribute) and call.func.attr in TAKING:  # `globals().get(name)`
        return picked_from(resolver, call.func.value, call.args[0], scope)
    if function != "builtins.getattr" or len(call.args) < 2:
        return None
    owner, key = call.args[:2]
    if isinstance(key, ast.Constant):
        return resolver.names(ast.Attribute(owner, str(key.value), ast.Load()), scope)
    return _picked_from_any(resolver, _modules(resolver, owner, scope), key, scope)


def picked_from(resolver: Resolver, table: ast.expr, key: ast.expr, scope: int) -> Names | None:
    """What is picked from all that a module has: `models.__dict__[name]`, `vars(models)[name]`, `globals()[name]`."""
    return _picked_from_any(resolver, _tables(resolver, table, scope), key, scope)


def gone_through(resolver: Resolver, binding: Binding) -> Names:
    """`for name, found in vars(module).items()`: any function or class of the module."""
    table = binding.statement.iter if isinstance(binding.statement, ast.For) else None
    found = None if not isinstance(table, ast.Call) else entries_gone_through(table, (Item(1),))
    table = table if found is None else found[0]
    picked = None if table is None else picked_from(resolver, table, _EVERY, binding.scope)
    return picked or UNKNOWN


def _tables(resolver: Resolver, table: ast.expr, scope: int) -> list[str]:
    """The modules whose names a table holds, by path; empty for other tables."""
    if isinstance(table, ast.Attribute) and table.attr == "__dict__":
        return _modules(resolver, table.value, scope)
    if not isinstance(table, ast.Call):
        return []
    function = resolver.names(table.func, scope).only
    if function in ("builtins.vars", "inspect.getmembers") and table.args:
        return _modules(resolver, table.args[0], scope)
    return [resolver.path] if function == "builtins.globals" else []


def _modules(resolver: Resolver, expression: ast.expr, scope: int) -> list[str]:
    names = resolver.names(expression, scope).of_project
    return [symbol_of(name)[0] for name in names if is_module(name)]


def _picked_from_any(resolver: Resolver, tables: list[str], key: ast.expr, scope: int) -> Names | None:
    """What tables have under a key, which may be worked out: all that it may name."""
    if not tables:
        return None
    if isinstance(key, ast.Constant):
        found = [resolver.member(name_in(table), str(key.value)) for table in tables]
    else:
        written = "" if key is _EVERY else pattern_of(resolver, key, scope)
        found = [_picked(resolver, table, written) for table in tables]
    return union_of(found, complete=len(found) == 1)


def _picked(resolver: Resolver, path: str, written: str, *, has_imports: bool = False) -> Names:
    """The functions and classes of a module that a key may name; what else is there is not known.

    With `has_imports` what it imports is among them, modules too.
    """
    options: dict[str, Names] = {}
    pattern, is_said = re.compile(written or ".*"), says_any(written)
    for home in _homes(resolver, path):
        has_all = has_imports or is_said or home.path.endswith("__init__.py")  # a package hands on what it imports
        for name, bindings in home.symbols.scopes[0].bindings.items():
            is_offered = has_all or any(one.kind is not BindingKind.IMPORT for one in bindings)
            if not name.startswith("_") and pattern.fullmatch(name) and is_offered:
                names = resolver.modules.exported(home.path, name)
                qualname = symbol_of(names.only or "")[1]
                is_defined = bool(qualname) and not hangs_on_call(qualname)
                is_meant = has_imports if is_module(names.only or "") else is_defined
                options |= {name: names} if is_meant else {}
                if len(options) > _MOST:
                    return UNKNOWN  # a library of models: asking them all takes long
    return union_of(list(options.values()), complete=False) if options else UNKNOWN


def _homes(resolver: Resolver, path: str) -> Iterator[Resolver]:
    """A module, and those of the project that it has everything of by star imports."""
    waiting, seen = [path], set[str]()
    while waiting:
        path = waiting.pop()
        facts = resolver.modules.whole(path) if path not in seen else None
        seen.add(path)
        if facts is not None:
            yield facts.resolver
            found = (resolver.modules.find(star, path) for star in facts.symbols.scopes[0].stars)
            waiting += [home.path for home in found if home is not None]
