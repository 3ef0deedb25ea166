"""What a check may ask while it looks at a node, and how its messages quote the code of it."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from torchlint.catalogue import Catalogue
from torchlint.catalogue.values import Kind
from torchlint.errors import UnreadableSource
from torchlint.facts.file import FileFacts
from torchlint.facts.full_names import Names
from torchlint.facts.scopes import CallSite, Site
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.values import Values

if TYPE_CHECKING:
    from torchlint.lossless.reader import Lossless

_NOWHERE = ast.Pass()
_SETTERS = frozenset({"os.environ.setdefault", "os.putenv"})
_UPDATE = "os.environ.update"
_DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
WRITERS = _SETTERS | {_UPDATE}
"""Calls that set variables of the running process."""
_LONGEST = 44
"""A line of the report is read in one go up to about 140 characters; the quote leaves room for what is said of it."""
_LONGEST_WORD = 2 * _LONGEST
"""No name is as long: this is data in a string."""
_CUT = "..."
_DOTTED = re.compile(r"[\w.]+")
_WORDS = re.compile(r"\w+|\W")


class Visit(msgspec.Struct):
    """The node of a file that a check is shown.

    `node` is what the facts know; how it is written is asked of LibCST, of the one statement it stands in.
    """

    facts: FileFacts
    catalogue: Catalogue
    selected: frozenset[str]
    node: ast.stmt | ast.expr = _NOWHERE
    """The node at hand."""
    statement: ast.stmt = _NOWHERE
    """The statement that it stands in, or is."""
    scope: int = 0
    _lossless: Lossless | None = None

    @property
    def call(self) -> ast.Call:
        """The call at hand. Only for checks that look at calls."""
        assert isinstance(self.node, ast.Call)
        return self.node

    @property
    def site(self) -> CallSite:
        """The call at hand, and where it stands."""
        return CallSite(self.call, self.scope, self.statement)

    @property
    def symbol(self) -> str:
        """Which part of the file runs the node at hand, as `facts.symbol_at` names it."""
        return self.facts.symbol_at(self.scope, self.statement)

    @property
    def assignment(self) -> ast.Assign | ast.AnnAssign | ast.AugAssign:
        """The assignment at hand. Only for checks that look at assignments."""
        assert isinstance(self.node, (ast.Assign, ast.AnnAssign, ast.AugAssign))
        return self.node

    def at(self, site: Site | CallSite) -> None:
        """Go to a place."""
        self.node, self.scope, self.statement = site.node, site.scope, site.statement

    def code(self, node: ast.AST) -> str:
        """The source of a node of this statement; LibCST, which is slow to load, is asked for what is not cut out."""
        cut = self.cut(node)
        if cut is not None:
            return cut
        if self._lossless is None:
            from torchlint.lossless.reader import Lossless  # noqa: PLC0415 - few findings need LibCST

            self._lossless = Lossless(self.facts)
        try:
            return self._lossless.code(node, self.statement)
        except UnreadableSource:
            return ast.unparse(node)

    def cut(self, node: ast.AST) -> str | None:
        """What stands on one line, as it stands there; None where `ast` miscounts, as it may in formatted strings."""
        if not isinstance(node, (ast.expr, ast.stmt)) or node.lineno != node.end_lineno:
            return None
        text = self.facts.text_of(node)
        try:
            read = [one.value if isinstance(one, ast.Expr) else one for one in ast.parse(text).body]
        except (SyntaxError, ValueError):
            return None
        return text if [*map(_shape, read)] == [_shape(node)] else None

    def callee(self) -> str | None:
        """The full name of what the call at hand calls, when it can be nothing else."""
        return self.names(self.call.func).only

    def names(self, expression: ast.expr) -> Names:
        """What a name, attribute or choice may stand for here."""
        return self.facts.names(expression, self.scope)

    def value(self, expression: ast.expr | None) -> Values:
        return self.facts.value(expression, self.scope)

    def kind(self, expression: ast.expr) -> Kind:
        """What kind of value an expression is, as far as it is known."""
        return kind_of(self.facts, expression, self.scope)


def _shape(node: ast.AST) -> str:
    """A tree in words; what is assigned to reads as what is read."""
    return ast.dump(node).replace("ctx=Store()", "ctx=Load()")


def writes(visit: Visit, name: str) -> Iterator[str | None]:
    """What this assignment or call sets a variable of the running process to; None for what is not a literal."""
    if isinstance(visit.node, ast.Assign):
        stores = (target for target in visit.node.targets if isinstance(target, ast.Subscript))
        for store in stores:
            if visit.names(store.value).only == "os.environ" and visit.value(store.slice).text == name:
                yield visit.value(visit.node.value).text
    elif isinstance(visit.node, ast.Call):
        call, function = visit.call, visit.callee()
        if function in _SETTERS and len(call.args) > 1 and visit.value(call.args[0]).constants == (name,):
            yield visit.value(call.args[1]).text
        elif function == _UPDATE:
            pairs: list[tuple[object, ast.expr]] = [(keyword.arg, keyword.value) for keyword in call.keywords]
            for one in call.args:
                if isinstance(one, ast.Dict):
                    pairs += [(getattr(k, "value", None), v) for k, v in zip(one.keys, one.values, strict=True)]
            yield from (visit.value(value).text for key, value in pairs if key == name)


def remarks_in(facts: FileFacts, node: ast.AST) -> str:
    """The comments and docstrings of a definition or another statement, and the comment above it, in lower case.

    What follows a `#` inside a string is taken for a comment too.
    """
    first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", None) or 1
    lines = facts.source.lines
    above = first - 1
    while above > 0 and lines[above - 1].lstrip().startswith("#"):
        above -= 1
    found = [line.partition("#")[2] for line in lines[above:last] if "#" in line]
    found += [ast.get_docstring(inner) or "" for inner in ast.walk(node) if isinstance(inner, _DOCUMENTED)]
    return "\n".join(found).lower()


# -- how messages quote code: short, on one line, with the argument that matters ---------------------------------


def spelling_of(visit: Visit, part: ast.AST | None = None, *, argument: str | None = None) -> str:
    """The code of the node at hand, or of a part of it, for a message: `nn.Conv2d(..., padding_mode='replicate')`.

    Of a long call it quotes the argument of that name; without a name the last one that is a string.
    """
    node = visit.node if part is None else part
    text = _code_of(visit, node)
    if len(text) <= _LONGEST or not isinstance(node, ast.Call):
        return shortened(text)
    given = [one for one in node.keywords if one.arg is not None]
    texts = (one for one in given if isinstance(one.value, ast.Constant) and isinstance(one.value.value, str))
    telling = list(texts) if argument is None else [one for one in given if one.arg == argument]
    function = shortened(_code_of(visit, node.func))
    quoted = f", {telling[-1].arg}={shortened(visit.code(telling[-1].value))}" if telling else ""
    return f"{function}(...{quoted})"


def shortened(text: str) -> str:
    """Code on one line. Where it gets long it is cut between words: what is called stands first, what is asked last.

    A dotted name keeps its end, as it is written; the last name of anything else stays whole, however long it is.
    """
    line = " ".join(text.split())
    if len(line) <= _LONGEST:
        return line
    if _DOTTED.fullmatch(line):
        parts = line.split(".")
        return next((end for at in range(len(parts)) if len(end := ".".join(parts[at:])) <= _LONGEST), parts[-1])
    words = _WORDS.findall(line)
    tail = ""  # the last name, with what goes before it as far as a third of the quote has room
    for word in reversed(words):
        if len(tail) + len(word) > _LONGEST // 3 and any(map(str.isalnum, tail)):
            break
        tail = word[-_LONGEST_WORD:] + tail
    room = _LONGEST - len(tail) - len(_CUT)
    head = max(itertools.takewhile(lambda text: len(text) <= room, itertools.accumulate(words)), key=len, default="")
    return f"{head.rstrip(' .')}{_CUT}{tail.lstrip(' .')}"


def _code_of(visit: Visit, node: ast.AST) -> str:
    """As it is written; what goes over several lines is written anew, without its comments and outer brackets."""
    is_on_one_line = isinstance(node, (ast.expr, ast.stmt)) and node.lineno == node.end_lineno
    return visit.code(node).strip() if is_on_one_line else ast.unparse(node)
