"""Fixes texts in memory, as `torchlint check --fix` would fix files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from torchlint import api
from torchlint.config import Overrides
from torchlint.diagnostics import Confidence, Diagnostic, Report
from torchlint.engine.fixing import FixChoice, Fixed


def fix(texts: Mapping[str, bytes], *rules: str, unsafe: bool = False) -> Fixed:
    """What fixes make of files that are nowhere on disk; `rules` run, all of them where none is named."""
    contents = {Path(name): data for name, data in texts.items()}
    options = _options(rules)

    def check(given: Mapping[Path, bytes]) -> Report:
        return api.check_paths((), options, given)

    return api.fix_report(check(contents), check, FixChoice(fix=True, unsafe=unsafe), options, contents)


def fixed_bytes(data: bytes, *rules: str, name: str = "train.py", unsafe: bool = False) -> bytes:
    """What becomes of one file."""
    files = fix({name: data}, *rules, unsafe=unsafe).files
    return files[0].after if files else data


def found(data: bytes, *rules: str, name: str = "train.py") -> tuple[Diagnostic, ...]:
    """What a check finds in one file, each finding with its fix."""
    contents = {Path(name): data}
    report = api.check_paths((), _options(rules), contents)
    return api.with_edits(report, _options(rules), contents).diagnostics


def _options(rules: tuple[str, ...]) -> api.CheckOptions:
    overrides = Overrides(select=rules or ("ALL",), torch="2.8", min_confidence=Confidence.LOW)
    return api.CheckOptions(overrides=overrides, isolated=True, jobs=1)
