"""What user code tries against the user's files, processes and network, by means that Python itself reports."""

from __future__ import annotations

IMPORTS = "import ctypes, multiprocessing, os, pathlib, shutil, socket, subprocess, sys, torch\n"
WRITES = [
    "open(DECOY + '/model.py', 'w')",
    "open(DECOY + '/model.py', 'r+')",
    "open(DECOY + '/new.txt', 'a')",
    "os.remove(DECOY + '/model.py')",
    "os.rename(DECOY + '/model.py', DECOY + '/other.py')",
    "os.rename(DECOY + '/model.py', 'taken.py')",
    "open('own', 'w'); os.rename('own', DECOY + '/model.py')",
    "os.mkdir(DECOY + '/folder')",
    "os.rmdir(DECOY + '/sub')",
    "os.symlink('x', DECOY + '/link')",
    "os.link(DECOY + '/model.py', 'link'); open('link', 'w')",
    "os.truncate(DECOY + '/model.py', 0)",
    "shutil.rmtree(DECOY)",
    "shutil.copytree(DECOY, DECOY + '/copy')",
    "pathlib.Path(DECOY, 'model.py').write_text('')",
    "pathlib.Path(DECOY, 'model.py').unlink()",
    "os.symlink(DECOY + '/model.py', 'link'); open('link', 'w')",
    "os.symlink(DECOY, 'link'); os.remove('link/model.py')",
    "fd = os.open(DECOY, os.O_RDONLY); os.remove('model.py', dir_fd=fd)",
    "os.chdir(DECOY); open('model.py', 'w')",
    "torch.save(torch.ones(3), DECOY + '/weights.pt')",
]
WITHOUT_EVENT = "os.mkfifo(DECOY + '/fifo')"
"""Python has no audit event for it: only the kernel refuses."""
COMMANDS = ["os.system('true')", "subprocess.run(['true'])", "os.execv('/bin/true', ['true'])"]
SIGNALS = ["os.kill(os.getppid(), 9)", "os.kill(-1, 9)", "os.kill(PARENT, 9)"]
