"""Hand-sliced files as the probes get them."""

from __future__ import annotations

import textwrap
from pathlib import Path

from torchlint.recording.messages import CallSite, Code, ProbedFinding, Request, Target
from torchlint.recording.probe_context import ProbeContext


def ask_about(
    folder: Path,
    text: str,
    code: str,
    *,
    variant: str = "default",
    calls: dict[str, tuple[CallSite, ...]] | None = None,
    search_paths: tuple[Path, ...] = (),
    seconds: float = 600.0,
) -> tuple[ProbeContext, ProbedFinding]:
    """A context for one text; the flagged line is the one that ends with `# here`."""
    text = textwrap.dedent(text).lstrip("\n")
    line = next(number for number, words in enumerate(text.splitlines(), 1) if words.endswith("# here"))
    path = folder / "program.py"
    path.write_text(text)
    finding = ProbedFinding(index=0, code=code, line=line, end_line=line, probes=("config",), variant=variant)
    request = Request(
        code=Code(
            path=str(path), module="program", text=text, search_paths=tuple(str(place) for place in search_paths)
        ),
        target=Target(kind="statement", name="program", calls=calls or {}),
        findings=(finding,),
        seconds=seconds,
    )
    return ProbeContext(request=request, device="cpu"), finding
