"""The site of docs/, built as it is published: links lead somewhere, and so does each address that a message prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

from torchlint.catalogue import load_catalogue, rules

DOCS = Path(__file__).parents[2] / "docs"
SETTINGS = DOCS.parent / "mkdocs.yml"
_TALLEST = 120_000
"""Bytes of the longest page that is read as text, which is scrolled through: tables of models aside."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(SETTINGS)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [*command, "--site-dir", str(target)], env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return target


class _Page(HTMLParser):
    """The addresses that a page leads to, what it loads, and the places in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.places.add(named.get("id") or "")
        if tag == "a" and named.get("href"):
            self.links.append(str(named["href"]))
        if tag in ("script", "img") and named.get("src"):
            self.loaded.append(str(named["src"]))
        if tag == "link" and "stylesheet" in (named.get("rel") or ""):
            self.loaded.append(str(named["href"]))


def pages(site: Path) -> dict[Path, _Page]:
    return {path: _Page(path.read_text(encoding="utf-8")) for path in site.rglob("index.html")}


def test_every_link_leads_to_a_page_and_a_place(site: Path) -> None:
    known = pages(site)
    assert len(known) > 80
    for path, page in known.items():
        for link in page.links:
            if re.match(r"https?:|mailto:", link):
                continue
            address, _, place = link.partition("#")
            target = (path.parent / address).resolve() if address else path
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), f"{path.relative_to(site)}: {link}"
            assert not place or target not in known or place in known[target].places, (
                f"{path.relative_to(site)}: {link}"
            )


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for path, page in pages(site).items():
        assert [one for one in page.loaded if re.match(r"(https?:)?//", one)] == [], path


def test_each_address_that_a_message_prints_is_a_page(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = "https://docs.example.org/"
    monkeypatch.setattr(rules, "PUBLISHED", base)
    printed = [rule.url for rule in load_catalogue().rules.values() if rule.status != "planned"]
    assert len(printed) > 50
    for url in printed:
        assert url.startswith(base)
        assert (site / url.removeprefix(base) / "index.html").is_file(), url


def test_every_rule_is_in_the_navigation() -> None:
    text = SETTINGS.read_text(encoding="utf-8")
    listed = re.findall(r": (rules/TL\d{3}[\w-]+\.md)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(f"rules/{path.name}" for path in (DOCS / "rules").glob("TL*.md"))
    assert yaml.safe_load(text)["nav"]


def test_no_page_of_operators_is_endless() -> None:
    for path in (DOCS / "operators").glob("*.md"):
        assert path.stat().st_size < _TALLEST, path.name
