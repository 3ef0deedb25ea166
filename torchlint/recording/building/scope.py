"""What is known where arguments are invented: the names of the file, the project's options, how wide layers are."""

from __future__ import annotations

import ast
import copy
import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from torchlint.recording.building.names import ARGUMENTS, TEXTS, WIDTH, first
from torchlint.recording.building.usage import Use

CONFIG = re.compile(r"(.*_)?(cfg|config|configs|conf|configuration|args|hparams?|opts?|options|params|hyper\w*)")
_SECTION = re.compile(r"model|net(work)?|encoder|decoder|backbone|head|data(set)?|train(ing|er)?|optim\w*|loss")
"""Options that are groups of options themselves."""
_TEXT = re.compile(r"mode|name|.*_(name|type|mode)|type|arch|variant")
_WEIGHTS = re.compile(r"pretrain|checkpoint|resume|ckpt")
_SECTION_OF_PROJECT = "{}"
_NOTHING: Any = object()


def _plainly(cls: type, _scope: Scope) -> Any:  # noqa: ANN401 - an object of the user's class
    raise TypeError(f"{cls.__name__} is not made here")


@dataclass(frozen=True)
class Scope:
    """Where names of the user's file are looked up, and how wide invented layers are."""

    namespace: Mapping[str, Any]
    width: int = WIDTH
    depth: int = 0
    construct: Callable[[type, Scope], Any] = _plainly
    """Makes an object of a class that a parameter asks for."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The project's, as source."""
    uses: Mapping[str, Use] = field(default_factory=dict)
    """What is done with the parameters for which values are wanted."""

    def number(self, name: str) -> Any:  # noqa: ANN401 - a number or a truth
        value = first(ARGUMENTS, name)
        return self.width if value == WIDTH and not isinstance(value, bool) else value

    def text(self, name: str) -> str:
        return texts(name)[0]

    def option(self, name: str) -> Any:  # noqa: ANN401 - any value
        """The value that an option of that name has in the project; None where it has none."""
        source = self.options.get(name)
        return None if source in (None, _SECTION_OF_PROJECT) else ast.literal_eval(source)

    def use(self, name: str) -> Use:
        return self.uses.get(name) or Use()

    def inner(self) -> Scope:
        return dataclasses.replace(self, depth=self.depth + 1)


def texts(name: str) -> tuple[str, ...]:
    found = first(TEXTS, name)
    assert isinstance(found, tuple)
    return found


class InventedConfig:
    """A configuration object that nobody described: each option gets the project's default, or a value from its name.

    What was read is kept, so that a repair can give one option another value. A copy tells what is read of it to its
    `original`: modules are copied before they run.
    """

    def __init__(
        self, scope: Scope, given: Mapping[str, Any] | None = None, original: InventedConfig | None = None
    ) -> None:
        self._scope = scope
        self._original = original
        vars(self).update(given or {})

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any option
        if name.startswith("_"):
            raise AttributeError(name)
        value = self._invented(name) if self._original is None else copy.deepcopy(getattr(self._original, name))
        setattr(self, name, value)
        return value

    def _invented(self, name: str) -> Any:  # noqa: ANN401 - any option
        scope, low = self._scope, name.lower()
        if name in scope.options:
            return InventedConfig(scope) if scope.options[name] == _SECTION_OF_PROJECT else scope.option(name)
        if CONFIG.fullmatch(low) or _SECTION.fullmatch(low):
            return InventedConfig(scope)
        if _WEIGHTS.search(low):
            return None
        return scope.text(low) if _TEXT.fullmatch(low) else scope.number(name)

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - any option
        return getattr(self, str(name))

    def __setitem__(self, name: str, value: object) -> None:
        setattr(self, str(name), value)

    def __contains__(self, name: object) -> bool:
        return True

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 - any option
        return default if default is not None else getattr(self, name)

    def keys(self) -> list[str]:
        """What was read so far: `**config` gives that."""
        return [name for name in vars(self) if not name.startswith("_")]

    def read(self, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Every option that was read, with its place."""
        for name in self.keys():
            value = vars(self)[name]
            yield (*path, name), value
            if isinstance(value, InventedConfig):
                yield from value.read((*path, name))

    def changed(self, path: tuple[str, ...], value: object) -> InventedConfig:
        """A copy in which one option is another."""
        name, *rest = path
        inner = vars(self).get(name)
        new = inner.changed(tuple(rest), value) if rest and isinstance(inner, InventedConfig) else value
        return InventedConfig(self._scope, {**{key: vars(self)[key] for key in self.keys()}, name: new})

    def __deepcopy__(self, memo: dict[int, Any]) -> InventedConfig:
        """The user's file, in which it looks names up, is not copied along."""
        given = copy.deepcopy({name: vars(self)[name] for name in self.keys()}, memo)
        return InventedConfig(self._scope, given, original=self)

    def __repr__(self) -> str:
        return f"invented options({', '.join(f'{name}={vars(self)[name]!r}' for name in self.keys())})"
