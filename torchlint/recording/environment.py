"""Where a verdict is reached: bits depend on all of it."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable
from pathlib import Path

import torch

from torchlint.recording.messages import Environment

_VARIABLES = (
    "CUBLAS_WORKSPACE_CONFIG",
    "PYTHONHASHSEED",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "ATEN_CPU_CAPABILITY",
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_TF32_OVERRIDE",
)


def environment(devices: Iterable[str], seed: int) -> Environment:
    return Environment(
        torch=torch.__version__,
        python=sys.version.split()[0],
        platform=platform.platform(terse=True),
        cpu=_processor(),
        cpu_capability=torch.backends.cpu.get_cpu_capability(),
        threads=torch.get_num_threads(),
        devices={device: device_name(device) for device in devices},
        variables={name: os.environ[name] for name in _VARIABLES if name in os.environ},
        seed=seed,
    )


def device_name(device: str) -> str:
    """What a person calls it: `NVIDIA H200`."""
    if device == "cuda":
        return torch.cuda.get_device_name()
    if device == "xpu":
        return torch.xpu.get_device_name()
    return _processor()


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or platform.machine()


def present_devices() -> tuple[str, ...]:
    """The devices that this torch can use on this machine. Asking initialises none of them."""
    found = ["cpu"]
    if torch.cuda.is_available():
        found.append("cuda")
    if torch.backends.mps.is_available():
        found.append("mps")
    if hasattr(torch, "xpu") and torch.xpu.is_available():
        found.append("xpu")
    return tuple(found)
