"""Which rules run, as users of ruff expect it."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.config import Overrides, load_settings

DEFAULT = {"TL101", "TL102", "TL201", "ACME001"}
STABLE = DEFAULT | {"TL110"}

FILE_TABLE: list[tuple[str, set[str]]] = [
    ("", DEFAULT),
    ("select = []", set()),
    ("select = ['ALL']", STABLE),
    ("select = ['all']", STABLE),
    ("select = ['TL']", STABLE - {"ACME001"}),
    ("select = ['ACME']", {"ACME001"}),
    ("select = ['TL1']", {"TL101", "TL102", "TL110"}),
    ("select = ['TL10']", {"TL101", "TL102"}),
    ("select = ['tl101']", {"TL101"}),
    ("select = ['unset-mode']", {"TL201"}),
    ("select = ['TL2']", {"TL201"}),  # the preview rule does not come with its prefix
    ("select = ['TL202']", {"TL202"}),
    ("select = ['young-rule']", {"TL202"}),
    ("extend-select = ['TL110']", DEFAULT | {"TL110"}),
    ("extend-select = ['TL202']", DEFAULT | {"TL202"}),
    ("ignore = ['TL1']", {"TL201", "ACME001"}),
    ("extend-ignore = ['TL1']", {"TL201", "ACME001"}),
    ("ignore = ['ALL']", set()),
    ("ignore = ['TL3', 'TL301']", DEFAULT),  # planned rules may be ignored ahead of time
    # the more specific selector wins
    ("select = ['ALL']\nignore = ['TL1']", {"TL201", "ACME001"}),
    ("select = ['TL101']\nignore = ['ALL']", {"TL101"}),
    ("select = ['TL10']\nignore = ['TL1']", {"TL101", "TL102"}),
    ("select = ['TL1']\nignore = ['TL10']", {"TL110"}),
    ("select = ['TL101']\nignore = ['TL10']", {"TL101"}),
    ("select = ['nondeterministic-operator']\nignore = ['TL1']", {"TL101"}),
    ("select = ['TL1']\nignore = ['nondeterministic-operator']", {"TL102", "TL110"}),
    ("select = ['TL1']\nextend-select = ['TL2']\nignore = ['TL10']", {"TL110", "TL201"}),
    # on a tie ignore wins
    ("select = ['TL101']\nignore = ['TL101']", set()),
    ("select = ['TL101']\nignore = ['nondeterministic-operator']", set()),
    ("select = ['TL1']\nignore = ['TL1']", set()),
    ("select = ['ALL']\nignore = ['ALL']", set()),
]


@pytest.mark.parametrize(("text", "expected"), FILE_TABLE, ids=[text for text, _ in FILE_TABLE])
def test_the_configuration_selects(project: Path, text: str, expected: set[str]) -> None:
    (project / "torchlint.toml").write_text(text)
    assert load_settings(project, Overrides()).selected == expected


COMMAND_TABLE = [
    # --select starts afresh: the file's select, extend-select and ignore are forgotten
    ("select = ['TL2']\nextend-select = ['ACME']\nignore = ['TL101']", Overrides(select=("TL10",)), {"TL101", "TL102"}),
    ("", Overrides(select=("TL1",), ignore=("TL110",)), {"TL101", "TL102"}),
    ("", Overrides(select=("TL1",), extend_select=("TL201",)), {"TL101", "TL102", "TL110", "TL201"}),
    # without it, the command line changes the file's result, and wins although it is less specific
    ("select = ['TL101', 'TL201']", Overrides(ignore=("TL1",)), {"TL201"}),
    ("ignore = ['TL101']", Overrides(extend_select=("TL1",)), STABLE),
    ("ignore = ['TL101']", Overrides(ignore=("TL102",)), {"TL201", "ACME001"}),
    ("ignore = ['TL101']", Overrides(extend_ignore=("TL102",)), {"TL201", "ACME001"}),
    ("", Overrides(extend_select=("TL202",)), DEFAULT | {"TL202"}),
]


@pytest.mark.parametrize(("text", "overrides", "expected"), COMMAND_TABLE)
def test_the_command_line_overrides(project: Path, text: str, overrides: Overrides, expected: set[str]) -> None:
    (project / "torchlint.toml").write_text(text)
    assert load_settings(project, overrides).selected == expected
