"""Tables of what calls, methods and attributes give, by their names: what `kinds.py` reads."""

from __future__ import annotations

import ast

from torchlint.facts.tensors.annotations import Kind
from torchlint.facts.tensors.methods import method_named

LITERALS: dict[type, Kind] = {
    str: Kind.TEXT,
    bytes: Kind.TEXT,
    int: Kind.NUMBER,
    float: Kind.NUMBER,
    bool: Kind.NUMBER,
}
CALLS = {
    "builtins.str": Kind.TEXT,
    "builtins.bytes": Kind.TEXT,
    "builtins.repr": Kind.TEXT,
    "builtins.format": Kind.TEXT,
    "builtins.input": Kind.TEXT,
    "builtins.int": Kind.NUMBER,
    "builtins.float": Kind.NUMBER,
    "builtins.len": Kind.NUMBER,
    "builtins.set": Kind.SET,
    "builtins.frozenset": Kind.SET,
    "builtins.list": Kind.OTHER,
    "builtins.dict": Kind.OTHER,
    "builtins.tuple": Kind.OTHER,
    "builtins.range": Kind.OTHER,
    "builtins.sorted": Kind.OTHER,
    "pathlib.Path": Kind.PATH,
    "pathlib.PosixPath": Kind.PATH,
    "pathlib.Path.cwd": Kind.PATH,
    "pathlib.Path.home": Kind.PATH,
    "json.dumps": Kind.TEXT,
    "os.getcwd": Kind.TEXT,
    "os.path.join": Kind.TEXT,
    "os.path.basename": Kind.TEXT,
    "os.path.dirname": Kind.TEXT,
    "os.path.abspath": Kind.TEXT,
    "socket.gethostname": Kind.TEXT,
}
_TEXT_METHODS = frozenset(
    [
        "format",
        "join",
        "strip",
        "lower",
        "upper",
        "replace",
        "encode",
        "decode",
        "lstrip",
        "rstrip",
        "title",
        "hexdigest",
    ]
)
_PATH_METHODS = frozenset(["expanduser", "resolve", "absolute", "joinpath", "with_suffix", "with_name"])
_SET_METHODS = frozenset(["union", "intersection", "difference", "symmetric_difference", "copy"])
ATTRIBUTES = {
    (Kind.PATH, "parent"): Kind.PATH,
    (Kind.PATH, "name"): Kind.TEXT,
    (Kind.PATH, "stem"): Kind.TEXT,
    (Kind.PATH, "suffix"): Kind.TEXT,
    (Kind.TENSOR, "T"): Kind.TENSOR,
    (Kind.TENSOR, "grad"): Kind.TENSOR,
    (Kind.TENSOR, "data"): Kind.TENSOR,
    **{(Kind.TENSOR, name): Kind.TENSOR for name in ("mT", "H", "mH", "real", "imag", "values", "indices")},
    **{(kind, "shape"): Kind.OTHER for kind in (Kind.TENSOR, Kind.NDARRAY)},
    **{(kind, "ndim"): Kind.NUMBER for kind in (Kind.TENSOR, Kind.NDARRAY)},
    **{(Kind.TENSOR, name): Kind.OTHER for name in ("device", "dtype", "layout")},
    (Kind.NDARRAY, "T"): Kind.NDARRAY,
    (Kind.NDARRAY, "real"): Kind.NDARRAY,
    (Kind.NDARRAY, "imag"): Kind.NDARRAY,
    (Kind.MODULE, "weight"): Kind.TENSOR,
    (Kind.MODULE, "bias"): Kind.TENSOR,
}

DISPLAYS: dict[type[ast.expr], Kind] = {
    ast.JoinedStr: Kind.TEXT,
    ast.Set: Kind.SET,
    ast.SetComp: Kind.SET,
    **dict.fromkeys(
        (ast.List, ast.Dict, ast.Tuple, ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.Lambda), Kind.OTHER
    ),
}
SAME_KIND = frozenset({"einops.rearrange", "einops.repeat", "einops.reduce", "builtins.abs"})
"""Functions that return the kind of value that they are given."""

_MORE_TENSORS = frozenset(
    {
        *(f"torch.{name}" for name in ("eq", "ne", "dequantize", "distributions.kl_divergence")),
        *(f"torch.nn.functional.{name}" for name in ("logsigmoid", "sigmoid", "tanh", "softsign", "tanhshrink")),
        *(f"torch.nn.functional.{name}" for name in ("upsample", "upsample_bilinear", "upsample_nearest")),
        *(f"torch.nn.functional.max_pool{n}d" for n in (1, 2, 3)),
        *(f"torch.nn.functional.adaptive_max_pool{n}d" for n in (1, 2, 3)),
        *(f"torch.nn.functional.fractional_max_pool{n}d" for n in (2, 3)),
        *(f"torch.nn.utils.{name}" for name in ("rnn.pad_sequence", "parameters_to_vector", "clip_grad_norm_")),
        *(f"torch.nn.{name}" for name in ("Buffer", "UninitializedParameter", "UninitializedBuffer")),
        *("torch.distributions.kl.kl_divergence", "torch.autograd.grad"),
    }
)
"""Functions that the registry does not list: what they return depends on an argument, or they are no operators."""
_OF_GRAPHS = frozenset(
    """
    add_random_edge add_remaining_self_loops add_self_loops barabasi_albert_graph batched_negative_sampling coalesce
    cumsum degree dense_to_sparse dropout_adj dropout_edge dropout_node dropout_path erdos_renyi_graph
    geodesic_distance get_laplacian get_mesh_laplacian get_ppr get_self_loop_attr grid group_argsort index_sort
    index_to_mask k_hop_subgraph lexsort mask_feature mask_select mask_to_index negative_sampling normalize_edge_index
    normalized_cut one_hot remove_isolated_nodes remove_self_loops scatter segment segment_logsumexp
    segregate_self_loops shuffle_node softmax sort_edge_index spmm stochastic_blockmodel_graph
    structured_negative_sampling subgraph to_dense_adj to_dense_batch to_edge_index to_nested_tensor
    to_torch_coo_tensor to_torch_csc_tensor to_torch_csr_tensor to_undirected
    """.split()  # noqa: SIM905 - one name a line would be a page
)
"""Functions of `torch_geometric.utils` whose annotations say a tensor, or several and None."""

_RESULTS = {"number": Kind.NUMBER, "array": Kind.NDARRAY, "other": Kind.OTHER}
MODULE_METHODS = frozenset(
    ["to", "cuda", "cpu", "float", "half", "double", "bfloat16", "eval", "train", "requires_grad_", "apply", "to_empty"]
)
"""Methods that return the module they are called on."""


def is_layer(name: str) -> bool:
    """Whether a full name is one of torch's own layers."""
    is_class = name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper()
    return is_class and "()" not in name and not name.startswith(("torch.nn.utils.", "torch.nn.attention."))


def returns_tensors(name: str) -> bool:
    """Whether a full name is a function of torch, or of PyG, that returns a tensor or several."""
    home, _, last = name.rpartition(".")
    if home == "torch_geometric.utils":
        return last in _OF_GRAPHS
    is_of_torch = home in ("torch", "torch.linalg")
    return name in _MORE_TENSORS or (is_of_torch and method_named(last).results in ("parts", "pair", "several"))


def of_method(method: str, receiver: Kind) -> Kind:
    """What a method of this name returns on a value of this kind."""
    if receiver is Kind.TENSOR:
        return _RESULTS.get(method_named(method).results, receiver)
    if receiver is Kind.NDARRAY:
        return Kind.UNKNOWN if method in ("tolist", "item") else Kind.NDARRAY
    names = {
        Kind.TEXT: _TEXT_METHODS,
        Kind.PATH: _PATH_METHODS,
        Kind.SET: _SET_METHODS,
        Kind.MODULE: MODULE_METHODS,
    }.get(receiver, frozenset())
    return receiver if method in names else Kind.UNKNOWN
