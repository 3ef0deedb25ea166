"""TL211 runtime-hash-seed: PYTHONHASHSEED set by the very process that would need it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.checks.environment_writes import NODES, SETTERS, writes
from torchlint.checks.registration import Finding, SettingFinding, Vocabulary, check
from torchlint.checks.visit import Visit
from torchlint.facts.file import FileFacts
from torchlint.source.text import EnvironmentSetting

_CODE = "TL211"
_VARIABLE = "PYTHONHASHSEED"
_CHILDREN = (
    "subprocess.",
    "os.exec",
    "os.spawn",
    "os.system",
    "os.posix_spawn",
    "multiprocessing.",
    "torch.multiprocessing.",
    "concurrent.futures.ProcessPoolExecutor",
    "joblib.",
    "ray.",
)
"""Calls that start processes, which do read the variable."""


def _on_setting(setting: EnvironmentSetting, facts: FileFacts) -> Iterator[SettingFinding]:
    """`%env PYTHONHASHSEED=0`: the kernel that runs it has long read the variable."""
    if setting.name == _VARIABLE and setting.in_process and not _starts_processes(facts):
        yield SettingFinding(_CODE, {"magic": f"%env {setting.name}={setting.value}"}, "magic")


@check(
    *NODES,
    codes=(_CODE,),
    on_setting=_on_setting,
    vocabulary=Vocabulary(calls=SETTERS | {"os.environ.update"}, keys=frozenset({_VARIABLE})),
)
def find(visit: Visit, node: cst.CSTNode) -> Iterator[Finding]:
    """Every write of the variable, in a file that starts no process which would read it."""
    for _ in writes(visit, node, _VARIABLE):
        if not _starts_processes(visit.facts):
            yield Finding(_CODE, node, message="assigned")


def _starts_processes(facts: FileFacts) -> bool:
    return any(
        name.startswith(_CHILDREN)
        for site in facts.reading.calls
        for name in facts.names(site.node.func, site.scope).names
    )
