"""What single rules ask of every file."""

from __future__ import annotations

from typing import Any

import pytest

from tests.facts.reading import facts_of_program
from torchlint.catalogue import load_catalogue
from torchlint.checks.framework.registration import Check, ProgramCheck, all_checks, all_program_checks
from torchlint.encoding import decoded, encoded
from torchlint.facts.environment import ProcessStart, process_starts
from torchlint.facts.summarising import summarise
from torchlint.facts.summary import Extract, FileSummary
from torchlint.facts.watch import Watch

STARTS = Extract("starts", tuple[ProcessStart, ...], lambda *asked: tuple(process_starts(*asked)))
CODE = "import subprocess\n\ndef run():\n    subprocess.run(['python', 'a.py'])\n"


def summary_of(*asked: Extract[Any]) -> FileSummary:
    return summarise(facts_of_program(CODE), Watch.of(load_catalogue()), (), asked, is_notebook=False)


def test_what_is_asked_for_is_read_also_after_it_was_kept() -> None:
    summary = summary_of(STARTS)
    kept = decoded(encoded(summary), FileSummary)
    assert kept is not None
    for one in (summary, kept, kept):
        assert STARTS.of(one) == (ProcessStart("run", 4),)


def test_what_nobody_asked_for_cannot_be_read() -> None:
    with pytest.raises(LookupError, match="no selected rule asks for starts"):
        STARTS.of(summary_of())


def test_no_two_extracts_have_one_name() -> None:
    checks: list[Check | ProgramCheck] = [*all_checks(), *all_program_checks()]
    asked = {extract for check in checks for extract in check.asks}
    assert len({extract.name for extract in asked}) == len(asked) > 5
