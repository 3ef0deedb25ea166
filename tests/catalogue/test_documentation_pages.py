"""The rule pages follow from the catalogue, and the pages on disk are up to date."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from torchlint.catalogue import load_catalogue

DOCS = Path(__file__).parents[2] / "docs"
GENERATE = DOCS / "generate.py"
PAGES = DOCS / "rules"


@pytest.fixture
def generate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script, working on a copy of the pages."""
    spec = importlib.util.spec_from_file_location("generate_pages", GENERATE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    docs = tmp_path / "docs"
    for folder in ("rules", "operators"):
        shutil.copytree(DOCS / folder, docs / folder)
    for name in ("libraries.md", "configuration.md", "../mkdocs.yml"):
        shutil.copy(DOCS / name, docs / name)
    monkeypatch.setattr(module, "DOCS", docs)
    return module


def test_no_page_is_stale(generate: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["--check"]) == 0
    assert capsys.readouterr().err == ""


def test_stale_missing_and_left_over_pages_are_named_and_mended(
    generate: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    folder: Path = generate.DOCS / "rules"
    for name in ("operators/pooling.md", "libraries.md"):
        (generate.DOCS / name).unlink()
    (folder / "TL501-data-parallel.md").write_text("an edit by hand", encoding="utf-8")
    (folder / "TL101-replicate-padding.md").unlink()
    (folder / "TL999-gone.md").write_text("left over", encoding="utf-8")
    assert generate.main(["--check"]) == 1
    assert [line.split(" ")[0] for line in capsys.readouterr().err.splitlines()] == [
        "docs/libraries.md",
        "docs/operators/pooling.md",
        "docs/rules/TL101-replicate-padding.md",
        "docs/rules/TL501-data-parallel.md",
        "docs/rules/TL999-gone.md",
    ]
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0


def test_a_page_holds_what_a_user_asks() -> None:
    text = (PAGES / "TL101-replicate-padding.md").read_text(encoding="utf-8")
    headings = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert headings == [
        "What it finds",
        "Why it matters",
        "What to do",
        "Example",
        "Use instead",
        "Limits",
        "How often it is right",
        "Fix safety",
        "Operators",
        "References",
    ]
    assert "| replication padding in 2d | CUDA | 2.2 and later | uses a deterministic alternative | high |" in text


def test_the_index_lists_planned_rules_without_a_page() -> None:
    index = (PAGES / "index.md").read_text(encoding="utf-8")
    assert "[TL101](TL101-replicate-padding.md)" in index
    for rule in load_catalogue().rules.values():
        if rule.status == "planned":
            assert f"| {rule.code} | {rule.name} |" in index
            assert not list(PAGES.glob(f"{rule.code}*"))


def test_the_pages_of_operators_hold_every_entry_and_what_torch_gets_wrong() -> None:
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (DOCS / "operators").glob("*.md")}
    text = "\n".join(text for name, text in pages.items() if name != "index")
    for operator in load_catalogue().operators:
        assert text.count(f"\n## {operator.id}\n") == 1
        assert operator.doc_mismatch in pages["index"]
        assert all(alert in text for alert in operator.alerts)
        assert all(source in text for source in operator.sources)
