"""torch can be installed without NumPy: probes do not ask for it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("torch")

pytestmark = pytest.mark.torch

PROGRAM = """
import sys
import warnings

warnings.simplefilter("ignore")
sys.modules["numpy"] = None
import msgspec

from torchlint.recording import entry
from torchlint.recording.messages import Code, Request, ProbedFinding, Target

path = sys.argv[1]
text = open(path, encoding="utf-8").read()
line = 1 + text[: text.index("nn.Conv2d")].count("\\n")
findings = tuple(
    ProbedFinding(index=index, code=code, line=line, end_line=line, probes=(probe,))
    for index, (code, probe) in enumerate(
        [("TL601", "algebra"), ("", "repeat"), ("", "devices"), ("", "shapes"), ("TL118", "memory"), ("", "strict")]
    )
)
target = Target(kind="module", name="Net")
request = Request(code=Code(path=path, module="net", text=text), target=target, findings=findings, runs=3)
entry.run(msgspec.json.encode(request), lambda message: print(message.decode()))
"""

NET = """
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, x):
        return self.norm(self.conv(x))
"""


def test_probes_run_where_numpy_is_missing(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), str(tmp_path / "net.py")],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert '"verdict":"CONFIRMED"' in done.stdout
    assert "umpy" not in done.stdout
    assert "broke" not in done.stdout
