"""The programs are Python that could run: they compile, and every name in them is made somewhere."""

from __future__ import annotations

import builtins
import symtable
from collections.abc import Iterator

import pytest

from tests.transport.programs import Files, program
from tests.transport.reading import AS_IT_IS, CASES, Case, ways_of
from tests.transport.running import near_miss

MODULE_NAMES = {*dir(builtins), "__name__"}


@pytest.mark.parametrize("name", CASES)
def test_a_program_compiles_and_knows_its_names(name: str) -> None:
    for files in _programs(CASES[name]):
        for path, text in files.items():
            compile(text, path, "exec")
            module = symtable.symtable(text, path, "exec")
            made = {
                symbol.get_name() for symbol in module.get_symbols() if symbol.is_assigned() or symbol.is_imported()
            }
            assert _asked_of_the_module(module) <= made | MODULE_NAMES, text


def _programs(case: Case) -> Iterator[Files]:
    for way in ways_of(case):
        for swap in (AS_IT_IS, *case.controls.values()):
            yield program(case, way, swap)
    for miss in case.near_misses:
        yield near_miss(case, miss)


def _asked_of_the_module(table: symtable.SymbolTable) -> set[str]:
    """The names that no function makes for itself."""
    own = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() and symbol.is_referenced()}
    return own.union(*(_asked_of_the_module(child) for child in table.get_children()))
