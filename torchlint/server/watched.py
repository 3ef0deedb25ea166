"""Which files the editor tells of when they change on disk, and which settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from torchlint.catalogue import load_catalogue
from torchlint.server.settings import SECTION
from torchlint.source.discovery import tells_facts
from torchlint.source.exclusion import NOT_PROJECT

_PATTERNS = (
    "**/*.{py,pyw,ipynb,toml,json,txt,cfg,ini,lock,yml,yaml,sh,bash,zsh,slurm,sbatch,mk,env,dockerfile}",
    "**/{Dockerfile,Containerfile,Makefile,makefile,GNUmakefile,justfile,Pipfile,.env}*",
    "**/.gitignore",
)
"""Files that may tell facts (`tells_facts`), as editors are asked for them: to watch all files would cost them much."""
_FILES = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(one) for one in _PATTERNS])
FILE_OPERATIONS = types.FileOperationRegistrationOptions(
    [types.FileOperationFilter(types.FileOperationPattern("**/*"), scheme="file")]
)


def register(server: LanguageServer) -> None:
    """Ask to be told, as far as the editor lets servers ask."""
    workspace = server.client_capabilities.workspace
    if workspace is None:
        return
    wanted = []
    files, settings = workspace.did_change_watched_files, workspace.did_change_configuration
    if files is not None and files.dynamic_registration:
        wanted.append(types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, _FILES))
    if settings is not None and settings.dynamic_registration:
        options = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
        wanted.append(types.Registration("settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, options))
    if wanted:
        server.client_register_capability(types.RegistrationParams(wanted))


def concern(uris: Iterable[str], folders: Sequence[Path]) -> bool:
    """Whether any of these files tells facts of a project. Rules of the user's own are read again."""
    paths = [Path(path) for path in map(to_fs_path, uris) if path]
    telling = [path for path in paths if tells_facts(path.name) and not _is_aside(path, folders)]
    if any(path.suffix == ".toml" for path in telling):
        load_catalogue.cache_clear()
    return bool(telling)


def _is_aside(path: Path, folders: Sequence[Path]) -> bool:
    """Whether a file lies in a folder that is no part of any project, such as a virtual environment."""
    inside = next((path.relative_to(folder) for folder in folders if path.is_relative_to(folder)), path)
    return not NOT_PROJECT.isdisjoint(inside.parts)
