"""What judges ask of a file that is too large for the question: it answers nothing, and nothing else is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import CheckOptions, audit_paths, check_paths
from torchlint.facts import file

DRAWING = "import numpy\n\n\ndef f0(x):\n    return numpy.random.permutation(9)\n\n\n"
SAVING = "import numpy, torch\nfrom rows import f149\n\nif __name__ == '__main__':\n    numpy.save('a.npy', f149(1))\n"


@pytest.mark.parametrize("most", [100_000, 1500, 400])
def test_a_long_chain_of_draws_behind_a_saved_result(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "MOST_WORK", most)
    (tmp_path / ".git").mkdir()
    chain = (f"def f{n}(x):\n    y = numpy.random.rand({n}) + f{n - 1}(x)\n    return y\n" for n in range(1, 150))
    (tmp_path / "rows.py").write_text(DRAWING + "\n\n".join(chain))
    (tmp_path / "main.py").write_text(SAVING)
    assert not check_paths([tmp_path], options=CheckOptions(jobs=1)).internal_errors
    audit_paths([str(tmp_path)])
