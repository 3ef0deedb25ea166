"""Stands in for libraries that are not installed: what only mentions them loads, what computes with them says so."""

from __future__ import annotations

import sys
import types
from abc import ABCMeta
from collections.abc import Iterator, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any, TypeVar

import torch
from torch import nn
from typing_extensions import Self

from torchlint.recording.options import Options
from torchlint.recording.tensors import tensors_in

Entered = TypeVar("Entered")

_DUNDERS = {"__version__": "0.0.0", "__all__": []}
_MODULE_BASES = ("Module", "Model", "Mixin")


class StubbedCallError(ImportError):
    """The program computes with a library that is not installed: no result of it would be the program's."""


class StubType(ABCMeta):
    """The type of every class of a missing library: it has any attribute, and takes any arguments."""

    def __getattr__(cls, name: str) -> Any:  # noqa: ANN401 - anything a library may hold
        if name.startswith("__"):
            raise AttributeError(name)
        return stub_class(f"{cls.__module__}.{cls.__qualname__}", name)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - any arguments
        if not vars(cls).get("stands_in"):
            return super().__call__(*args, **kwargs)  # a class of the user's that derives from a stub
        decorated = _decorated(args, kwargs)
        if decorated is not None:
            return decorated
        _refuse_tensors(f"{cls.__module__}.{cls.__qualname__}", args, kwargs)
        return super().__call__(*args, **kwargs)

    def __getitem__(cls, _item: object) -> StubType:
        return cls

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __len__(cls) -> int:
        return 0

    def __bool__(cls) -> bool:
        return True


class StubObject(metaclass=StubType):
    """An object of a missing library."""

    stands_in = True

    def __init__(self, *_args: object, **_kwargs: object) -> None:
        pass

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - anything a library may hold
        if name.startswith("__"):
            raise AttributeError(name)
        return stub_class(f"{type(self).__module__}.{type(self).__qualname__}", name)()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - any arguments
        decorated = _decorated(args, kwargs)
        if decorated is not None:
            return decorated
        _refuse_tensors(f"{type(self).__module__}.{type(self).__qualname__}", args, kwargs)
        return self

    def __getitem__(self, _item: object) -> StubObject:
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_details: object) -> None:
        return None


class StubProgress(StubObject):
    """A progress bar, which hands on what it goes through: without it no loop would run."""

    def __init__(self, iterable: Any = (), *_args: object, **_kwargs: object) -> None:  # noqa: ANN401 - or a number
        self._iterable = range(iterable) if isinstance(iterable, int) else iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self._iterable)

    def __len__(self) -> int:
        return len(self._iterable) if hasattr(self._iterable, "__len__") else 0


class StubModule(nn.Module, metaclass=StubType):
    """A base class of a missing library that is an `nn.Module` there, as Lightning's is."""

    stands_in = True

    def __init__(self, config: object = None, *_args: object, **_kwargs: object) -> None:
        super().__init__()
        self.config = config

    @property
    def device(self) -> torch.device:
        return next((parameter.device for parameter in self.parameters()), torch.device("cpu"))

    def save_hyperparameters(self, *_args: object, **_kwargs: object) -> None:
        """As Lightning does it: the arguments of the constructor become `self.hparams`."""
        values = dict(sys._getframe(1).f_locals)  # noqa: SLF001 - the caller is the constructor
        self.hparams = Options({name: value for name, value in values.items() if name not in ("self", "__class__")})

    def _does_nothing(self, *_args: object, **_kwargs: object) -> None:
        """Reporting and set-up: the computation does not pass here."""

    log = log_dict = print = post_init = init_weights = register_to_config = _does_nothing


def stub_class(owner: str, name: str) -> StubType:
    base: type = StubModule if name.endswith(_MODULE_BASES) else StubObject
    if owner.partition(".")[0] == "tqdm":
        base = StubProgress
    return StubType(name, (base,), {"stands_in": True, "__module__": owner})


def _decorated(args: Sequence[Any], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401 - a function or class
    """A decorator returns what it decorates."""
    if len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type, staticmethod, classmethod)):
        return args[0]
    return None


def _refuse_tensors(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    if any(True for _ in tensors_in((args, kwargs))):
        is_here = not is_absent(name.partition(".")[0])
        raise StubbedCallError(
            f"it computes with {name}, which {'cannot be imported' if is_here else 'is not installed'}"
        )


class _StubModuleType(types.ModuleType):
    """A missing library."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - anything a library may hold
        if name in _DUNDERS:
            return _DUNDERS[name]
        if name.startswith("__"):
            raise AttributeError(name)
        value = stub_class(self.__name__, name)
        setattr(self, name, value)
        return value

    def __deepcopy__(self, _memo: object) -> _StubModuleType:
        return self


def is_absent(library: str) -> bool:
    """Whether nothing of that name is there; else it is there, and its import fails."""
    try:
        return PathFinder.find_spec(library) is None
    except (ImportError, ValueError):
        return False


def library_of(value: object, *, itself: bool = False) -> str:
    """The missing library that something stands in for, or (unless only `itself` counts) has its base class from."""
    if isinstance(value, _StubModuleType):
        return value.__name__.partition(".")[0]
    kind = value if isinstance(value, type) else type(value)
    bases = (kind,) if itself else kind.__mro__
    found = next((base for base in bases if "stands_in" in vars(base) and isinstance(base, StubType)), None)
    return "" if found is None or found.__module__ == __name__ else found.__module__.partition(".")[0]


class Stubs(MetaPathFinder, Loader):
    """The libraries that are stood in for: asked first, since an installed one that fails is replaced too."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._bound: dict[str, dict[str, object]] = {}

    def add(self, name: str, bound: Mapping[str, object] | None = None) -> bool:
        """Stand in for a module and all below it; False where that is so already.

        What the module had `bound` before it failed stays.
        """
        if name in self.names:
            return False
        self.names.append(name)
        self._bound[name] = {key: value for key, value in (bound or {}).items() if not key.startswith("__")}
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)
        sys.modules.pop(name, None)
        return True

    def add_name(self, module: types.ModuleType, name: str) -> bool:
        """Stand in for one name of a module that is there."""
        full = f"{module.__name__}.{name}"
        if full in self.names:
            return False
        self.names.append(full)
        setattr(module, name, stub_class(module.__name__, name))
        return True

    def find_spec(self, fullname: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        if any(fullname == name or fullname.startswith(f"{name}.") for name in self.names):
            return ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return _StubModuleType(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to execute."""
        bound = self._bound.get(module.__name__, {})
        # A star brings what was bound; of an absent library it brings nothing.
        vars(module).update(bound, __all__=[name for name in bound if not name.startswith("_")])


def stood_in() -> list[str]:
    """What is stood in for in this process."""
    return [name for finder in sys.meta_path if isinstance(finder, Stubs) for name in finder.names]
