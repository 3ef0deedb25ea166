"""Tables of the configuration that name nothing, with the target that was probably meant, and those that are wrong."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from torchlint.config import OWN_FILE, Settings
from torchlint.diagnostics import Note
from torchlint.errors import UnreadableSource, nearest
from torchlint.verify.hooks import is_about
from torchlint.verify.loading import File, module_of
from torchlint.verify.names import bound_names


def unknown_targets(settings: Settings, files: Sequence[Path]) -> Iterator[Note]:
    """A note for each table that is wrong, or that none of the project's files has a target for."""
    yield from (Note(mistake) for _, mistake in settings.verify_mistakes)
    tables = [key for key, _ in settings.verify]
    modules = {path: module_of(path) for path in files} if tables else {}
    for key in tables:
        module, _, name = key.rpartition(":")
        here = [path for path, known in modules.items() if module and f".{known}".endswith(f".{module}")]
        if not any(is_about(key, modules[path], bound) for path in here for bound in _names(path)):
            is_own_file = settings.config_file is not None and settings.config_file.name == OWN_FILE
            table = f'{"" if is_own_file else "tool.torchlint."}verify."{key}"'
            where = f"{settings.config_file}: `{table}` is not the name of a class or function here"
            yield Note(f"{where}{_meant(key, name, here, modules)}")


def _meant(key: str, name: str, here: Sequence[Path], modules: dict[Path, str]) -> str:
    """First another name of that file, then the name in another file, then whatever looks alike."""
    of_module = [f"{modules[path]}:{bound}" for path in here for bound in _names(path)]
    everywhere = [f"{module}:{bound}" for path, module in modules.items() for bound in _names(path)]
    alike = [target for target in everywhere if target.endswith(f":{name}")]
    if len(alike) == 1:
        return f"; did you mean `{alike[0]}`?"
    for choices in (alike, of_module, everywhere):
        if hint := _nearest(key, choices):
            return hint
    return '; a table is called "package.module:Name"'


def _nearest(key: str, choices: Iterable[str]) -> str:
    """The key may leave out the outermost packages, and so do the choices then."""
    depth = key.count(".") + 1
    shortened = {".".join(choice.split(".")[-depth:]): choice for choice in choices}
    return nearest(key, shortened)


def _names(path: Path) -> list[str]:
    """The classes and functions of a file, and the objects that it makes."""
    try:
        tree = File.read(path).tree
    except UnreadableSource:
        return []
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Assign, ast.AnnAssign)
    return [name for each in tree.body if isinstance(each, kinds) for name in sorted(bound_names(each))]
