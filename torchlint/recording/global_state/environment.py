"""Where a verdict is reached: bits depend on all of it."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterable
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
        torch=str(torch.__version__),
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


def holds_tensors(gpu: int) -> bool:
    """Whether this process ever put a tensor on a GPU. A step of an optimizer alone initialises all of them."""
    try:
        return torch.cuda.max_memory_allocated(gpu) > 0
    except RuntimeError:  # an allocator of the user's own that does not count
        return True


def usable_devices(wanted: Iterable[str]) -> tuple[str, ...]:
    """Those of the wanted devices (`all`: every one) that this torch can use here. Asking initialises none of them."""
    asked = tuple(wanted)
    present = [device for device, is_there in _PRESENT.items() if is_there()]
    return tuple(device for device in present if device in asked or "all" in asked)


_PRESENT: dict[str, Callable[[], bool]] = {
    "cpu": lambda: True,
    "cuda": torch.cuda.is_available,
    "mps": torch.backends.mps.is_available,
    "xpu": lambda: hasattr(torch, "xpu") and torch.xpu.is_available(),
}
