from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.config import Overrides, load_settings
from torchlint.diagnostics import Confidence, Severity


def write(project: Path, text: str) -> Path:
    file = project / "torchlint.toml"
    file.write_text(text)
    return file


def test_without_a_file_the_defaults_hold(project: Path) -> None:
    settings = load_settings(project, Overrides())
    assert settings.root == project
    assert settings.config_file is None
    assert settings.exclude == ()
    assert settings.torch is None
    assert settings.determinism is None
    assert settings.devices == ()
    assert settings.max_file_size == 2_000_000
    assert settings.min_severity is Severity.INFO
    assert settings.min_confidence is Confidence.MEDIUM
    assert settings.fail_on is Severity.WARNING
    assert not settings.isolated_facts
    assert not settings.assume_deterministic


def test_the_file_is_read_in_full(project: Path) -> None:
    (project / "lint").mkdir()
    file = write(
        project,
        """
        exclude = ["old"]
        extend-exclude = ["older"]
        force-exclude = true
        torch = ">=2.1"
        determinism = "warn"
        devices = ["cpu", "cuda", "cpu"]
        extend-rules = ["lint"]
        max-file-size = 10
        min-severity = "warning"
        min-confidence = "low"
        fail-on = "error"
        [per-file-ignores]
        "b/*" = ["TL1"]
        "a/*" = ["unset-mode", "TL3"]
        """,
    )
    settings = load_settings(project / "deep" / "er", Overrides())
    assert (settings.root, settings.config_file) == (project, file)
    assert settings.exclude == ("old", "older")
    assert settings.force_exclude
    assert (settings.torch, settings.determinism, settings.devices) == (">=2.1", "warn", ("cpu", "cuda"))
    assert settings.extend_rules == (project / "lint",)
    assert settings.max_file_size == 10
    assert (settings.min_severity, settings.fail_on) == (Severity.WARNING, Severity.ERROR)
    assert settings.min_confidence is Confidence.LOW
    assert settings.per_file_ignores == (
        ("b/*", frozenset({"TL101", "TL102", "TL110"})),
        ("a/*", frozenset({"TL201", "TL301"})),
    )


def test_the_command_line_wins(project: Path) -> None:
    write(project, "exclude = ['a']\nextend-exclude = ['b']\ntorch = '2.1'\ndevices = ['cpu']\nfail-on = 'error'\n")
    overrides = Overrides(
        exclude=("c",),
        extend_exclude=("d",),
        force_exclude=True,
        torch="2.6.1",
        devices=("mps",),
        fail_on=Severity.INFO,
        min_severity=Severity.ERROR,
        min_confidence=Confidence.HIGH,
        assume_deterministic=True,
        isolated_facts=True,
    )
    settings = load_settings(project, overrides)
    assert settings.exclude == ("c", "b", "d")
    assert settings.force_exclude
    assert (settings.torch, settings.devices) == ("==2.6.*", ("mps",))
    assert (settings.fail_on, settings.min_severity) == (Severity.INFO, Severity.ERROR)
    assert settings.min_confidence is Confidence.HIGH
    assert settings.assume_deterministic
    assert settings.isolated_facts


@pytest.mark.parametrize(
    ("written", "meant"),
    [("2.6", "==2.6.*"), ("2.6.1", "==2.6.*"), ("2", "==2.0.*"), (">=2.1,<2.6", ">=2.1,<2.6"), ("~=2.4", "~=2.4")],
)
def test_a_bare_torch_version_is_its_minor_release(project: Path, written: str, meant: str) -> None:
    assert load_settings(project, Overrides(torch=written)).torch == meant


def test_isolated_reads_no_file(project: Path) -> None:
    write(project, "nonsense = 1")
    assert load_settings(project, Overrides(), isolated=True).config_file is None


def test_a_named_file_replaces_the_nearest(project: Path) -> None:
    write(project, "nonsense = 1")
    named = project / "other.toml"
    named.write_text("select = ['TL101']")
    settings = load_settings(project / "src", Overrides(), config=named)
    assert (settings.root, settings.config_file, settings.selected) == (project, named, frozenset({"TL101"}))


def test_a_named_file_elsewhere_does_not_move_the_root(project: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "lint").mkdir()
    (shared / "pyproject.toml").write_text("[tool.torchlint]\nextend-rules = ['lint']\n")
    settings = load_settings(project, Overrides(), config=shared / "pyproject.toml")
    assert settings.root == project
    assert settings.extend_rules == (shared / "lint",)


def test_settings_are_made_once_and_again_after_an_edit(project: Path) -> None:
    file = write(project, "select = ['TL101']")
    first = load_settings(project / "a", Overrides())
    assert load_settings(project / "b", Overrides()) is first
    file.write_text("select = ['TL101', 'TL102']")
    assert load_settings(project, Overrides()).selected == {"TL101", "TL102"}


def test_a_bom_is_no_mistake(project: Path) -> None:
    (project / "torchlint.toml").write_bytes(b"\xef\xbb\xbfselect = ['TL101']\r\n")
    assert load_settings(project, Overrides()).selected == {"TL101"}
