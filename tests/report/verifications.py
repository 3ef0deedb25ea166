"""Verdicts for tests of the reports of `verify`."""

from __future__ import annotations

from typing import Any

from torchlint.diagnostics import Location, Note
from torchlint.recording.messages import Answer, Environment, Executed
from torchlint.verify.data import Finding, Result, TargetRun, Verification

ENVIRONMENT = Environment(
    torch="2.13.0+cu130",
    python="3.12.4",
    platform="Linux-x86_64",
    cpu="AMD EPYC",
    cpu_capability="AVX512",
    threads=2,
    devices={"cpu": "AMD EPYC", "cuda": "NVIDIA H200"},
    variables={"CUBLAS_WORKSPACE_CONFIG": ":4096:8", "PYTHONHASHSEED": "0"},
    seed=0,
)

CURVE: dict[str, Any] = {
    "pair": "cuda against cpu",
    "steps": list(range(1, 61)),
    "total": [7.5e-9 * 1.22**step for step in range(60)],
    "modules": {
        f"blocks.{block}.{part}": [4e-9 / (block + 1) * (1.16 + 0.01 * block) ** step for step in range(60)]
        for block in range(6)
        for part in ("attn.out_proj", "mlp")
    },
}
HISTOGRAM: dict[str, Any] = {"bins": [0, 1, 2, 3, "4-7", "8-15", "16+"], "counts": [91040, 6120, 910, 221, 40, 9, 1]}
RATIOS: dict[str, Any] = {"stem.conv": 0.7, "body.0": 1.1, "body.1": 3.4, "head.out_proj": 412.0, "head.norm": 0.0}
REPEATED: dict[str, Any] = {
    "operator": "aten.index_add.default",
    "forward_line": {"path": "src/model.py", "cell": None, "line": 9},
    "constructor_line": {"path": "src/model.py", "cell": None, "line": 5},
    "module": "pool",
    "sizes": {"self": [4, 3], "index": [8], "alpha": []},
    "inputs": ["float32[8,3]", "int64[8]{0..3}"],
    "repeated_indices": 0.375,
    "runs": 13,
    "runs_by_scale": {"1": 10, "16": 3},
    "input_sizes": {"1": [[8, 3]], "16": [[128, 3]]},
    "threads": 2,
    "run": 3,
    "scale": 16,
    "max_abs": 4.76837158203125e-07,
}


def make_result(verdict: Any = "DIVERGED", line: int = 9, **changes: Any) -> Result:  # noqa: ANN401 - any field
    path, cell = changes.pop("path", "src/model.py"), changes.pop("cell", None)
    finding = {
        "code": changes.pop("code", "TL106"),
        "name": changes.pop("name", "scatter-accumulation"),
        "message": changes.pop("message", "`index_add` adds in no fixed order on CUDA"),
        "location": Location(path, cell, line, 9, changes.pop("end_line", line), 30),
        "source_line": changes.pop("source_line", "        return out.index_add(0, index, x)"),
    }
    fields: dict[str, Any] = {
        "target": "Pool",
        "probe": "repeat",
        "verdict": verdict,
        "device": "cuda",
        "reason": "run 3 gave other bits than run 1",
        "evidence": {},
        "reproduce": f"torchlint verify {path}:{line} --select TL106 --device cuda",
    }
    return Result(finding=Finding(**finding), **{**fields, **changes})


def make_run(**changes: Any) -> TargetRun:  # noqa: ANN401 - any field
    code = ["import torch", "from torch import nn", *[""] * 2, "class Pool(nn.Module):", *[""] * 3]
    code += ["    def forward(self, x, index):", "        return x.new_zeros(4, 3).index_add(0, index, x)", ""]
    fields: dict[str, Any] = {
        "name": "Pool",
        "path": "src/model.py",
        "text": "\n".join(code),
        "executed": Executed(
            name="Pool",
            built_by="invented arguments",
            construction="Pool(width=3)",
            inputs=("float32[8,3]", "int64[8]{0..3}"),
            stubs=("apex",),
        ),
        "end": "done",
        "seconds": 1.25,
        "output": "loading\nready\n",
    }
    return TargetRun(**{**fields, **changes})


def make_answer(verdict: Any = "NOT REPRODUCED", **changes: Any) -> Answer:  # noqa: ANN401 - any field
    fields: dict[str, Any] = {
        "finding": 0,
        "probe": "strict",
        "verdict": verdict,
        "device": "cpu",
        "reason": "torch refused nothing on cpu under the determinism mode",
    }
    return Answer(**{**fields, **changes})


def make_verification(*results: Result, **changes: Any) -> Verification:  # noqa: ANN401 - any field
    fields: dict[str, Any] = {
        "results": tuple(sorted(results, key=lambda result: result.sort_key)),
        "environment": ENVIRONMENT,
        "runs": (make_run(),),
        "sandbox": "landlock (writes, TCP)",
    }
    return Verification(**{**fields, **changes})


STANZA = '[tool.torchlint.verify."pkg.models:UNet"]\nargs = []\ninputs = ["float32[2,3,64,64]"]'


def every_verdict() -> Verification:
    """One finding of each verdict, on two targets."""
    drifting = make_answer(
        "VARIES", probe="devices", device="cuda", reason="the device and the CPU differ", evidence={"curve": CURVE}
    )
    results = [
        make_result(
            "SKIPPED",
            2,
            path="src/unet.py",
            target="UNet",
            probe=None,
            reason="no inputs were found",
            evidence={"kind": "inputs", "configure": STANZA},
        ),
        make_result(
            "NOT REPRODUCED",
            10,
            reason="30 runs on cpu gave the same bits",
            evidence={"runs": 30, "runs_by_scale": {"1": 10, "16": 10, "256": 10}},
        ),
        make_result("KERNEL-ONLY", 10, code="TL105", probe="trace", reason="the call alone was run"),
        make_result(
            "TRACED",
            9,
            code="TL107",
            probe="trace",
            reason="its backward pass dispatched `aten.gather`, which varies on CUDA",
            evidence={"predicts": "cuda"},
        ),
        make_result(
            "VARIES", 9, code="TL501", probe="devices", evidence={"ratios": RATIOS, "ulp_histogram": HISTOGRAM}
        ),
        make_result("REFUTED", 5, code="TL601", probe="algebra", reason="the bias matters in train mode"),
        make_result("CONFIRMED", 5, code="TL118", probe="memory", reason="unwritten memory reaches `output`"),
        make_result(
            "RAISED",
            10,
            code="TL108",
            probe="strict",
            reason="torch refuses `aten.put_`",
            evidence={"words": "put_ does not have a deterministic implementation"},
        ),
        make_result("DIVERGED", 9, evidence=REPEATED, others=(drifting, make_answer())),
    ]
    return make_verification(*results, notes=(Note("is no notebook", "a.ipynb"),), without_probe=3)
