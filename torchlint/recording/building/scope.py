"""What is known where arguments are invented: the names of the file, the project's options, how wide layers are."""

from __future__ import annotations

import ast
import copy
import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torchlint.recording.building.names import ARGUMENTS, TEXTS, WIDTH, first
from torchlint.recording.building.usage import Use
from torchlint.recording.messages import Configuration

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
class Section:
    """The options of a file, or of a part of it."""

    place: str = ""
    entries: Mapping[str, Any] = field(default_factory=dict)


def sections_of(configurations: Iterable[Configuration]) -> tuple[Section, ...]:
    """Every table of the files: those of the first one first, the outer before the inner."""
    return tuple(each for one in configurations for each in _sections(one.place, one.entries))


def _sections(place: str, entries: Mapping[str, Any]) -> Iterator[Section]:
    yield Section(place, entries)
    for name, value in entries.items():
        if isinstance(value, dict):
            yield from _sections(f"{place}:{name}", value)


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

    sections: Sequence[Section] = ()
    """Those of the configurations that the project ships, of the smallest first."""

    def section(self, names: Iterable[str]) -> Section:
        """The section that has most of these options: the outermost of the smallest configuration."""
        wanted = frozenset(names)
        best = max(self.sections, key=lambda each: len(wanted & each.entries.keys()), default=Section())
        return best if not wanted or wanted & best.entries.keys() else Section()

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


def config_for(name: str, scope: Scope) -> InventedConfig:
    """Options for a parameter: of the file of the project that has most of what is read of it, the others invented."""
    use = scope.use(name)
    return InventedConfig(scope, section=scope.section([*use.attributes, *use.keys]))


class InventedConfig:
    """A configuration object that nobody described: each option gets the project's default, or a value from its name.

    What was read is kept, so that a repair can give one option another value. A copy tells what is read of it to its
    `original`: modules are copied before they run.
    """

    def __init__(
        self,
        scope: Scope,
        given: Mapping[str, Any] | None = None,
        original: InventedConfig | None = None,
        section: Section | None = None,
    ) -> None:
        self._scope = scope
        self._original = original
        self._section = section or Section()
        vars(self).update(given or {})

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any option
        if name.startswith("_"):
            raise AttributeError(name)
        value = self._invented(name) if self._original is None else copy.deepcopy(getattr(self._original, name))
        setattr(self, name, value)
        return value

    def _invented(self, name: str) -> Any:  # noqa: ANN401 - any option
        scope, low = self._scope, name.lower()
        if name in self._section.entries:
            return self._shipped(name)
        if name in scope.options:
            return InventedConfig(scope) if scope.options[name] == _SECTION_OF_PROJECT else scope.option(name)
        if CONFIG.fullmatch(low) or _SECTION.fullmatch(low):
            return InventedConfig(scope)
        if _WEIGHTS.search(low):
            return None
        return scope.text(low) if _TEXT.fullmatch(low) else scope.number(name)

    def _shipped(self, name: str) -> Any:  # noqa: ANN401 - any option
        """What the file says; a section of it holds options as well."""
        value = self._section.entries[name]
        if isinstance(value, dict):
            return InventedConfig(self._scope, section=Section(f"{self._section.place}:{name}", value))
        return copy.deepcopy(value)

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - any option
        return getattr(self, str(name))

    def __setitem__(self, name: str, value: object) -> None:
        setattr(self, str(name), value)

    def __contains__(self, name: object) -> bool:
        return True

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 - any option
        return default if default is not None else getattr(self, name)

    def keys(self) -> list[str]:
        """What the file says, and what was read so far: `**config` gives that."""
        return list(dict.fromkeys([*self._section.entries, *self._known()]))

    def items(self) -> list[tuple[str, Any]]:
        return [(name, self[name]) for name in self.keys()]

    def values(self) -> list[Any]:
        return [self[name] for name in self.keys()]

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def _known(self) -> list[str]:
        return [name for name in vars(self) if not name.startswith("_")]

    def read(self, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Every option that was read, with its place."""
        for name in self._known():
            value = vars(self)[name]
            yield (*path, name), value
            if isinstance(value, InventedConfig):
                yield from value.read((*path, name))

    def changed(self, path: tuple[str, ...], value: object) -> InventedConfig:
        """A copy in which one option is another."""
        name, *rest = path
        inner = vars(self).get(name)
        new = inner.changed(tuple(rest), value) if rest and isinstance(inner, InventedConfig) else value
        given = {**{key: vars(self)[key] for key in self._known()}, name: new}
        return InventedConfig(self._scope, given, section=self._section)

    def __deepcopy__(self, memo: dict[int, Any]) -> InventedConfig:
        """The user's file, in which it looks names up, is not copied along."""
        given = copy.deepcopy({name: vars(self)[name] for name in self._known()}, memo)
        return InventedConfig(self._scope, given, original=self, section=self._section)

    def in_words(self) -> str:
        return f"options of {self._section.place}" if self._section.place else "invented options"

    def __repr__(self) -> str:
        return f"{self.in_words()}({', '.join(f'{name}={vars(self)[name]!r}' for name in self._known())})"
