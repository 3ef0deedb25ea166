"""The environment, folders and standard streams of a process that runs user code."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

_PASSED_ON = (
    "CONDA_PREFIX",
    "CUDA_DEVICE_ORDER",
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES",
    "DYLD_LIBRARY_PATH",
    "HIP_VISIBLE_DEVICES",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LD_LIBRARY_PATH",
    "NVIDIA_VISIBLE_DEVICES",
    "PATH",
    "PATHEXT",
    "ROCR_VISIBLE_DEVICES",
    "ROCM_PATH",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TZ",
    "VIRTUAL_ENV",
    "WINDIR",
)
"""What it takes to find libraries and devices. The rest of the user's environment stays behind: it holds secrets."""

_FIXED = {
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_OFFLINE": "1",
    "LOGNAME": "torchlint",
    "MPLBACKEND": "Agg",
    # numpy's OpenBLAS starts its threads when it is imported, and a process with threads must not fork.
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONIOENCODING": "utf-8:backslashreplace",
    "TRANSFORMERS_OFFLINE": "1",
    "USER": "torchlint",
    "USERNAME": "torchlint",
    "WANDB_MODE": "disabled",
}

_FOLDERS = {
    "APPDATA": "home",
    "HOME": "home",
    "LOCALAPPDATA": "home",
    "USERPROFILE": "home",
    "TMPDIR": "tmp",
    "TEMP": "tmp",
    "TMP": "tmp",
    "XDG_CACHE_HOME": "home/cache",
    "XDG_CONFIG_HOME": "home/config",
    "XDG_DATA_HOME": "home/data",
    "XDG_RUNTIME_DIR": "home/runtime",
    "XDG_STATE_HOME": "home/state",
    "CUDA_CACHE_PATH": "home/cuda",
    "HF_HOME": "home/huggingface",
    "MPLCONFIGDIR": "home/matplotlib",
    "NUMBA_CACHE_DIR": "home/numba",
    "TORCHINDUCTOR_CACHE_DIR": "home/inductor",
    "TORCH_EXTENSIONS_DIR": "home/extensions",
    "TORCH_HOME": "home/torch",
    "TRITON_CACHE_DIR": "home/triton",
}


def starting_environment(own: Mapping[str, str], *, hash_seed: int = 0) -> dict[str, str]:
    """What an interpreter that will run user code is started with."""
    return {
        **{name: own[name] for name in _PASSED_ON if name in own},
        **_FIXED,
        "PYTHONHASHSEED": str(hash_seed),
    }


def settle(scratch: str) -> None:
    """Make the scratch folder this process's home, temporary and working folder."""
    for name, place in _FOLDERS.items():
        os.environ[name] = str(Path(scratch, *place.split("/")))
    tempfile.tempdir = None
    os.umask(0o077)
    os.chdir(Path(scratch) / "work")


def replace_streams(output: int) -> None:
    """Nothing to read on standard input; standard output and error both go to `output`."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(output, 1)
    os.dup2(output, 2)
    for stream in (sys.stdout, sys.stderr):
        # A crash must not take with it what was printed before.
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
