"""JUnit XML, which most CI servers show: a failed test case a finding, a passed one a clean file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from torchlint.diagnostics import Diagnostic, Report
    from torchlint.report.context import Context

# What XML 1.0 allows no document to hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def lines(report: Report, context: Context) -> Iterator[str]:
    """Yield the document: one suite, with its cases in the order of the files."""
    suite = ET.Element("testsuite", name="torchlint")
    cases = defaultdict[str, list[ET.Element]](list)
    for diagnostic in report.diagnostics:
        cases[diagnostic.location.path].append(_failed(diagnostic, context))
    for path in report.files:
        cases.setdefault(path, [_case(path, "torchlint")])
    for path in sorted(cases):
        suite.extend(cases[path])
    for skipped in report.skipped:
        case = _case(skipped.path or "", "torchlint" if skipped.cell is None else f"cell {skipped.cell}")
        _because(case, "skipped", skipped.message)
        suite.append(case)
    for broken in report.internal_errors:
        case = _case(broken.path, broken.check)
        _because(case, "error", broken.message, type="internal error")
        suite.append(case)
    counts = {"failures": "failure", "skipped": "skipped", "errors": "error"}
    totals = {"tests": str(len(suite)), **{name: str(len(suite.findall(f"*/{tag}"))) for name, tag in counts.items()}}
    suite.attrib |= totals
    root = ET.Element("testsuites", {"name": "torchlint", **totals})
    root.append(suite)
    ET.indent(root)
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield from ET.tostring(root, encoding="unicode").split("\n")


def _failed(diagnostic: Diagnostic, context: Context) -> ET.Element:
    place = context.sources.in_file(diagnostic.location)
    case = _case(place.path, f"{diagnostic.code} {diagnostic.name} {place.line}:{place.column}", place.line)
    failure = _because(case, "failure", diagnostic.message, type=diagnostic.severity.label)
    failure.text = _clean(f"{diagnostic.location}: {diagnostic.code} {diagnostic.message}\n{diagnostic.advice}")
    return case


def _because(case: ET.Element, tag: str, reason: str, **attributes: str) -> ET.Element:
    """Some readers show the attribute and others (GitLab) the text."""
    element = ET.SubElement(case, tag, {"message": _clean(reason), **attributes})
    element.text = _clean(reason)
    return element


def _case(path: str, name: str, line: int | None = None) -> ET.Element:
    """A test case. `file` and `line` are no part of the oldest schemas; GitLab and CircleCI read them."""
    place = {"file": _clean(path)} if line is None else {"file": _clean(path), "line": str(line)}
    return ET.Element("testcase", {"classname": _clean(path), "name": _clean(name), "time": "0", **place})


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
