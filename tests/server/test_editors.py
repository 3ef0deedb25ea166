"""The configurations of `docs/editors.md`, in the editors that are installed here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from tests.server.editor import BAD, PATIENCE, project

DOCUMENT = Path(__file__).parents[2] / "docs" / "editors.md"
NEOVIM = f"""
vim.cmd("filetype on")
vim.cmd("edit net.py")
local function found(count)
  return function() return #vim.diagnostic.get(0) == count end
end
vim.wait({PATIENCE * 1000}, found(1), 100)
for _, one in ipairs(vim.diagnostic.get(0)) do
  io.stdout:write("found ", one.code, " in line ", one.lnum + 1, "\\n")
end
vim.api.nvim_buf_set_lines(0, 1, 2, false, {{ "x = 1" }})
vim.wait({PATIENCE * 1000}, found(0), 100)
io.stdout:write("left after an edit: ", #vim.diagnostic.get(0), "\\n")
vim.cmd("qall!")
"""
EMACS = f"""
(find-file "net.py")
(call-interactively #'eglot)
(with-timeout ({PATIENCE})
  (while (not (flymake-diagnostics))
    (accept-process-output nil 0.2)
    (flymake-start)))
(dolist (found (flymake-diagnostics))
  (princ (format "found %s in line %d\\n"
                 (flymake-diagnostic-text found) (line-number-at-pos (flymake-diagnostic-beg found)))))
(kill-emacs 0)
"""


def configuration(editor: str) -> str:
    found = re.search(rf"<!-- tried: {editor} -->\n```\w+\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def said_by(folder: Path, *command: str) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}
    result = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=3 * PATIENCE
    )
    return result.stdout + result.stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvim") is None, reason="needs Neovim")
def test_neovim(tmp_path: Path) -> None:
    folder = project(tmp_path, net="import torch\n" + BAD)
    (folder / "try.lua").write_text(configuration("neovim") + NEOVIM, encoding="utf-8")
    said = said_by(folder, "nvim", "--headless", "-u", "NONE", "-c", "luafile try.lua")
    assert "found TL201 in line 2" in said
    assert "left after an edit: 0" in said


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("emacs") is None, reason="needs Emacs")
def test_emacs(tmp_path: Path) -> None:
    folder = project(tmp_path, net="import torch\n" + BAD)
    (folder / "try.el").write_text(configuration("emacs") + EMACS, encoding="utf-8")
    has_eglot = subprocess.run(["emacs", "--batch", "--eval", "(require 'eglot)"], capture_output=True, check=False)
    if has_eglot.returncode:
        pytest.skip("this Emacs has no eglot")
    said = said_by(folder, "emacs", "--batch", "-l", "try.el")
    assert re.search(r"found .*TL201.* in line 2", said)
