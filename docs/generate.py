"""Writes what the pages say of rules, operators, libraries and settings: `python docs/generate.py [--check]`.

`docs/rules/`, `docs/operators/` and `libraries.md` come from the catalogue, with the navigation of the site, and the
table of keys in `configuration.md` from `torchlint/config/options.py`.

With `--check` nothing is written; the exit code is 1 when a page is stale, missing or left over.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from docs.library_page import library_page  # noqa: E402
from docs.navigation import GROUPS, with_navigation  # noqa: E402
from docs.operator_pages import FILTER, operator_pages  # noqa: E402
from docs.tables import section, table  # noqa: E402
from torchlint.catalogue import Catalogue, Rule, load_catalogue  # noqa: E402
from torchlint.catalogue.registry import Operator  # noqa: E402
from torchlint.catalogue.rules import Measured  # noqa: E402
from torchlint.catalogue.wording import DEVICE_NAMES, UNDER_MODE, releases_of  # noqa: E402
from torchlint.config.schema import keys  # noqa: E402

DOCS = ROOT / "docs"
CONFIGURATION = DOCS / "configuration.md"
"""Written by hand, but for its table of keys."""
SITE = ROOT / "mkdocs.yml"
"""Written by hand, but for its navigation."""
NOTE = "<!-- Written by docs/generate.py from rules/. Edit the TOML, then run it again. -->"

_ENOUGH = 20
"""Findings read, below which a percentage says nothing."""
SAFETY = {
    "none": "There is no automatic fix.",
    "safe": "Safe: the fix cannot make the program fail, and results change only as the finding says.",
    "unsafe": "Unsafe: results, memory, speed or checkpoints may also change, or the program may raise.",
    "show": "Shown only, as a hint.",
}


def main(arguments: Sequence[str]) -> int:
    pages = render(load_catalogue())
    if "--check" in arguments:
        stale = stale_pages(pages)
        for name in stale:
            print(f"docs/{name} is stale: run python docs/generate.py", file=sys.stderr)
        return 1 if stale else 0
    write(pages)
    return 0


def render(catalogue: Catalogue) -> dict[str, str]:
    """Every page by its path below `docs/`."""
    pages = {
        **operator_pages(catalogue, NOTE),
        "libraries.md": library_page(catalogue, NOTE),
        "configuration.md": with_keys(CONFIGURATION.read_text(encoding="utf-8")),
        "../mkdocs.yml": with_navigation(SITE.read_text(encoding="utf-8"), catalogue),
        "rules/index.md": index(catalogue),
    }
    for rule in catalogue.rules.values():
        if rule.status != "planned":
            operators = [operator for operator in catalogue.operators if operator.rule == rule.code]
            pages[f"rules/{page_name(rule)}"] = page(rule, operators)
    return pages


def stale_pages(pages: dict[str, str]) -> list[str]:
    """The names of pages on disk that differ from what would be written, are missing, or should not be there."""
    present = {below_docs(path): path.read_text(encoding="utf-8") for path in generated()}
    return sorted(name for name in present.keys() | pages.keys() if present.get(name) != pages.get(name))


def write(pages: dict[str, str]) -> None:
    for path in generated():
        if below_docs(path) not in pages:
            path.unlink()
    for name, text in pages.items():
        path = DOCS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


def below_docs(path: Path) -> str:
    """`rules/index.md`; the settings of the site lie beside the folder, as `../mkdocs.yml`."""
    return Path(os.path.relpath(path, DOCS)).as_posix()


def generated() -> list[Path]:
    """The pages on disk that this program writes."""
    others = (DOCS / "libraries.md", DOCS / "configuration.md", DOCS.parent / "mkdocs.yml")
    folders = (DOCS / "rules", DOCS / "operators")
    return [path for path in (*(page for folder in folders for page in folder.glob("*.md")), *others) if path.is_file()]


def with_keys(text: str) -> str:
    """The page on configuration, with the table of keys that its section holds."""
    rows = [(f"`{key}`", values, default, meaning) for key, values, default, meaning in keys()]
    before, heading, rest = text.partition("## Keys\n")
    behind = itertools.dropwhile(lambda line: line.startswith("|"), rest.lstrip("\n").splitlines(keepends=True))
    return f"{before}{heading}\n{table(('key', 'values', 'default', 'meaning'), rows)}\n{''.join(behind)}"


def page_name(rule: Rule) -> str:
    return f"{rule.code}-{rule.name}.md"


def page(rule: Rule, operators: Sequence[Operator]) -> str:
    sections = [
        f"# {rule.code} {rule.name}",
        NOTE,
        identity(rule),
        section("What it finds", rule.summary),
        section("Why it matters", rule.why),
        section("What to do", rule.what_to_do),
        section("Example", code(rule.bad)),
        section("Use instead", code(rule.good)),
        section("Limits", rule.limits),
        section("How often it is right", measured(rule.measured)) if rule.measured else "",
        section("Fix safety", fix(rule)),
        section("Operators", operator_tables(operators)) if operators else "",
        section("References", "\n".join(f"- <{url}>" for url in rule.references)) if rule.references else "",
    ]
    return "\n\n".join(filter(None, sections)) + "\n"


def identity(rule: Rule) -> str:
    selected = "on by default" if rule.default else "off by default"
    return table(
        ("code", "name", "severity", "default", "since"),
        [(rule.code, rule.name, rule.severity, selected, rule.since)],
    )


def measured(figures: Measured) -> str:
    """What was read on real code, and how much of it was right."""
    packages = f"{figures.packages} packages, among them {', '.join(figures.among)}"
    if figures.found == 0:
        return f"On {packages}, nothing was found ({figures.on}). {figures.remark}"
    share = f" ({figures.right / figures.read:.0%})" if figures.read >= _ENOUGH else ", too few for a percentage"
    read = "all of them" if figures.read == figures.found else f"{figures.read}, chosen at random,"
    reported = "findings that were not counted" if figures.found is None else counted(figures.found)
    return (
        f"On {packages}, it reported {reported}. We read {read} in the source: {figures.right} of "
        f"{figures.read} were right{share}, on {figures.on}. {figures.remark}"
    )


def counted(findings: int) -> str:
    return "one finding" if findings == 1 else f"{findings:,} findings"


def fix(rule: Rule) -> str:
    return " ".join(filter(None, (SAFETY[rule.fix.safety], rule.fix.text)))


def operator_tables(operators: Sequence[Operator]) -> str:
    sources = list(dict.fromkeys(source for operator in operators for source in operator.sources))
    rows = [
        (
            operator.title,
            DEVICE_NAMES[row.device],
            releases_of(row, operator),
            UNDER_MODE[row.under_mode],
            row.confidence,
            ", ".join(str(sources.index(source) + 1) for source in operator.sources),
        )
        for operator in operators
        for row in operator.row
    ]
    parts = [
        "What each operator does, by device and torch release, when the determinism mode is on.",
        table(("operator", "device", "torch", "with the mode on", "confidence", "source"), rows),
        "Sources:\n\n" + "\n".join(f"{number}. {source}" for number, source in enumerate(sources, start=1)),
    ]
    return "\n\n".join([*parts, *operator_notes(operators)])


def operator_notes(operators: Iterable[Operator]) -> list[str]:
    notes: dict[str, list[str]] = {}
    for operator in operators:
        for text in (operator.notes, operator.doc_mismatch):
            if text:
                notes.setdefault(text, []).append(operator.title)
    if not notes:
        return []
    return ["Notes:\n\n" + "\n".join(f"- {', '.join(titles)}: {text}" for text, titles in notes.items())]


def index(catalogue: Catalogue) -> str:
    about = "A rule name reads as what you would allow: `TL401` allows an unsorted listing."
    parts = ["# Rules", NOTE, about, FILTER.format(words="Filter: seed, order, TL3, error, off …")]
    for prefix, title in GROUPS.items():
        rows = [index_row(rule) for rule in catalogue.rules.values() if rule.code.startswith(prefix)]
        parts += [f"## {title}", table(("code", "name", "what", "severity", "default"), rows)]
    return "\n\n".join(parts) + "\n"


def index_row(rule: Rule) -> tuple[str, ...]:
    if rule.status == "planned":
        return rule.code, rule.name, rule.summary, rule.severity, "planned"
    link = f"[{rule.code}]({page_name(rule)})"
    return link, rule.name, rule.summary, rule.severity, "on" if rule.default else "off"


def code(text: str) -> str:
    return f"```python\n{text.strip()}\n```"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
