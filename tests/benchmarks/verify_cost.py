"""What `torchlint verify` costs on many small targets: `python tests/benchmarks/verify_cost.py`.

It writes a project of small modules under several rules, runs the real command on it, and prints how long the whole
took, against an import of torch in the same run; what each target took; and how often torch was imported. Nothing here
passes or fails.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from torchlint.engine.run import RunOptions
from torchlint.verify.options import VerifyOptions
from torchlint.verify.places import parse_place
from torchlint.verify.run import plan, verify

RESAMPLED = """\
class Target{number}(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Conv2d(3, 4, 3)

    def forward(self, image):
        return F.interpolate(self.body(image), scale_factor=2.0, mode="bilinear")
"""
PADDED = """\
class Target{number}(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.lift = nn.Conv2d(3, channels, 1)
        self.body = nn.Conv2d(channels, channels, 3, padding=1, padding_mode="replicate")

    def forward(self, image):
        return self.body(self.lift(image))
"""
SUMMED = """\
class Target{number}(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(16, 8)

    def forward(self, values, index):
        return torch.zeros(32, 8).index_add(0, index, self.body(values))
"""
BIASED = """\
class Target{number}(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU())

    def forward(self, image):
        return self.body(image)
"""
POOLED = """\
class Target{number}(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Conv2d(3, 8, 3)
        self.pool = nn.AdaptiveAvgPool2d(5)

    def forward(self, image):
        return self.pool(self.body(image))
"""
KINDS = (RESAMPLED, PADDED, SUMMED, BIASED, POOLED)
NAMES = ("resampled", "padded", "summed by index", "bias before BatchNorm", "pooled")
HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=int, default=50, help="[default: %(default)s]")
    parser.add_argument("--jobs", type=int, default=2, help="[default: %(default)s]")
    parser.add_argument("--rounds", type=int, default=1, help="[default: %(default)s]")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), options.targets)
        for _ in range(options.rounds):
            _measure(Path(folder), options.jobs)
    return 0


def _write(project: Path, targets: int) -> None:
    for number in range(targets):
        text = HEAD + KINDS[number % len(KINDS)].format(number=number)
        (project / f"target_{number:02}.py").write_text(text, encoding="utf-8")


def _measure(project: Path, jobs: int) -> None:
    """One round: an import of torch, the plan alone, and the whole."""
    command = [sys.executable, "-m", "torchlint", "verify", str(project), "--isolated", "--device", "cpu"]
    imported = _clock([sys.executable, "-c", "import torch"])
    planned = _clock([*command, "--dry-run"])
    output = project / "found.json"
    before, start = os.times(), time.perf_counter()
    with subprocess.Popen(
        [*command, "--jobs", str(jobs), "--output-format", "json", "--output", str(output)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        servers: set[int] = set()
        watch = threading.Thread(target=_watch, args=(process, servers))
        watch.start()
        process.wait()
        watch.join()
    clock, after = time.perf_counter() - start, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    _show(json.loads(output.read_text(encoding="utf-8"))["results"], clock, (imported, planned, cpu), len(servers))
    output.unlink()
    _show_targets(project, jobs, imported)


def _watch(process: subprocess.Popen[bytes], servers: set[int]) -> None:
    """The children of the command that import torch: its servers, or one for each target where it cannot fork."""
    tasks = Path(f"/proc/{process.pid}/task")
    while process.poll() is None:
        for task in tasks.glob("*/children"):
            try:
                children = {int(child) for child in task.read_text(encoding="ascii").split()}
                servers.update(child for child in children if _is_server(child))
            except OSError:
                continue
        time.sleep(0.05)


def _is_server(pid: int) -> bool:
    return b"torchlint.recording" in Path(f"/proc/{pid}/cmdline").read_bytes()


def _show(results: list[dict[str, str]], clock: float, parts: tuple[float, float, float], servers: int) -> None:
    imported, planned, cpu = parts
    print(f"{len(results)} findings, torch imported by {servers} process(es)")
    print(f"{'':<32} {'s':>8} {'/ import torch':>15}")
    rows = {"import torch": imported, "verify --dry-run": planned, "verify": clock, "verify, its own CPU": cpu}
    for name, value in rows.items():
        print(f"{name:<32} {value:>8.2f} {value / imported:>15.2f}")
    for code in sorted({row["code"] for row in results}):
        verdicts = [row["verdict"] for row in results if row["code"] == code]
        print(f"  {code}: {', '.join(f'{verdicts.count(each)} {each}' for each in sorted(set(verdicts)))}")


def _show_targets(project: Path, jobs: int, imported: float) -> None:
    """The same in this process, which is told what each target took."""
    options = VerifyOptions(check=RunOptions(isolated=True), devices=("cpu",), jobs=jobs)
    start = time.perf_counter()
    planned = plan([parse_place(str(project))], options)
    checked = time.perf_counter()
    found = verify(planned, options)
    done = time.perf_counter()
    seconds = sorted(run.seconds for run in found.runs) or [0.0]
    rows = {
        "check and plan": checked - start,
        "run": done - checked,
        "targets, one after another": sum(seconds),
        "a target, median": statistics.median(seconds),
        "the slowest target": seconds[-1],
    }
    for name, value in rows.items():
        print(f"{name:<32} {value:>8.2f} {value / imported:>15.2f}")
    for kind in range(len(KINDS)):
        own = [run.seconds for run in found.runs if int(run.name.removeprefix("Target")) % len(KINDS) == kind]
        print(f"  {NAMES[kind]:<30} {f'{statistics.median(own):.2f}' if own else 'nothing found':>8}")


def _clock(command: Sequence[str]) -> float:
    """The second of two runs: the first fills the file system's cache."""
    for _ in range(2):
        start = time.perf_counter()
        subprocess.run(
            command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        took = time.perf_counter() - start
    return took


if __name__ == "__main__":
    sys.exit(main())
