"""Pages: what the guide shows of `torchlint verify` is what it prints, and what it saw makes a page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.command import PATIENT, run_torchlint
from tests.documentation.pages import EXAMPLES, WITH_TORCH
from tests.harness.html_pages import read


@pytest.mark.torch
@pytest.mark.parametrize("page", WITH_TORCH, ids=[page.name for page in WITH_TORCH])
def test_examples_print_what_the_page_says(page: Path) -> None:
    pytest.importorskip("torch")
    text = page.read_text(encoding="utf-8")
    assert EXAMPLES.rendered(text) == text, "run python docs/examples.py"


@pytest.mark.torch
def test_a_real_run_makes_a_page(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "model.py").write_text(
        "import torch\n"
        "from torch import nn\n\n\n"
        "class Padded(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.conv = nn.Conv2d(3, 4, 3)\n"
        "        self.pad = nn.ReplicationPad2d(2)\n\n"
        "    def forward(self, x):\n"
        "        print('</pre><script>')\n"
        "        return self.pad(self.conv(x))\n"
    )
    done = run_torchlint("verify", *PATIENT, "model.py", "--runs", "2", "--output", "page.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    reader = read(text)
    assert "script" not in reader.seen
    assert {link.removeprefix("#") for link in reader.links} == set(reader.ids)
    assert '<section class="section finding amber" id="f1">' in text
    assert re.search(r'<span class="number">9</span><code>.*ReplicationPad2d.*<span class="tag">constructed here', text)
    assert re.search(r'<span class="number">13</span><code>.*<span class="tag">called here', text)
    assert "&lt;/pre&gt;&lt;script&gt;" in text
