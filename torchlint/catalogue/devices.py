"""By what code names the devices that it runs on: `rules/registry/devices.toml`."""

from __future__ import annotations

from typing import Literal

import msgspec


class DeviceEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Words that name a device: anywhere `inside` a name, or only as a `whole` word."""

    names: Literal["cuda", "npu", "hpu", "xla", "mps", "xpu", "switches", "open"]
    inside: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()


class DeviceFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`neutral_calls` name CUDA and move nothing there; `plain_libraries` leave tensors and modules where they are."""

    sources: tuple[str, ...]
    neutral_calls: tuple[str, ...]
    plain_libraries: tuple[str, ...]
    words: tuple[DeviceEntry, ...]
