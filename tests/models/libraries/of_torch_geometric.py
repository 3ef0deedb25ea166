"""The layers and networks of PyG, on a ring: each node has one edge in and one out.

Whether indices repeat is for the data to say, so what they do is only seen where a layer adds edges of its own.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from tests.models.stand_ins import importable_torchaudio, importable_torchvision
from tests.models.subjects import Subject

_NODES, _WIDTH, _EDGE_WIDTH = 12, 16, 4
_PLACES = ("aggr", "conv", "dense", "models", "pool")
"""Modules of `torch_geometric.nn`, by which layers go as well."""
_ARGUMENTS: dict[str, Any] = {
    "K": 2,
    "alpha": 0.1,
    "basis_emb_size": 8,
    "channels": _WIDTH,
    "depth": 2,
    "dim": 3,
    "edge_attr_emb_dim": _EDGE_WIDTH,
    "edge_dim": _EDGE_WIDTH,
    "edge_type_emb_dim": _EDGE_WIDTH,
    "embedding_dim": _WIDTH,
    "filter_size": 2,
    "heads": 2,
    "hidden_channels": _WIDTH,
    "hidden_edge_channels": _WIDTH,
    "hidden_node_channels": _WIDTH,
    "in_channels": _WIDTH,
    "int_emb_size": 8,
    "k": 4,
    "kernel_size": 2,
    "num_bilinear": 4,
    "num_blocks": 2,
    "num_clusters": 4,
    "num_edge_types": 2,
    "num_layers": 2,
    "num_node_types": 2,
    "num_nodes": _NODES,
    "num_radial": 4,
    "num_relations": 2,
    "num_spherical": 4,
    "num_timesteps": 2,
    "out_channels": _WIDTH,
    "out_emb_channels": _WIDTH,
    "processing_steps": 2,
    "propagate_dimensions": 4,
    "scalers": ["identity", "amplification"],
    "aggregators": ["mean", "max"],
    "space_dimensions": 3,
}
"""What constructors are given, by the names of parameters without a default."""
_WIDENING = ("NNConv",)
"""Layers whose inner network makes a matrix for each edge."""


def subjects() -> Iterator[Subject]:
    importable_torchvision()
    importable_torchaudio()
    layers: Any = importlib.import_module("torch_geometric.nn")
    for name in sorted(dir(layers)):
        kind = getattr(layers, name)
        if inspect.isclass(kind) and issubclass(kind, nn.Module) and kind.__module__.startswith(layers.__name__):
            held = [place for place in _PLACES if getattr(getattr(layers, place), name, None) is kind]
            calls = [f"torch_geometric.nn.{name}", *(f"torch_geometric.nn.{place}.{name}" for place in held)]
            if held:
                yield Subject(tuple(calls), functools.partial(_made, kind), _run, needs_values=True)


def _made(kind: Callable[..., nn.Module]) -> nn.Module:
    needed = inspect.signature(kind).parameters.values()
    names = [one.name for one in needed if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]
    given = {**_ARGUMENTS, "deg": torch.ones(4, dtype=torch.long)}
    width = _WIDTH**2 if getattr(kind, "__name__", "") in _WIDENING else _WIDTH
    given |= {name: nn.LazyLinear(width) for name in ("nn", "gate_nn", "mlp_f", "mlp_g", "mlp_h")}
    if "conv" in names:
        given["conv"] = importlib.import_module("torch_geometric.nn").SAGEConv(_WIDTH, _WIDTH)
    return kind(**{name: given[name] for name in names})


def _run(model: nn.Module) -> object:
    known = _inputs(model)
    given = {}
    for name, parameter in inspect.signature(model.forward).parameters.items():
        is_needed = parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        if is_needed or (name in ("edge_attr", "pseudo") and _takes_edges(model)) or name == "edge_type":
            given[name] = known[name]
    return model(**given)


def _takes_edges(model: nn.Module) -> bool:
    """Whether a layer was made for edges that carry values, by the constructor's names."""
    names = inspect.signature(type(model)).parameters
    return bool({"edge_dim", "kernel_size", "nn"} & {name for name, one in names.items() if one.default is one.empty})


def _inputs(model: nn.Module) -> dict[str, torch.Tensor]:
    device = next(iter(model.parameters()), torch.empty(0)).device
    nodes = torch.arange(_NODES, device=device)
    ring = torch.stack([nodes, nodes.roll(1)])
    matrix = torch.eye(_NODES, device=device).roll(1, 0)
    values = torch.linspace(0, 1, _NODES * _WIDTH, device=device).reshape(_NODES, _WIDTH).requires_grad_()
    is_dense = "adj" in inspect.signature(model.forward).parameters
    edges = torch.linspace(0, 1, _NODES * _EDGE_WIDTH, device=device).reshape(_NODES, _EDGE_WIDTH)
    return {
        "adj": matrix[None],
        "batch": torch.zeros_like(nodes),
        "edge_attr": edges,
        "edge_index": ring,
        "edge_type": nodes % 2,
        "head_index": nodes,
        "hyperedge_index": ring,
        "index": torch.zeros_like(nodes),
        "neg_edge_index": ring.flip(0),
        "node_type": nodes % 2,
        "normal": values[:, 3:6],
        "pos": values[:, :3],
        "pos_edge_index": ring,
        "rel_type": nodes % 2,
        "tail_index": nodes.roll(1),
        "x": values[None] if is_dense else values,
        "x_0": values,
        "z": nodes % 4,
    }
