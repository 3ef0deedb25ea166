"""Has something done to a module right after it was imported, or at once where it was."""

from __future__ import annotations

import sys
from functools import partial

from torchlint.recording.factors.troubles import attempt, note

TYPE_CHECKING = False  # `typing` takes a while to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

    Action = Callable[[ModuleType], None]


class _Watcher:
    """Finds nothing itself: it asks the other finders, and wraps the loader of what is waited for.

    The wait ends when the module runs: `importlib.util.find_spec("numpy")` asks, and imports nothing.
    """

    def __init__(self) -> None:
        self.waiting: dict[str, list[tuple[str, Action]]] = {}

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:  # noqa: ANN401
        if name not in self.waiting:
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find else None
            if spec is not None:
                self._wrap(name, spec.loader)
                return spec
        return None

    def _wrap(self, name: str, loader: Any) -> None:  # noqa: ANN401 - loaders share no class
        if loader is None or isinstance(loader, type) or not hasattr(loader, "exec_module"):
            return
        plain = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            vars(loader).pop("exec_module", None)  # the module keeps its loader as it was
            plain(module)
            for factor, action in self.waiting.pop(module.__name__, []):
                attempt(factor, partial(action, sys.modules.get(module.__name__, module)))

        try:
            loader.exec_module = exec_module
        except AttributeError:
            note(f"the import of {name} could not be watched: {type(loader).__name__} cannot be changed")


_WATCHER = _Watcher()


def after_import(factor: str, name: str, action: Action) -> None:
    """Call the action with the module, now or when it was imported."""
    if name in sys.modules:
        attempt(factor, partial(action, sys.modules[name]))
        return
    if _WATCHER not in sys.meta_path:
        sys.meta_path.insert(0, _WATCHER)
    _WATCHER.waiting.setdefault(name, []).append((factor, action))
