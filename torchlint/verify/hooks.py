"""What the user's configuration says about targets, and the table that asks for it."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from torchlint.config import Settings
from torchlint.errors import ConfigError
from torchlint.recording.messages import Hooks, TargetKind
from torchlint.verify.names import bound_names

Lacking = Literal["constructor", "inputs"]
"""What torchlint did not find by itself."""
_INDICES = ("index", "indices", "ids", "idx", "labels", "label", "target", "targets", "tokens", "edge_index")
_PATHS = frozenset({"root", "dir", "folder", "path", "file", "csv", "data"})
_OPTIONS = frozenset({"cfg", "config", "conf", "args", "opt", "opts", "options", "hparams", "params"})


def hooks_for(settings: Settings, module: str, name: str) -> Hooks:
    """The hooks of a target. A key may leave out the outermost packages: `models:UNet` for `pkg.models:UNet`.

    Paths below the root are given in full: the process that runs the target works in a folder of its own.
    Raises ConfigError where the table of the target is not understood.
    """
    root = settings.root
    for key, mistake in settings.verify_mistakes:
        if is_about(key, module, name):
            raise ConfigError(mistake)
    for key, hooks in settings.verify:
        if is_about(key, module, name):
            found = msgspec.json.decode(hooks, type=Hooks)
            return msgspec.structs.replace(
                found, args=_with_paths(found.args, root), kwargs=_with_paths(found.kwargs, root)
            )
    return Hooks()


def is_about(key: str, module: str, name: str) -> bool:
    named_module, _, named = key.rpartition(":")
    return named == name and f".{module}".endswith(f".{named_module}")


def _with_paths(value: Any, root: Path, name: str = "") -> Any:  # noqa: ANN401 - whatever TOML has
    if isinstance(value, str):
        is_path = "/" in value or not _PATHS.isdisjoint(name.lower().split("_"))
        return str(root / value) if is_path and (root / value).exists() else value
    if isinstance(value, dict):
        return {key: _with_paths(each, root, key) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_with_paths(each, root, name) for each in value)
    return value


@dataclass(frozen=True)
class Table:
    """The table of one target, as it would be pasted: valid as it stands, with values to be made right."""

    module: str
    name: str
    kind: TargetKind
    tree: ast.Module
    is_own_file: bool
    """The configuration is a torchlint.toml, whose tables have no `tool.torchlint.` before them."""

    def lines(self, lacking: Lacking) -> list[str]:
        prefix = "" if self.is_own_file else "tool.torchlint."
        head = f"[{prefix}verify.{json.dumps(f'{self.module}:{self.name}', ensure_ascii=False)}]"
        given = [self._construction(), self._inputs()]
        wanted = given if lacking == "constructor" else given[::-1]
        first, *others = [line for line in wanted if line] or ["inputs = []"]
        factory = f'factory = "tests.torchlint_inputs:{self.name.lower()}"  # returns (module, args, kwargs[, loss])'
        others += [factory] if self.kind != "statement" else []
        return [head, first, *(f"# {line}" for line in others)]

    def _construction(self) -> str:
        """For a class what it is constructed with; for a function around a flagged statement what it is called with."""
        statement = self._statement()
        if isinstance(statement, ast.ClassDef):
            return f"kwargs = {_entries(_required(_method(statement, '__init__'), 1))}  # what {self.name} is made with"
        if self.kind == "statement" and statement is not None:
            return f"kwargs = {_entries(_required(statement, 0))}  # what {self.name} is called with"
        return ""

    def _inputs(self) -> str:
        statement = self._statement()
        if self.kind == "statement" or statement is None:
            return ""
        is_class = isinstance(statement, ast.ClassDef)
        called = _method(statement, "forward") if is_class else statement
        tensors = ", ".join(json.dumps(_tensor(each)) for each in _required(called, int(is_class)))
        what = "forward" if is_class else self.name
        return f"inputs = [{tensors or json.dumps('float32[2,3,64,64]')}]  # what {what} is called with"

    def _statement(self) -> ast.stmt | None:
        return next((each for each in self.tree.body if self.name in bound_names(each)), None)


def _method(owner: ast.stmt, name: str) -> ast.stmt | None:
    body: Sequence[ast.stmt] = getattr(owner, "body", ())
    return next((each for each in body if isinstance(each, ast.FunctionDef) and each.name == name), None)


def _required(function: ast.stmt | None, skipped: int) -> list[ast.arg]:
    """The parameters that a call has to give."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return []
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    without_default = positional[: len(positional) - len(arguments.defaults)]
    by_name = [each for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if not default]
    return [*without_default[skipped:], *by_name]


def _entries(parameters: Sequence[ast.arg]) -> str:
    return f"{{ {', '.join(f'{each.arg} = {_value(each)}' for each in parameters)} }}" if parameters else "{}"


def _value(parameter: ast.arg) -> str:
    """Something of the parameter's kind, in TOML."""
    annotation = ast.unparse(parameter.annotation) if parameter.annotation else ""
    words = parameter.arg.lower().split("_")
    kinds = {"int": "8", "float": "0.1", "bool": "true", "str": '"text"'}
    if not _PATHS.isdisjoint(words) and annotation in ("", "str", "Path"):
        return '"data"'
    if annotation.lower().startswith(("list", "tuple", "sequence")):
        return "[8, 8]"
    is_table = "dict" in annotation.lower() or not _OPTIONS.isdisjoint(words)
    return kinds.get(annotation) or ("{}" if is_table else "8")


def _tensor(parameter: ast.arg) -> str:
    words = parameter.arg.lower().split("_")
    if parameter.arg.lower() in _INDICES or any(word in _INDICES for word in words):
        return f"{parameter.arg}=int64[2]{{0..1}}"
    return f"{parameter.arg}=bool[2]" if "mask" in words else f"{parameter.arg}=float32[2,3,64,64]"
