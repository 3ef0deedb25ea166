"""Paths that code spells."""

from __future__ import annotations

import ast

from tests.facts.reading import facts_of_program
from torchlint.facts.options.configurations import paths_of


def test_a_path_that_each_name_doubles_ends() -> None:
    steps = "\n".join(f"p{n} = os.path.join(p{n - 1}, p{n - 1})" for n in range(1, 60))
    facts = facts_of_program(f"import os\np0 = 'conf'\n{steps}\n")
    found = [paths_of(facts, ast.Name(f"p{n}", ast.Load()), 0).paths for n in range(60)]
    assert found[2] == {"conf/conf/conf/conf"}
    assert found[-1] == frozenset()
