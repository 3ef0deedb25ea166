"""Everything torchlint knows about one file before a check looks at it."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from typing import TypeVar

import msgspec

from torchlint.diagnostics import Location
from torchlint.errors import OverBudget
from torchlint.facts.binder import bind_names
from torchlint.facts.constants import value_of
from torchlint.facts.full_names import Names, NameTable
from torchlint.facts.grouping import grouped
from torchlint.facts.imported import Modules
from torchlint.facts.memoizing import memoized
from torchlint.facts.names import Resolver
from torchlint.facts.notation import name_in
from torchlint.facts.scopes import Binding, BindingKind, CallSite, ScopeKind, SymbolTable, Variable
from torchlint.facts.tree import TreeIndex, is_main_guard, is_own, last_word
from torchlint.facts.values import Values
from torchlint.source.text import Source

Answer = TypeVar("Answer")

MOST_WORK = 100_000
"""Questions about one file, each counted once. The 28,000 lines of torch's longest file ask 13,000."""

MAIN = "<main>"
"""The symbol of the code under the main guard: it runs only when the file is the program."""


class FileFacts(msgspec.Struct):
    """The facts of one file. `path` identifies it inside its project; `source.path` is what users see."""

    path: str
    source: Source
    tree: ast.Module
    symbols: SymbolTable
    resolver: Resolver = field(init=False)
    names: Callable[[ast.expr, int], Names] = field(init=False)
    """What an expression that is read in a scope may stand for. Nothing is asked as often."""
    answers: dict[object, object] = msgspec.field(default_factory=dict)
    """To questions that are worked out once: of `cached`, and of facts/memoizing.py, which explains the next three."""
    provisional: dict[object, tuple[object, int]] = msgspec.field(default_factory=dict)
    level: int = 0
    cut: int = 0
    spent: int = 0

    @classmethod
    def read(cls, path: str, source: Source, tree: ast.Module, table: NameTable, modules: Modules) -> FileFacts:
        facts = cls(path, source, tree, bind_names(tree))
        facts.resolver = Resolver(path, facts.symbols, table, modules)
        facts.names = facts.resolver.asked
        return facts

    def spend(self, work: int = 1) -> None:
        """Count a question that has to be worked out, or what it has to go through. Raises OverBudget for too much."""
        self.spent += work
        if self.spent > MOST_WORK:
            raise OverBudget("too large or too complex")

    def forget(self) -> None:
        """Drop all answers, and count anew: some answers hold the facts that they are of, and no collector runs."""
        self.spent = 0
        self.answers.clear()
        self.resolver.forget()

    def cached(self, question: Callable[[FileFacts], Answer]) -> Answer:
        """The answer to a question about the whole file, worked out when first asked."""
        if question not in self.answers:
            self.answers[question] = question(self)
        return self.answers[question]  # type: ignore[return-value]

    def locate(self, node: ast.AST) -> Location:
        """Where a node stands, for users."""
        return self.source.locate(*self.span_of(node))

    def span_of(self, node: ast.AST) -> tuple[int, int, int, int]:
        """Line, column, last line and end column of a node in the source's text; columns count characters from 1."""
        line, end_line = getattr(node, "lineno", 1), getattr(node, "end_lineno", None) or 1
        start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", None) or 0
        return line, self._column(line, start), max(line, end_line), self._column(end_line, end)

    def text_of(self, node: ast.expr | ast.stmt) -> str:
        """The text of what stands on one line."""
        line, end = node.lineno, node.end_col_offset or 0
        return self.source.lines[line - 1][self._column(line, node.col_offset) - 1 : self._column(line, end) - 1]

    def _column(self, line: int, offset: int) -> int:
        """`ast` counts UTF-8 bytes from 0; users count characters from 1."""
        text = self.source.lines[line - 1] if line <= len(self.source.lines) else ""
        return (offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))) + 1

    @property
    def index(self) -> TreeIndex:
        """The syntax tree seen from below."""
        return self.cached(TreeIndex)

    @property
    def calls(self) -> CallIndex:
        """The calls of the file, to be looked up by what they are of."""
        return self.cached(CallIndex)

    @property
    @memoized
    def code(self) -> str:
        """The program without its comments, evenly spelled: slow, for the few candidates of a question about words."""
        return ast.unparse(self.tree)

    @property
    @memoized
    def imports_torch(self) -> bool:
        """Whether the file imports torch itself, not only something built on it."""
        imported = (target for target, _ in self.symbols.imports if not target.level)
        return any(target.module.partition(".")[0] == "torch" for target in imported)

    def value(self, expression: ast.expr | None, scope: int) -> Values:
        return value_of(self, expression, scope)

    def variable(self, expression: ast.AST | None, scope: int) -> Variable | None:
        """Which variable a name or `self.name` is, wherever it is read; None for all else."""
        if isinstance(expression, ast.Name):
            owner = self.resolver.owner(expression.id, scope)
            return None if owner is None else (owner.index, expression.id)
        kept_by = self.class_of(scope) if is_own(expression) else None
        return None if kept_by is None else (kept_by, last_word(expression))

    def bindings(self, expression: ast.AST | None, scope: int) -> list[Binding]:
        """All that binds a name; empty for what is no name, or is bound elsewhere."""
        owner = self.resolver.owner(expression.id, scope) if isinstance(expression, ast.Name) else None
        return [] if owner is None else owner.bindings[last_word(expression)]

    def parameter_named(self, expression: ast.expr | None, scope: int) -> str | None:
        """The parameter of the enclosing function that `expression` is, and nothing but it."""
        owner = self.resolver.owner(expression.id, scope) if isinstance(expression, ast.Name) else None
        if owner is None or owner.kind is not ScopeKind.FUNCTION:
            return None
        name = last_word(expression)
        return name if [one.kind for one in owner.bindings[name]] == [BindingKind.PARAMETER] else None

    def full_name(self, scope: int) -> str:
        """The full name of a function or class of the file."""
        return name_in(self.path, self.symbols.scopes[scope].qualname)

    def symbol_of(self, site: CallSite) -> str:
        """Which part of the file runs this call: a function's qualified name, `<main>`, or `` at import."""
        return self.symbol_at(site.scope, site.statement)

    def symbol_at(self, scope: int, statement: ast.stmt) -> str:
        """The same of any statement, by the scope that it stands in."""
        function = self.function_of(scope)
        if function is not None:
            return self.symbols.scopes[function].qualname
        return MAIN if self.is_guarded(statement) else ""

    @memoized
    def is_guarded(self, statement: ast.stmt | None) -> bool:
        """Whether a statement stands under `if __name__ == "__main__":`."""
        is_guard = isinstance(statement, ast.If) and is_main_guard(statement.test)
        return is_guard or (statement is not None and self.is_guarded(self.symbols.parents[statement]))

    def function_of(self, scope: int) -> int | None:
        """The innermost function scope around `scope`, itself included."""
        return self.symbols.scopes[scope].function

    def function_name(self, scope: int) -> str:
        """The name of the function around a scope; empty for code that no function holds."""
        function = self.function_of(scope)
        return "" if function is None else self.symbols.scopes[function].name

    def calls_in(self, function: int | None) -> list[CallSite]:
        """The calls of a function, or of code that no function holds, without those of functions in it."""
        return self._calls_by_function().get(function, [])

    @memoized
    def _calls_by_function(self) -> dict[int | None, list[CallSite]]:
        return grouped((self.function_of(site.scope), site) for site in self.symbols.calls)

    def class_of(self, scope: int) -> int | None:
        """The class whose method `scope` lies in."""
        return self.symbols.scopes[scope].owner

    def around(self, scope: int) -> Iterator[int]:
        """A scope and those it lies in, innermost first."""
        current: int | None = scope
        while current is not None:
            yield current
            current = self.symbols.scopes[current].parent


Places = dict[str, list[int]]
"""Numbers of calls, in source order."""


class CallIndex:
    """`facts.calls` has the file's own."""

    def __init__(self, facts: FileFacts) -> None:
        self._facts = facts
        self._sites = facts.symbols.calls

    def find(
        self,
        *,
        names: Iterable[str] = (),
        words: Iterable[str] = (),
        keywords: Iterable[str] = (),
        places: Iterable[int] = (),
    ) -> list[CallSite]:
        """The calls of what may be one of these, by full name, or is written with one of these words last.

        Those that get one of these keywords, or have one of these numbers, count as well. In source order.
        """
        found = set(places)
        for asked, known in ((names, "names"), (words, "words"), (keywords, "keywords")):
            if asked:
                table: Places = getattr(self, known)
                for key in table.keys() & asked:
                    found.update(table[key])
        return [self._sites[place] for place in sorted(found)]

    @functools.cached_property
    def named(self) -> list[tuple[CallSite, Names]]:
        """Each call, with what the function is called that it calls."""
        return [(site, self._facts.names(site.node.func, site.scope)) for site in self._sites]

    @functools.cached_property
    def names(self) -> Places:
        """By all that is called, in full."""
        return grouped((name, place) for place, (_, called) in enumerate(self.named) for name in called.names)

    @functools.cached_property
    def words(self) -> Places:
        """By the last word of what is called; the empty one stands for what has no name."""
        return grouped((last_word(site.node.func), place) for place, site in enumerate(self._sites))

    @functools.cached_property
    def keywords(self) -> Places:
        """By what arguments are called; the empty word stands for `**`."""
        return grouped((one.arg or "", place) for place, site in enumerate(self._sites) for one in site.node.keywords)
