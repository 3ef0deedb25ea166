"""Models of transformers: shallow ones, with no weights fetched, so that a class which holds one runs in memory."""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

from torch import nn

from torchlint.recording.building.shrinking import is_too_large, shrink
from torchlint.recording.loading.stubs import library_of

Made = TypeVar("Made")

_LIBRARY = "transformers"
_FACTORS = (1, 4, 16)
"""By how much they are narrower: programs write down the widths of the models that they fetch, so not without need."""
_MOST_BYTES = 400 << 20
_LARGE = {"hidden_size": 1024, "num_attention_heads": 16, "intermediate_size": 4096}
_USUAL = "bert"


@dataclass
class HubModels:
    """Makes models of the library smaller than the program asks for, while it is `installed`."""

    fetched: list[str] = field(default_factory=list)
    """The models that would have been fetched."""
    has_shrunk: bool = False
    _factor: int = 1

    def made(self, make: Callable[[], Made]) -> Made:
        """What it makes, with models as narrow as memory asks for."""
        for factor in [each for each in _FACTORS if each > self._factor] if _model_class() is not None else []:
            try:
                made = make()
                if not _is_large(made):
                    return made
            except Exception as error:
                if not is_too_large(error):
                    raise
            self._factor = factor
        return make()

    def again(self, make: Callable[..., Made], *args: Any, **kwargs: Any) -> Made:  # noqa: ANN401 - of any constructor
        """The same once more, after the search."""
        with self.installed():
            return make(*args, **kwargs)

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        model = _model_class()
        if model is None:
            yield
            return
        library: Any = sys.modules[_LIBRARY]
        configuration = (
            model.config_class or importlib.import_module(f"{_LIBRARY}.configuration_utils").PretrainedConfig
        )
        with (
            mock.patch.object(model, "__init__", self._shallow(model.__init__)),
            mock.patch.object(model, "from_pretrained", self._instead(model.from_pretrained, _model)),
            mock.patch.object(configuration, "from_pretrained", self._instead(configuration.from_pretrained, _plain)),
            mock.patch.object(
                library.AutoConfig, "from_pretrained", self._instead(library.AutoConfig.from_pretrained, _configuration)
            ),
        ):
            yield

    def _shallow(self, original: Callable[..., None]) -> Callable[..., None]:
        def __init__(model: Any, config: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401, N807 - the library's
            if not hasattr(config, "_is_small"):
                shrink(config, self._factor)
                self.has_shrunk = True
                config._is_small = True  # noqa: SLF001 - parts of a model share their configuration
            original(model, config, *args, **kwargs)

        return __init__

    def _instead(self, original: Callable[..., Any], make: Callable[..., Any]) -> Any:  # noqa: ANN401 - a class method
        def from_pretrained(cls: Any, name: Any = "", *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the library's
            if Path(str(name)).is_dir():
                return original.__func__(cls, name, *args, **kwargs)  # type: ignore[attr-defined] # a bound method
            self.fetched.append(str(name))
            made = make(cls, str(name), kwargs)
            return (made, {}) if kwargs.get("return_unused_kwargs") else made

        return classmethod(from_pretrained)


def _model_class() -> Any:  # noqa: ANN401 - a class of the library
    """The base of its models; None where the file does not use the library, or has it without torch."""
    library = sys.modules.get(_LIBRARY)
    if library is None or library_of(library):
        return None
    try:
        # It imports its parts when they are first used: `AutoModel` alone brings no model.
        found = importlib.import_module(f"{_LIBRARY}.modeling_utils").PreTrainedModel
    except (ImportError, AttributeError):
        return None
    return found if issubclass(found, nn.Module) else None


def _is_large(made: object) -> bool:
    """Whether copies of it and its gradients ask for more memory than there is."""
    return isinstance(made, nn.Module) and sum(each.nbytes for each in made.parameters()) > _MOST_BYTES


def _model(cls: Any, name: str, options: dict[str, Any]) -> nn.Module:  # noqa: ANN401 - a class of the library
    made = cls(options.get("config") or _given(_sized(cls.config_class(), name), options))
    assert isinstance(made, nn.Module)
    return made


def _plain(cls: Any, name: str, options: dict[str, Any]) -> Any:  # noqa: ANN401 - a class and an object of the library
    return _given(_sized(cls(), name), options)


def _configuration(_cls: Any, name: str, options: dict[str, Any]) -> Any:  # noqa: ANN401 - an object of the library
    """By the kind of model that the name holds, `distilbert` before `bert`."""
    kinds: Any = sys.modules[_LIBRARY].CONFIG_MAPPING
    letters = re.sub(r"[-_]", "", name.lower())
    found = [each for each in kinds if re.sub(r"[-_]", "", each) in letters]
    return _given(_sized(kinds[max(found, key=len, default=_USUAL)](), name), options)


def _sized(config: Any, name: str) -> Any:  # noqa: ANN401 - an object of the library
    if re.search(r"large", name, re.IGNORECASE):
        for option, value in _LARGE.items():
            if hasattr(config, option):
                setattr(config, option, value)
    return config


def _given(config: Any, options: dict[str, Any]) -> Any:  # noqa: ANN401 - an object of the library
    for option, value in options.items():
        if hasattr(config, option):
            setattr(config, option, value)
    return config
