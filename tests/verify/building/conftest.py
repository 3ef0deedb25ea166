from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from torchlint.recording.messages import CallSite, Code, Executed, Hooks, Request, Target, TargetKind

if TYPE_CHECKING:
    from torchlint.recording.loading import Loaded
    from torchlint.recording.subject import Subject


@pytest.fixture(autouse=True)
def _import_system() -> Iterator[None]:
    """Each target has a process of its own; here they share one, so what loading leaves behind is taken away."""
    paths, finders, modules = list(sys.path), list(sys.meta_path), dict(sys.modules)
    yield
    sys.path[:], sys.meta_path[:] = paths, finders
    for name in set(sys.modules) - set(modules):
        file = getattr(sys.modules[name], "__file__", None) or ""
        is_ours = name.partition(".")[0] in {"torchlint", "tests"}
        if not is_ours and "site-packages" not in file and not file.startswith(sys.base_prefix):
            del sys.modules[name]


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Code]:
    """Writes files and describes one of them."""

    def write(text: str, path: str = "model.py", beside: Mapping[str, str] | None = None) -> Code:
        for place, content in {path: text, **(beside or {})}.items():
            file = tmp_path / place
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
        return Code(
            path=str(tmp_path / path),
            module=path.removesuffix(".py").removesuffix("/__init__").replace("/", "."),
            text=text,
            search_paths=(str(tmp_path),),
        )

    return write


@pytest.fixture
def load(project: Callable[..., Code]) -> Callable[..., Loaded]:
    def load_text(text: str, path: str = "model.py", beside: Mapping[str, str] | None = None) -> Loaded:
        from torchlint.recording.loading import load

        return load(project(text, path, beside))

    return load_text


@pytest.fixture
def build(project: Callable[..., Code]) -> Callable[..., tuple[Subject, Executed]]:
    """Loads the text and brings the target to run: the subject, and what is said about it."""

    def build_text(
        text: str,
        name: str,
        *,
        kind: TargetKind = "module",
        calls: tuple[CallSite, ...] = (),
        inputs: tuple[CallSite, ...] = (),
        hooks: Hooks | None = None,
        enclosing: tuple[str, ...] = (),
        applied_by: tuple[str, ...] = (),
        beside: Mapping[str, str] | None = None,
        options: dict[str, str] | None = None,
        seconds: float = 600.0,
    ) -> tuple[Subject, Executed]:
        from torchlint.recording.building import build
        from torchlint.recording.loading import load

        code = project("import torch\nfrom torch import nn\nimport torch.nn.functional as F\n" + text, beside=beside)
        target = Target(
            kind=kind,
            name=name,
            enclosing=enclosing,
            applied_by=applied_by,
            calls={name: calls} if calls else {},
            inputs={name: inputs} if inputs else {},
            options=options or {},
        )
        request = Request(code=code, target=target, findings=(), hooks=hooks or Hooks(), seconds=seconds)
        return build(request, load(code, whole=False))

    return build_text
