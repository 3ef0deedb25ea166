"""What must hold of any text: no check breaks, results come back from the cache, and code is quoted as it stands."""

from __future__ import annotations

import ast
import random
from pathlib import Path

from torchlint.catalogue import load_catalogue
from torchlint.checks.framework.visit import Visit
from torchlint.config import Overrides, Settings, load_settings
from torchlint.encoding import decoded, encoded
from torchlint.engine.analysis import FileResult, analysis_context
from torchlint.engine.project_context import Job
from torchlint.engine.projects import Execution, ProjectRun
from torchlint.engine.workers import with_large_stack
from torchlint.errors import UnreadableSource
from torchlint.facts.file import FileFacts
from torchlint.lossless.reader import Lossless

_FOLDER = Path("/nowhere")
_QUOTED = 5


class Wrong(Exception):  # noqa: N818 - what a text showed
    """Something does not hold."""


def check(text: str, path: str = "program.py") -> None:
    """Raises Wrong, or whatever broke, for a text of which something does not hold."""
    with_large_stack(lambda: _check(text, path))


def _check(text: str, path: str) -> None:
    settings = load_settings(_FOLDER, Overrides(select=("ALL",), isolated_facts=True), isolated=True)
    contents = {_FOLDER / path: text.encode(errors="surrogatepass")}
    run = ProjectRun(
        settings, load_catalogue(), [_FOLDER / path], contents, execution=Execution(jobs=1), alone_in=_FOLDER
    )
    results = run.results(run.files)
    report = run.judged(results, run.project(results))
    if report.internal_errors:
        raise Wrong(str(report.internal_errors))
    for result in results:
        if as_it_comes_back(result, settings) not in (result, None):
            raise Wrong("the cache gives something else back")
        facts = run.project().load_facts(result.path)
        if facts is not None:
            _quoted(facts, random.Random(len(text)))  # noqa: S311 - as in the mutations
    if run.context.work(Job(path)).drafts != results[0].drafts:
        raise Wrong("a second look finds something else")


def as_it_comes_back(result: FileResult, settings: Settings) -> FileResult | None:
    """A result out of a cache, when all extracts of its summary have been read; None where none takes it."""
    kept = decoded(encoded(result), FileResult)
    if kept is not None and kept.summary is not None:
        for extract in analysis_context(load_catalogue(), settings).extracts:
            extract.of(kept.summary)
    return kept


def _quoted(facts: FileFacts, chance: random.Random) -> None:
    """What is cut out of the file is what LibCST, which reads the statement alone, gives."""
    visit = Visit(facts, load_catalogue(), frozenset())
    lossless = Lossless(facts)
    sites = list(facts.symbols.calls)
    for site in chance.sample(sites, min(_QUOTED, len(sites))):
        cut = visit.cut(site.node)
        try:
            piece = lossless.code(site.node, site.statement)
        except UnreadableSource:
            continue
        if cut is not None and _tree(cut) != _tree(piece):
            raise Wrong(f"quoted as {cut!r} and as {piece!r}")


def _tree(code: str) -> str:
    """An expression in words, whatever lines it stands on."""
    return ast.dump(ast.parse(f"({code}\n)"))
