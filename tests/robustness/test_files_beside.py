"""Files that are read only because the project of a checked file holds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint import api
from torchlint.engine import process_state
from torchlint.engine.analysis import AnalysisContext, summary_of
from torchlint.facts.file import FileFacts
from torchlint.facts.summary import FileSummary


def test_a_file_beside_that_breaks_the_engine_takes_no_finding_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaking(facts: FileFacts, tools: AnalysisContext, *, is_notebook: bool) -> FileSummary:
        if facts.path == "beside.py":
            raise KeyError("made up")
        return summary_of(facts, tools, is_notebook=is_notebook)

    monkeypatch.setattr(process_state, "summary_of", breaking)
    # A torch that asks for CUBLAS_WORKSPACE_CONFIG, whichever is installed: else nothing needs the file beside.
    (tmp_path / "torchlint.toml").write_text('torch = "2.6"\n')
    (tmp_path / "beside.py").write_text("import os\n")
    train = tmp_path / "train.py"
    train.write_text("import torch\n\ntorch.use_deterministic_algorithms(True)\ntorch.manual_seed = 1\n")
    report = api.check_paths([train], api.CheckOptions(jobs=1))
    assert "TL201" in {diagnostic.code for diagnostic in report.diagnostics}
    assert [(error.check, Path(error.path).name) for error in report.internal_errors] == [("engine", "beside.py")]
