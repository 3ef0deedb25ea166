"""Facts of a program that a test writes out."""

from __future__ import annotations

import functools
import textwrap

from torchlint.catalogue import load_catalogue
from torchlint.facts.file import FileFacts
from torchlint.facts.full_names import NameTable
from torchlint.project.modules import ModuleIndex
from torchlint.source.syntax import parse_python
from torchlint.source.text import source_from_bytes


@functools.lru_cache(maxsize=1)
def _names() -> NameTable:
    catalogue = load_catalogue()
    return NameTable(catalogue.names, frozenset(), catalogue.programs.starter)


def facts_of(data: bytes, path: str, modules: ModuleIndex | None = None) -> FileFacts:
    """What torchlint knows of one file, which is its whole project unless others are named."""
    modules = modules or ModuleIndex((), "root", lambda *_: None)
    source = source_from_bytes(data, path, notebook=False)
    return FileFacts.read(path, source, parse_python(source), _names(), modules.asked_by(path))


def facts_of_program(program: str) -> FileFacts:
    return facts_of(textwrap.dedent(program).encode(), "program.py")
