"""What the registry's rows say of a release is what a project pinned to it is told, in every mode."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint import api
from torchlint.catalogue import load_catalogue
from torchlint.catalogue.registry import Operator, Row
from torchlint.catalogue.versions import parse_minor
from torchlint.diagnostics import Diagnostic

CATALOGUE = load_catalogue()
RELEASES = ("1.0", "1.6", "1.8", "1.13", "2.0", "2.6", "2.9", "2.13")
MODES = {"off": "", "on": "True", "warn_only": "True, warn_only=True"}

INDEX = "torch.randint(9, (4,))"
USES = {
    "replication_pad1d": "nn.ReplicationPad1d(2)",
    "replication_pad2d": 'F.pad(x, (1, 1, 1, 1), mode="replicate")',
    "replication_pad3d": 'nn.Conv3d(3, 8, 3, padding=1, padding_mode="replicate")',
    "reflection_pad1d": "nn.ReflectionPad1d(2)",
    "reflection_pad2d": "nn.ReflectionPad2d(2)",
    "reflection_pad3d": 'F.pad(x, (1, 1, 1, 1, 1, 1), mode="reflect")',
    "upsample_linear1d": 'F.interpolate(x, scale_factor=2, mode="linear")',
    "upsample_bilinear2d": 'F.interpolate(x, scale_factor=2, mode="bilinear")',
    "upsample_bicubic2d": 'nn.Upsample(scale_factor=2, mode="bicubic")',
    "upsample_trilinear3d": 'F.interpolate(x, scale_factor=2, mode="trilinear")',
    "upsample_bilinear2d_aa": 'F.interpolate(x, scale_factor=2, mode="bilinear", antialias=True)',
    "upsample_bicubic2d_aa": 'F.interpolate(x, scale_factor=2, mode="bicubic", antialias=True)',
    "interpolate_area1d interpolate_area2d interpolate_area3d": None,  # only hints: where windows overlap
    "grid_sampler_2d grid_sampler_3d": "F.grid_sample(x, v, align_corners=False)",
    "avg_pool3d": "nn.AvgPool3d(3, stride=2)",
    "adaptive_avg_pool2d": "nn.AdaptiveAvgPool2d(3), nn.AdaptiveAvgPool2d(7)",
    "adaptive_avg_pool3d": "nn.AdaptiveAvgPool3d(3), nn.AdaptiveAvgPool3d((2, 7, 7))",
    "adaptive_max_pool2d": "nn.AdaptiveMaxPool2d(2), nn.AdaptiveMaxPool2d((3, 3))",
    "adaptive_max_pool3d": "nn.AdaptiveMaxPool3d(3)",
    "max_pool3d": "nn.MaxPool3d(3, stride=2)",
    "max_pool3d_with_indices": "nn.MaxPool3d(3, stride=2, return_indices=True)",
    "fractional_max_pool2d": "nn.FractionalMaxPool2d(3, output_size=4)",
    "fractional_max_pool3d": "nn.FractionalMaxPool3d(3, output_size=4)",
    "max_unpool": "nn.MaxUnpool2d(3, stride=2)",
    "nll_loss2d": "F.nll_loss(torch.rand(2, 3, 4), v)",
    "ctc_loss": "nn.CTCLoss()",
    "embedding_bag_max": 'nn.EmbeddingBag(9, 3, mode="max")',
    "put_": f"x.put_({INDEX}, v)",
    "put_accumulate": f"x.put_({INDEX}, v, accumulate=True)",
    "take_backward": f"torch.take(x, {INDEX})",
    "scatter_src": f"x.scatter_(0, {INDEX}, v)",
    "scatter_add": f"x.scatter_add_(0, {INDEX}, v)",
    "scatter_reduce_legacy": f'x.scatter_(0, {INDEX}, v, reduce="multiply")',
    "scatter_reduce_legacy_add": f'x.scatter_(0, {INDEX}, v, reduce="add")',
    "scatter_reduce_sum_mean": f'x.scatter_reduce_(0, {INDEX}, v, reduce="sum")',
    "scatter_reduce_prod": f'x.scatter_reduce_(0, {INDEX}, v, reduce="prod")',
    "scatter_reduce_extremes": f'x.scatter_reduce_(0, {INDEX}, v, reduce="amax")',
    "index_add": f"x.index_add_(0, {INDEX}, v)",
    "index_copy": f"x.index_copy_(0, {INDEX}, v)",
    "index_reduce": f'x.index_reduce_(0, {INDEX}, v, reduce="mean")',
    "index_reduce_extremes": f'x.index_reduce_(0, {INDEX}, v, reduce="amax")',
    "bincount": "torch.bincount(v, weights=x)",
    "bincount_unweighted": "torch.bincount(v)",
    "histc histc_integer": "torch.histc(x)",
    "cumsum": "torch.rand(9).cumsum(0)",
    "cumprod cumprod_scan": "torch.rand(9, requires_grad=True).cumprod(0)",
    "logcumsumexp": "torch.rand(9).logcumsumexp(0)",
    "kthvalue": "x.kthvalue(2).indices",
    "median_dim": "x.median(1).indices",
    "mode": "x.mode(1).indices",
    "getitem_backward": None,  # reads by index vary on the CPU and on MPS alone
    "index_put_set": None,  # a statement, not an expression: see the fixtures of TL106
    "index_put_add": None,
    "index_put_accumulate": None,  # varies on the CPU and on MPS alone
    "embedding_bag_mps": None,
    "max_pool2d_mps": None,
    "cudnn_grid_sampler": None,  # cannot be told from the other kernels of grid_sample
    "sdpa_flash": None,  # only hints: see the fixtures of TL113
    "sdpa_efficient": None,
    "sdpa_cudnn": None,
    "flex_attention": None,
    "compiled_flex_attention": None,
    "sparse_mm": None,  # low confidence
    "bmm_sparse": "torch.bmm(x.to_sparse(), v)",
    "topk_ties": None,
    "topk_sort_ties": "torch.argsort(x)",
    "gather_backward": f"torch.gather(x, 0, {INDEX})",
    "index_select_backward": f"torch.index_select(x, 0, {INDEX})",
    "embedding_few_rows": None,  # a note only
    "repeat_interleave_backward": "x.repeat_interleave(v, dim=0)",
    "as_strided_backward": "torch.as_strided(x, (3, 3), (1, 1))",
    "stft_frames": None,  # in losses alone
    "inductor_compile": None,  # a note only
    "nccl_allreduce": None,
    "uninitialized_memory": None,  # has a check of its own
}
"""An evident use of each entry; entries that no code can tell apart share a line."""


def test_every_reported_entry_of_torch_is_here() -> None:
    listed = {identity for key in USES for identity in key.split()}
    reported = {o.id for o in CATALOGUE.operators if o.library == "torch" and o.rule != "context"}
    assert reported == listed


def outcome(operator: Operator, row: Row | None, mode: str) -> str | None:
    """The severity that the matrix of rules gives one row; None for silence."""
    if row is None or row.under_mode == "always_deterministic":
        return None
    if row.under_mode == "raises" and mode == "on":
        severity = "error"
    elif operator.condition.only_refused or operator.id == "histc":
        return None  # nothing varies: the mode only refuses the call
    elif row.under_mode == "deterministic_alternative" and mode != "off":
        return None
    else:
        severity = "warning"
    if row.confidence == "low":
        severity = {"error": "warning", "warning": "info"}[severity]
    is_note = CATALOGUE.rules[operator.rule].severity == "info"
    return "info" if is_note else severity


def expected(key: str, release: str, mode: str) -> str | None:
    by_id = {operator.id: operator for operator in CATALOGUE.operators}
    found = [outcome(by_id[i], by_id[i].row_for("cuda", parse_minor(release)), mode) for i in key.split()]
    return max((severity for severity in found if severity), key=["info", "warning", "error"].index, default=None)


def project(folder: Path, release: str, mode: str) -> None:
    """A program that reaches every use, pinned to a release."""
    (folder / "requirements.txt").write_text(f"torch=={release}.0\n")
    switch = f"torch.use_deterministic_algorithms({MODES[mode]})" if MODES[mode] else "pass"
    (folder / "train.py").write_text(
        f'import torch\nfrom net import Net\n\nif __name__ == "__main__":\n    {switch}\n    Net()\n'
    )
    lines = ["import torch", "import torch.nn.functional as F", "from torch import Tensor, nn", ""]
    lines += ["class Net(nn.Module):", "    def forward(self, x: Tensor, v: Tensor):", "        return ("]
    lines += [f"            {use}," for use in USES.values() if use is not None]
    (folder / "net.py").write_text("\n".join([*lines, "        )", ""]))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("release", RELEASES)
def test_a_pinned_project_hears_what_the_rows_say(tmp_path: Path, release: str, mode: str) -> None:
    project(tmp_path, release, mode)
    select = sorted(code for code, rule in CATALOGUE.rules.items() if rule.registry)
    (tmp_path / "torchlint.toml").write_text(f'select = {select}\nmin-confidence = "low"\ndevices = ["cuda"]\n')
    found = {d.location.line: d for d in api.check_paths([tmp_path / "net.py"]).diagnostics}
    uses = {key: use for key, use in USES.items() if use is not None}
    heard = {key: severity_at(found.get(line)) for line, key in enumerate(uses, start=8)}
    assert heard == {key: expected(key, release, mode) for key in uses}


def severity_at(diagnostic: Diagnostic | None) -> str | None:
    # The CPU rows of an entry give a note where its CUDA rows give nothing; this test is about CUDA.
    if diagnostic is None or "CPU" in diagnostic.message:
        return None
    return diagnostic.severity.name.lower()


def test_older_releases_of_a_library_are_named(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.13.0\ncausal-conv1d>=1.4\n")
    (tmp_path / "torchlint.toml").write_text('min-confidence = "low"\ndeterminism = "on"\n')
    net = tmp_path / "net.py"
    net.write_text(
        "from causal_conv1d import causal_conv1d_fn\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
        "    def forward(self, x):\n        return causal_conv1d_fn(x, self.weight)\n"
    )
    (found,) = api.check_paths([net]).diagnostics
    assert "also in determinism mode before causal-conv1d 1.6.0" in found.message
    assert found.advice.startswith("Require a newer causal-conv1d, or else ")
    assert found.fix is not None
    assert found.fix.one == "require causal-conv1d 1.6.0 or newer"
