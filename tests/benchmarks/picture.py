"""The figures as a picture: a bar for each, an SVG file without a library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

_ROW, _LEFT, _WIDTH, _RIGHT = 24, 230, 420, 90
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#24292f}.own{fill:#8250df}.other{fill:#afb8c1}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.other{fill:#57606a}}"
)


def svg(title: str, bars: Sequence[tuple[str, float, bool]]) -> str:
    """Of each bar: its name, its figure, and whether it is torchlint's. Lengths are logarithmic: figures differ widely.

    >>> svg("kornia", [("ruff", 1.0, False), ("torchlint", 5.0, True)]).count("<rect")
    2
    """
    figures = [value for _, value, _ in bars]
    low, high = math.floor(math.log10(min(figures))), math.log10(max(figures))
    height = _ROW * (len(bars) + 1) + 12
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDTH + _RIGHT}" height="{height}" role="img">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style>",
        f'<text x="0" y="{_ROW - 8}" font-weight="600">{escape(title)}</text>',
    ]
    for number, (name, value, is_own) in enumerate(bars, 1):
        top, length = _ROW * number + 4, _WIDTH * (math.log10(value) - low) / max(high - low, 1)
        kind = "own" if is_own else "other"
        lines += [
            f'<text x="{_LEFT - 8}" y="{top + 14}" text-anchor="end">{escape(name)}</text>',
            f'<rect class="{kind}" x="{_LEFT}" y="{top}" width="{length:.0f}" height="18" rx="2"/>',
            f'<text x="{_LEFT + length + 6:.0f}" y="{top + 14}">{value:.2f}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])
