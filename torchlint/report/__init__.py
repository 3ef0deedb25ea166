"""A `Report` as lines of text: plain (`text`), explained (`full`), for machines (`json`), counted (`statistics`)."""

from torchlint.report.cures import closing_line
from torchlint.report.full import full_lines
from torchlint.report.json_array import json_lines
from torchlint.report.statistics import statistics_json_lines, statistics_lines
from torchlint.report.text import text_lines

__all__ = [
    "closing_line",
    "full_lines",
    "json_lines",
    "statistics_json_lines",
    "statistics_lines",
    "text_lines",
]
