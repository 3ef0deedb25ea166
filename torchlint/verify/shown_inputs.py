"""Inputs that the project shows: in demos, main guards, tests and docstrings."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from torchlint.recording.messages import CallSite
from torchlint.verify.call_sites import FUNCTIONS, CallingFile, Filled, called_name, defaults

_MOST_CALLS = 6
_LONGEST = 2000
"""Characters of one argument, with all that its names stand for."""
_LIBRARIES = frozenset({"torch", "numpy", "math"})
_PLAIN = frozenset(
    {"bool", "dict", "float", "int", "len", "list", "max", "min", "range", "slice", "sum", "tuple", "zip"}
)
_GIVEN = frozenset({"device"})
"""What a caller or a fixture mostly gives."""
_STAYS = frozenset({"cpu", "cuda", "double", "eval", "float", "half", "requires_grad_", "to", "train"})
"""Methods that return the module itself."""
_WRAPS = frozenset({"DataParallel", "DistributedDataParallel", "compile", "script"})
_RUNS_MORE = (ast.Lambda, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.FormattedValue)


def shown_inputs(names: Sequence[str], files: Iterable[CallingFile]) -> dict[str, tuple[CallSite, ...]]:
    """Calls by the name of the class whose instance is called, of the function, or of the method (`Net.encode`).

    What the first file defines is another thing where a further file has its own of that name.
    """
    found: dict[str, list[CallSite]] = {}
    made: dict[str, str] = {}
    functions: set[str] = set()
    first: set[str] | None = None
    for file in files:
        tree = file.tree
        own = {each.name for each in tree.body if isinstance(each, (ast.ClassDef, *FUNCTIONS))}
        hidden = own & (first or set())
        first = own if first is None else first
        functions |= {each.name for each in tree.body if isinstance(each, FUNCTIONS) and each.name in names}
        made |= makers(tree, [name for name in names if name not in functions])
        known = {name: cls for name, cls in made.items() if not {name, cls} & hidden}
        of_file = frozenset(functions - hidden)
        lines = {call.lineno for name in (*known, *of_file) for call, _ in file.calls.get(name, ())}
        if not lines:
            continue
        walk = _Walk(file.path.name, frozenset(names), of_file, known, _imports(tree), lines)
        for name, site in walk.body(tree, _Known()):
            if site not in found.setdefault(name, []):
                found[name].append(site)
    return {name: tuple(sites[:_MOST_CALLS]) for name, sites in found.items() if sites}


def makers(tree: ast.Module, names: Sequence[str]) -> dict[str, str]:
    """The classes, by what makes an instance: themselves, and functions of the top level that return one."""
    found = {name.partition(".")[0]: name.partition(".")[0] for name in names}
    for function in (each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name not in names):
        made = dict(found)
        nodes = list(ast.walk(function))
        for node in nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                made[node.targets[0].id] = made.get(_name(node.value), "")
        returned = (made.get(_name(node.value)) for node in nodes if isinstance(node, ast.Return))
        if cls := next(filter(None, returned), None):
            found[function.name] = cls
    return found


def _name(node: ast.AST | None) -> str:
    """Of what is called, or of a variable."""
    if isinstance(node, ast.Call):
        return called_name(node.func) or ""
    return node.id if isinstance(node, ast.Name) else ""


def _imports(tree: ast.Module) -> dict[str, str]:
    """Import statements by the name that they bind, of the libraries that make tensors."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for each in node.names:
                root = (getattr(node, "module", None) or each.name).partition(".")[0]
                if root in _LIBRARIES and not getattr(node, "level", 0):
                    only = (
                        ast.Import([each]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [each], 0)
                    )
                    found[each.asname or each.name.partition(".")[0]] = ast.unparse(only)
    return found


@dataclass(frozen=True)
class _Known:
    """What names stand for at one place of a body: source that can be evaluated, and instances by their class."""

    values: dict[str, ast.expr] = field(default_factory=dict)
    objects: dict[str, str] = field(default_factory=dict)

    def inner(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> _Known:
        """In a function, whose parameters hide what is around it, at its beginning."""
        own = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
        values = {name: value for name, value in self.values.items() if name not in own}
        objects = {name: cls for name, cls in self.objects.items() if name not in own}
        return _Known({**values, **defaults(function.args)}, objects)

    def copied(self) -> _Known:
        return _Known(dict(self.values), dict(self.objects))

    def forget(self, statement: ast.AST) -> None:
        """The names that the statement itself binds, without the block that it heads."""
        heads = [
            each for each in ast.iter_child_nodes(statement) if not isinstance(each, (ast.stmt, ast.excepthandler))
        ]
        for node in (each for head in heads for each in ast.walk(head)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.values.pop(node.id, None)
                self.objects.pop(node.id, None)


@dataclass(frozen=True)
class _Walk:
    """Goes through one file in the order in which it would run."""

    file: str
    names: frozenset[str]
    functions: frozenset[str]
    """Those of the names that are functions of a file's top level."""
    makers: Mapping[str, str]
    imports: Mapping[str, str]
    lines: AbstractSet[int]
    """Where an instance is made, or a function called: what holds none of them, and knows no instance, runs none."""

    def body(self, owner: ast.AST, known: _Known) -> Iterator[tuple[str, CallSite]]:
        """The calls in the statements of a module, class, function or block."""
        for _, value in ast.iter_fields(owner):
            for statement in value if isinstance(value, list) else ():
                is_definition = isinstance(statement, (ast.ClassDef, *FUNCTIONS))
                if is_definition and not known.objects and not self._makes(statement):
                    continue
                if isinstance(statement, FUNCTIONS):
                    yield from self.body(statement, known.inner(statement))
                elif isinstance(statement, ast.ClassDef):
                    yield from self.body(statement, known.copied())
                elif isinstance(statement, (ast.stmt, ast.excepthandler)):
                    yield from self._calls(statement, known)
                    self._bind(statement, known)
                    yield from self.body(statement, known)

    def _makes(self, statement: ast.stmt) -> bool:
        last = statement.end_lineno or statement.lineno
        return any(statement.lineno <= line <= last for line in self.lines)

    def _calls(self, statement: ast.AST, known: _Known) -> Iterator[tuple[str, CallSite]]:
        """Those of the statement itself, without the block that it heads."""
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, (ast.stmt, ast.excepthandler)):
                continue
            if isinstance(child, ast.Call):
                name = self._run(child.func, known)
                site = self._site(child, known) if name else None
                if site is not None:
                    yield name, site
            yield from self._calls(child, known)

    def _run(self, function: ast.expr, known: _Known) -> str:
        """What a call runs: an instance of a class, a function or a method."""
        if isinstance(function, ast.Attribute) and (cls := self._object(function.value, known)):
            method = f"{cls}.{function.attr}"
            return cls if function.attr == "forward" else method if method in self.names else ""
        if cls := self._object(function, known):
            return cls
        name = called_name(function)
        return name if name in self.functions else ""

    def _object(self, node: ast.expr, known: _Known) -> str:
        """The class that an expression is an instance of."""
        if isinstance(node, ast.Name):
            return known.objects.get(node.id, "")
        if not isinstance(node, ast.Call):
            return ""
        name = called_name(node.func) or ""
        if name in self.makers:
            return self.makers[name]
        if isinstance(node.func, ast.Attribute) and name in _STAYS:
            return self._object(node.func.value, known)
        return self._object(node.args[0], known) if name in _WRAPS and node.args else ""

    def _bind(self, statement: ast.AST, known: _Known) -> None:
        """Names get what is assigned to them; what else binds them is not followed."""
        pairs: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                one_by_one = isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple)
                targets, values = (target.elts, statement.value.elts) if one_by_one else ([target], [statement.value])  # type: ignore[attr-defined]
                pairs += zip(targets, values, strict=False)
        found = [(one, self._value(value, known), self._object(value, known)) for one, value in pairs]
        known.forget(statement)
        for one, expression, cls in found:
            if isinstance(one, ast.Name) and expression is not None:
                known.values[one.id] = expression
            if isinstance(one, ast.Name) and cls:
                known.objects[one.id] = cls

    def _site(self, call: ast.Call, known: _Known) -> CallSite | None:
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        values = [self._value(each, known) for each in arguments]
        sources = [ast.unparse(each) for each in values if each is not None]
        if not arguments or len(sources) < len(arguments) or any(not each.arg for each in call.keywords):
            return None
        used = {node.id for each in values for node in ast.walk(each or call) if isinstance(node, ast.Name)}
        return CallSite(
            args=tuple(sources[: len(call.args)]),
            kwargs={
                str(each.arg): source for each, source in zip(call.keywords, sources[len(call.args) :], strict=True)
            },
            place=f"{self.file}:{call.lineno}",
            imports=tuple(self.imports[name] for name in sorted(used & self.imports.keys())),
        )

    def _value(self, node: ast.expr, known: _Known) -> ast.expr | None:
        """The expression without names that only the place knows; None where it runs code of the program's."""
        if isinstance(node, ast.Starred):
            return None
        nodes = list(ast.walk(node))
        names = [each for each in nodes if isinstance(each, ast.Name)]
        bound = {each.id for each in names if isinstance(each.ctx, ast.Store)}
        free = {each.id for each in names} - bound
        is_known = all(
            each in known.values or each in self.imports or each in _PLAIN or each in _GIVEN for each in free
        )
        if not is_known or any(isinstance(each, _RUNS_MORE) for each in nodes):
            return None
        filled: ast.expr = Filled(known.values).visit(copy.deepcopy(node))
        return filled if len(ast.unparse(filled)) <= _LONGEST else None
