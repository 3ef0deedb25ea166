"""What torch's functions and tensor methods of one name do without a look at memory: tables, asked of torch by a test.

A name stands for the method `Tensor.name` and, where there is one, for the function `torch.name`. Names that stand
neither here nor in `reading_words.py` are unknown: they may write.
"""

from __future__ import annotations

METADATA = frozenset(
    [
        "shape",
        "dtype",
        "device",
        "layout",
        "ndim",
        "requires_grad",
        "is_leaf",
        "is_cuda",
        "is_cpu",
        "is_meta",
        "is_mps",
        "is_xpu",
        "is_sparse",
        "is_quantized",
        "is_nested",
        "itemsize",
        "nbytes",
        "grad_fn",
    ]
)
"""Attributes that tell about a tensor without reading its memory."""
METADATA_METHODS = frozenset(
    [
        "size",
        "dim",
        "numel",
        "nelement",
        "ndimension",
        "stride",
        "element_size",
        "storage_offset",
        "get_device",
        "is_contiguous",
        "is_floating_point",
        "is_complex",
        "is_signed",
        "is_pinned",
        "is_shared",
        "is_same_size",
        "new_zeros",
        "new_ones",
        "new_full",
        "new_empty",
        "new_empty_strided",
        "new_tensor",
    ]
)
METADATA_FUNCTIONS = frozenset(
    {
        *(f"torch.{kind}_like" for kind in ["empty", "zeros", "ones", "full", "rand", "randn", "randint"]),
        *(
            f"torch.{name}"
            for name in ["numel", "is_tensor", "is_floating_point", "is_complex", "result_type", "get_device"]
        ),
        *(f"builtins.{name}" for name in ["isinstance", "type", "id", "len", "print"]),
    }
)
"""Functions that look at a tensor's description alone. What is only printed changes nothing that goes on."""

SAME_MEMORY = frozenset({"data", "T", "mT", "H", "mH"})
"""Attributes that give the same memory."""
PASSING = frozenset(
    [
        "view",
        "view_as",
        "reshape",
        "reshape_as",
        "t",
        "transpose",
        "permute",
        "squeeze",
        "unsqueeze",
        "flatten",
        "unflatten",
        "ravel",
        "expand",
        "expand_as",
        "broadcast_to",
        "narrow",
        "select",
        "swapaxes",
        "swapdims",
        "movedim",
        "moveaxis",
        "detach",
        "contiguous",
        "clone",
        "requires_grad_",
        "to",
        "type",
        "type_as",
        "cpu",
        "cuda",
        "float",
        "double",
        "half",
        "bfloat16",
        "long",
        "int",
        "short",
        "byte",
        "bool",
        "pin_memory",
    ]
)
"""The result is the same memory, or a copy of it: nothing is computed yet."""
JOINING = frozenset(f"torch.{name}" for name in ["cat", "concat", "concatenate", "stack", "hstack", "vstack"])
"""Of a list of tensors these make one that holds copies of them all."""
