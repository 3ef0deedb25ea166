"""Runs the examples of the README and the guide and writes what they print: `python docs/examples.py [--check]`.

A fenced block under `<!-- file: NAME -->` is written to a file; in a `console` block each `$ torchlint ...` line is
run where those files lie, and what it prints stands below it. A page begins with an empty folder, and
`<!-- new folder -->` empties it again; `<!-- fixture: PATH -->` puts the files of a folder of `fixtures/` there,
without their marks. With `--check` nothing is written; the exit code is 1 when an output is stale.

What `torchlint verify` and `diverge` print has numbers of the processor that they ran on. An output that differs from
the page in nothing but measured numbers, counts of runs, checksums and the words about the machine stays as it stands.
Where there is no torch, it stays in any case. Every other command runs as where no torch is installed, whatever there
is here.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

_STEP = re.compile(
    r"^<!-- new folder -->$|^<!-- fixture: (?P<fixture>\S+) -->$"
    r"|(?:^<!-- file: (?P<file>\S+) -->\n)?^```(?P<language>[\w-]*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_PROMPT = "$ "
_WITHOUT_TORCH = "import sys; sys.prefix = 'nowhere'; from torchlint.cli import main; sys.exit(main())"
"""The command, where the folder of the environment holds no metadata of a torch."""
_MARK = re.compile(r"  # (?:todo-)?(?:expect|ok): .*")
_PROGRESS = re.compile(r"^after \d+ s: .*\n", re.MULTILINE)
"""What a slow machine tells every ten seconds."""
_MEASURED = re.compile(
    r"(?<=changed by )[\d.]+(?:e[+-]?\d+)?"
    r"|\d+\.\d+(?:e[+-]?\d+)?"  # differences, seconds
    r"|\d+e[+-]?\d+"
    r"|\b[0-9a-f]{8}\b"  # checksums
    r"|\d+ runs at \d+ sizes"  # as many as the time allows
    r"|(?<=^executing your code: ).*$"
    r"|^(?:torch \d|CPU capability |environment: |protected by: ).*$",
    re.MULTILINE,
)
_DRAWN = re.compile(r"\d[\d,.]*(?:e[+-]?\d+)?(?: digits?\b)?")
"""In what `torchlint diverge` prints: its examples draw other numbers in each run (`1 digit`, `2 digits`)."""
_WITH_TORCH = ("verify", "diverge", "record")


def main(arguments: Sequence[str]) -> int:
    stale = False
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        fresh = rendered(text)
        if fresh == text:
            continue
        if "--check" in arguments:
            stale = True
            print(f"{page.relative_to(ROOT)}: an example prints something else: run python docs/examples.py")
        else:
            page.write_text(fresh, encoding="utf-8", newline="\n")
    return 1 if stale else 0


def rendered(text: str) -> str:
    """The page with the output that its commands print today."""
    with tempfile.TemporaryDirectory() as name:
        base = Path(name).resolve()
        return "".join(_pieces(text, base))


def _pieces(text: str, base: Path) -> Iterator[str]:
    end, scenes = 0, 1
    folder = _scene(base, scenes)
    for step in _STEP.finditer(text):
        yield text[end : step.start()]
        end = step.end()
        if step["fixture"]:
            _copy(ROOT / "fixtures" / step["fixture"], folder)
        elif step["body"] is None:
            scenes += 1
            folder = _scene(base, scenes)
        elif step["file"]:
            path = folder / step["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step["body"], encoding="utf-8")
        elif step["language"] == "console":
            yield f"```console\n{_transcript(step['body'], folder)}```"
            continue
        yield step[0]
    yield text[end:]


def _scene(base: Path, number: int) -> Path:
    folder = base / f"scene{number}"
    folder.mkdir()
    (folder / ".git").mkdir()  # the root of a project, whatever lies above
    return folder


def _copy(fixture: Path, folder: Path) -> None:
    for path in fixture.iterdir():
        if path.is_file():
            (folder / path.name).write_text(_MARK.sub("", path.read_text(encoding="utf-8")), encoding="utf-8")


def _transcript(body: str, folder: Path) -> str:
    return "".join(
        f"{command}\n{_fresh(command.removeprefix(_PROMPT), stands, folder)}" for command, stands in _shown(body)
    )


def _shown(body: str) -> Iterator[tuple[str, str]]:
    """Each command with the output that stands below it."""
    for part in re.split(rf"^(?={re.escape(_PROMPT)})", body, flags=re.MULTILINE):
        command, _, output = part.partition("\n")
        if command.startswith(_PROMPT):
            yield command, output


def _fresh(command: str, stands: str, folder: Path) -> str:
    if _subcommand(command) not in _WITH_TORCH:
        return _output(command, folder)
    if importlib.util.find_spec("torch") is None:
        return stands
    printed = _output(command, folder)
    measured = _DRAWN if _subcommand(command) == "diverge" else _MEASURED
    return stands if measured.sub("#", stands) == measured.sub("#", printed) else printed


def _subcommand(command: str) -> str:
    return command.split()[1]


def _output(command: str, folder: Path) -> str:
    program, *arguments = shlex.split(command)
    if program != "torchlint":
        raise ValueError(f"`{command}`: only torchlint runs in examples")
    start = ("-m", "torchlint") if arguments[0] in _WITH_TORCH else ("-c", _WITHOUT_TORCH)
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "SYSTEMROOT", "LANG", "LC_ALL")}
    done = subprocess.run(
        [sys.executable, *start, *arguments],
        cwd=folder,
        env={
            **kept,
            "PATH": _own_first(kept.get("PATH", "")),
            "PYTHONPATH": str(ROOT),
            "HOME": str(folder.parent),
            "NO_COLOR": "1",
            "COLUMNS": "100",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return _PROGRESS.sub("", done.stdout.replace(str(folder), "/project"))


def _own_first(path: str) -> str:
    """A search path on which `python` is this one."""
    return os.pathsep.join([str(Path(sys.executable).parent), path])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
