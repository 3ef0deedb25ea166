"""A value on its way: the moves it makes, what holds it and how it lies in that; and what it is followed back to."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace


class Field(msgspec.Struct, frozen=True, array_like=True, gc=False, tag=True):
    """An attribute of an object."""

    name: str


class Item(msgspec.Struct, frozen=True, array_like=True, gc=False, tag=True):
    """An entry of a container: at a place or under a key; None stands for any."""

    key: int | str | None = None

    @staticmethod
    def at(index: ast.expr) -> Item:
        """The entry that a subscript asks for."""
        constant = index.value if isinstance(index, ast.Constant) else None
        return Item(constant) if isinstance(constant, (int, str)) and not isinstance(constant, bool) else EACH


class Called(msgspec.Struct, frozen=True, array_like=True, gc=False, tag=True):
    """What calling a function, or an object of a class, gives."""


EACH = Item()
CALLED = Called()


Content = Field | Item | Called
Path = tuple[Content, ...]
"""What leads from an object to the value that it holds; nothing where the object is the value."""


def fits(one: Content | None, other: Content) -> bool:
    """Whether a content is the other, or may be: an entry that may stand anywhere."""
    is_anywhere = isinstance(one, Item) and isinstance(other, Item) and None in (one.key, other.key)
    return is_anywhere or one == other


ELSEWHERE = ast.Call(ast.Name("elsewhere", ast.Load()), [], [])
"""Stands for the call of another file by which a value came into a function: where it goes back to is not seen."""
_LONGEST = 3
_DEEPEST = 6
"""Calls inside one another that are told apart."""


class Value(msgspec.Struct, frozen=True):
    """An expression that gives the value, or an object that holds it."""

    node: ast.expr
    path: Path = ()
    label: str = ""
    """What the analysis remembers of it."""
    calls: tuple[ast.Call, ...] = ()
    """The calls it came in by, outermost first: it leaves a function by the call that brought it there."""

    def at(self, node: ast.expr) -> Value:
        """The same in what another expression gives."""
        return replace(self, node=node)

    def inside(self, content: Content, node: ast.expr) -> list[Value]:
        """In an object that holds what held it so far; nothing where that is too deep to be told."""
        path = (content, *self.path)
        return [replace(self, node=node, path=path)] if len(path) <= _LONGEST else []

    def taken(self, content: Content) -> list[Value]:
        """What reading a content of the object gives of the value."""
        first = self.path[0] if self.path else None
        return [replace(self, path=self.path[1:])] if fits(first, content) else []

    def unpacked(self, size: int) -> Iterator[tuple[int, Value]]:
        """What each of so many names takes that the object is unpacked into, by its place."""
        first = self.path[0] if self.path else None
        key = first.key if isinstance(first, Item) else ""
        places = range(size) if key is None else [key] if isinstance(key, int) and 0 <= key < size else []
        return ((place, one) for place in places for one in self.taken(Item(place)))

    def each(self) -> list[Value]:
        """What going through the object gives; of a mapping, its keys."""
        first = self.path[0] if self.path else None
        return [] if isinstance(first, Item) and isinstance(first.key, str) else self.taken(EACH)

    def moved(self, node: ast.expr) -> Value:
        """In a container that has the same entries, perhaps at other places."""
        path = (EACH, *self.path[1:]) if self.path and isinstance(self.path[0], Item) else self.path
        return replace(self, node=node, path=path)

    def entering(self, call: ast.Call) -> list[Value]:
        """Inside the function that a call runs."""
        is_deep = len(self.calls) == _DEEPEST or call in self.calls
        return [] if is_deep else [replace(self, calls=(*self.calls, call))]


class Kept(msgspec.Struct, frozen=True):
    """A target takes the value, as it lies in `value`."""

    target: ast.expr
    value: Value
    in_place: bool = False
    """What the target stands for is changed, and stays what it is."""


class Stored(msgspec.Struct, frozen=True):
    """An attribute of the objects of a class takes the value."""

    owner: int
    name: str
    value: Value


class Given(msgspec.Struct, frozen=True):
    """A parameter of a function takes the value."""

    function: int
    parameter: str
    value: Value


class Returned(msgspec.Struct, frozen=True):
    """A function gives the value back."""

    function: int
    value: Value


class Others(msgspec.Struct, frozen=True, array_like=True, gc=False, tag=True):
    """What others make of a function or a class themselves, so that a value is not all they have in common.

    They name it at all; as heirs they inherit from the class, and may define its methods anew.
    """

    are_heirs: bool = False


class Written(msgspec.Struct, frozen=True, array_like=True, gc=False, tag=True):
    """A file that holds the value from now on, by the last part of its path."""

    name: str


class Exit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where a value leaves the file, as plain data: a result, an argument, a field of a class or a module."""

    symbol: str
    """The full name of the function, or the class; of a module, without a name behind `::`; empty for a file."""
    port: int | str | Field | Others | Written | None
    """The place or the keyword of an argument, a field, others by themselves, a file, or None for the result."""
    path: Path
    label: str


Move = Value | Kept | Stored | Given | Returned | Exit


class Through(enum.IntFlag):
    """What a question follows besides names, choices and attributes of `self`."""

    NOTHING = 0
    PARAMETERS = enum.auto()
    """To their defaults, and to what calls in the file give."""
    RESULTS = enum.auto()
    """To what functions of the file return."""
    CHANGES = enum.auto()
    """Past `x += y`, which changes a value and leaves it what it is: a tensor, on a device, of floats."""
    CONTENTS = enum.auto()
    """Into containers and objects: to the entry or the attribute that is read, whenever it was put there."""


EVERYWHERE = Through.PARAMETERS | Through.RESULTS | Through.CONTENTS


class Definition(msgspec.Struct, frozen=True):
    """An expression that a value is, or that it is a part of."""

    node: ast.expr
    scope: int
    parts: Path = ()
    """What leads to it in the expression: positions in what is unpacked, `EACH` for what is gone through."""


class Parameter(msgspec.Struct, frozen=True):
    """What a function is given from out of sight."""

    function: int
    name: str
    parts: Path = ()


End = Definition | Parameter | None
"""None stands for what is not seen."""
