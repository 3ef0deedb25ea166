"""Arguments for a flagged function: literal ones from the project, else invented by name and annotation."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from torchlint.recording.errors import CannotRun
from torchlint.recording.loading.standing_in import told
from torchlint.recording.loading.stubs import library_of, stood_in
from torchlint.recording.messages import CallSite
from torchlint.recording.options import Options
from torchlint.recording.statements.datasets import CountedSamples

WORDS = (
    "river",
    "mountain",
    "forest",
    "harbour",
    "meadow",
    "island",
    "valley",
    "canyon",
    "glacier",
    "desert",
    "lagoon",
    "tundra",
    "prairie",
    "delta",
    "reef",
    "marsh",
)
_FOLDER = re.compile(r"root|dir|folder|path|base|location", re.IGNORECASE)
_PLURAL = re.compile(
    r"(paths|files|names|words|tokens|labels|items|samples|tasks|keys|tags|classes|texts|urls|jobs|entries|strings|images|signals|arrays|frames|points|features|volumes|rows|records|inputs|targets|crops)$",
    re.IGNORECASE,
)
_TEXT = re.compile(
    r"(word|name|text|key|prompt|token|label|file|string|tag|uid|sample)(_id)?$|^(id|s|x|item)$", re.IGNORECASE
)
_SOME_NUMBER = 7
_ABOUT_VALUES = (TypeError, AttributeError, ValueError, LookupError, ArithmeticError, AssertionError)
_NUMBER = re.compile(r"seed|rank|epoch|worker|size|num|count|^n$|^k$|buckets", re.IGNORECASE)
_DATASET = re.compile(r"dataset|^data$|_data$|^ds$|_ds$|train|samples|subset", re.IGNORECASE)
_OPTIONS = re.compile(
    r"^(args?|argv|opts?|options?|cfg|conf|configs?|configuration|hparams?|params|flags)$|_(cfg|config|opts?|args)$"
)
_OF_ANY_KIND = frozenset({"", "dict", "Any", "typing.Any", "Namespace", "argparse.Namespace"})


@dataclass(frozen=True)
class Invention:
    """What invented arguments are made of; each attempt may use another one."""

    folder: Path | None = None
    """Where parameters that name a folder point to."""
    texts: tuple[str, ...] = WORDS
    items: tuple[Any, ...] = WORDS
    """The elements of sequences."""


@dataclass(frozen=True)
class Arguments:
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    built_by: str = "its defaults"
    texts: tuple[str, ...] = ()
    """The parameters that got an invented text: others may take its place."""
    has_invented_folder: bool = False
    is_invented: bool = False

    def fit(self, function: Callable[..., Any]) -> bool:
        """Whether it can be called so: a call of the same name may be one of something else."""
        try:
            inspect.signature(function).bind(*self.args, **self.kwargs)
        except TypeError:
            return False
        except ValueError:
            return True  # its signature cannot be read
        return True

    def told(self, error: BaseException) -> str:
        """An error in words; of one about values, where nobody gave them, it is said that they may be the reason.

        Where a library is stood in for, that may be the reason as well, and is told.
        """
        is_theirs = self.is_invented and isinstance(error, _ABOUT_VALUES) and not stood_in()
        return f"the arguments that were invented do not fit: {told(error)}" if is_theirs else told(error)

    def with_text(self, text: str) -> Arguments:
        changed = {**self.kwargs, **dict.fromkeys(self.texts, text)}
        return Arguments(self.args, changed, self.built_by, self.texts, self.has_invented_folder, self.is_invented)


def literal_arguments(site: CallSite, names: Mapping[str, object]) -> Arguments:
    """The arguments of one call in the project; they are source, so they are evaluated where the target stands."""
    scope = dict(names)
    try:
        args = tuple(eval(source, scope) for source in site.args)  # noqa: S307 - the project's own literals
        kwargs = {name: eval(source, scope) for name, source in site.kwargs.items()}  # noqa: S307 - likewise
    except Exception as error:
        raise CannotRun("inputs", f"the arguments at {site.place} cannot be evaluated: {error}") from error
    return Arguments(args, kwargs, f"literal arguments at {site.place}")


def invented_arguments(function: Callable[..., Any], invention: Invention) -> Arguments:
    """Values for all parameters without a default."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise CannotRun("inputs", f"the signature of {function} cannot be read") from error
    kwargs: dict[str, Any] = {}
    args: list[Any] = []
    texts = []
    for parameter in parameters:
        is_variable = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if is_variable or (
            parameter.default is not parameter.empty and not _names_missing_folder(parameter, invention)
        ):
            continue
        value = _value_for(parameter, invention)
        if parameter.kind is parameter.POSITIONAL_ONLY:
            args.append(value)
        else:
            kwargs[parameter.name] = value
        if isinstance(value, str) and value == invention.texts[0]:
            texts.append(parameter.name)
    folders = [value for value in (*args, *kwargs.values()) if _is_folder(value, invention)]
    built_by = "invented arguments" if args or kwargs else "its defaults"
    return Arguments(tuple(args), kwargs, built_by, tuple(texts), bool(folders), bool(args or kwargs))


def _names_missing_folder(parameter: inspect.Parameter, invention: Invention) -> bool:
    """A default such as `root="data/train"` is of no use where that folder does not exist."""
    default = parameter.default
    if invention.folder is None or not isinstance(default, (str, Path)) or not _FOLDER.search(parameter.name):
        return False
    return not Path(default).is_dir()


def _is_folder(value: object, invention: Invention) -> bool:
    """Whether it is the invented folder, or may name it when it is asked."""
    if isinstance(value, InventedOptions):
        return invention.folder is not None
    return invention.folder is not None and isinstance(value, (str, Path)) and Path(value) == invention.folder


def _value_for(parameter: inspect.Parameter, invention: Invention) -> Any:  # noqa: ANN401 - whatever it takes
    annotation = "" if parameter.annotation is parameter.empty else _spelled(parameter.annotation)
    for accepts, value in _TABLE:
        if accepts(parameter.name, annotation, invention):
            return value(invention, annotation)
    library = library_of(parameter.annotation)
    because = f": it needs {library}, which is not installed here" if library else ""
    raise CannotRun("inputs", f"no value can be invented for the parameter `{parameter.name}`{because}")


def _spelled(annotation: object) -> str:
    if isinstance(annotation, str):
        return annotation
    return annotation.__name__ if isinstance(annotation, type) and "[" not in str(annotation) else str(annotation)


def identity(item: Any, *_: Any, **__: Any) -> Any:  # noqa: ANN401 - it stands in for any function of an item
    """At module level, so that pools of processes can be handed it."""
    return item


def _stacked(invention: Invention, annotation: str) -> Any:  # noqa: ANN401 - an array or a tensor
    rows = [torch.as_tensor(item) for item in invention.items if not isinstance(item, str)]
    if not rows:
        raise CannotRun("inputs", f"no {annotation} can be invented")
    tensor = torch.stack(rows)
    return tensor.numpy() if annotation.endswith("ndarray") else tensor


class InventedOptions(Options):
    """Options that nobody described: each gets a value by its name when it is read, and keeps it."""

    def __init__(self, invention: Invention) -> None:
        super().__init__()
        object.__setattr__(self, "invention", invention)

    def __missing__(self, name: str) -> Any:  # noqa: ANN401 - any option
        if str(name).startswith("_"):
            raise KeyError(name)
        self[name] = value = self._invented(str(name))
        return value

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 - any option
        return self[name] if default is None else default

    def __deepcopy__(self, _memo: object) -> InventedOptions:
        copied = InventedOptions(self.invention)
        copied.update(self)
        return copied

    def _invented(self, name: str) -> Any:  # noqa: ANN401 - any option
        invention: Invention = self.invention
        value = next((value(invention, "") for accepts, value in _TABLE if accepts(name, "", invention)), _SOME_NUMBER)
        return _FolderOption(value) if isinstance(value, str) and _FOLDER.search(name) else value


class _FolderOption(str):
    """A folder; `config["path"]["raw"]` is one, too."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:  # noqa: ANN401 - as text has it, and by name
        return self if isinstance(key, str) else super().__getitem__(key)


Accepts = Callable[[str, str, Invention], bool]
Value = Callable[[Invention, str], Any]


def _sequence(invention: Invention, annotation: str) -> Any:  # noqa: ANN401 - the kind that was asked for
    if re.match(r"(typing\.)?([Ff]rozen)?[Ss]et|(.*\.)?AbstractSet", annotation):
        return set(invention.items)
    return tuple(invention.items) if re.match(r"(typing\.)?[Tt]uple", annotation) else list(invention.items)


_TABLE: tuple[tuple[Accepts, Value], ...] = (
    (lambda _, kind, __: "Callable" in kind, lambda _, __: identity),
    (
        lambda name, kind, _: kind in _OF_ANY_KIND and bool(_OPTIONS.search(name.lower())),
        lambda setting, _: InventedOptions(setting),
    ),
    (lambda _, kind, __: kind == "bool", lambda _, __: True),
    (lambda _, kind, __: kind == "int", lambda _, __: 7),
    (lambda _, kind, __: kind == "float", lambda _, __: 0.5),
    (lambda _, kind, __: kind in {"Dataset", "torch.utils.data.Dataset"}, lambda _, __: CountedSamples(16)),
    (lambda _, kind, __: kind.endswith(("ndarray", "Tensor")), _stacked),
    (lambda _, kind, __: kind.endswith("Generator"), lambda _, __: torch.Generator().manual_seed(7)),
    (
        lambda _, kind, __: bool(re.search(r"(list|tuple|set|Iterable|Sequence|Collection)\b", kind, re.IGNORECASE)),
        _sequence,
    ),
    (lambda _, kind, setting: kind.endswith("Path") and setting.folder is not None, lambda setting, _: setting.folder),
    (lambda name, kind, _: not kind and bool(_PLURAL.search(name)), _sequence),
    (
        lambda name, kind, setting: kind in {"", "str"} and setting.folder is not None and bool(_FOLDER.search(name)),
        lambda setting, _: str(setting.folder),
    ),
    (lambda _, kind, __: kind == "str", lambda setting, _: setting.texts[0]),
    (lambda name, kind, _: not kind and bool(_NUMBER.search(name)), lambda _, __: 7),
    (lambda name, kind, _: not kind and bool(_DATASET.search(name)), lambda _, __: CountedSamples(16)),
    (lambda name, kind, _: not kind and bool(_TEXT.search(name)), lambda setting, _: setting.texts[0]),
    (
        lambda name, kind, _: (
            not kind and bool(re.search(r"^(fn|func|function|f)$|(extract|encode|measure|process|load)", name))
        ),
        lambda _, __: identity,
    ),
)
