"""What an order can decide, and what a value goes through on its way there: the words of `analysis.py`."""

from __future__ import annotations

import ast

IDS = "the class ids"
SPLIT = "the split"
INDEX = "what an index means"
DRAW = "what a seeded draw picks"
PAIRS = "which entries are paired"
DATASET = "the items of the dataset"
GROUPS = "the parameter groups"
ROWS = "the order of the rows"

ENUMERATE = "builtins.enumerate"
TRANSPARENT = frozenset(
    f"builtins.{name}" for name in ("list", "tuple", "iter", "reversed", "map", "filter", "enumerate", "zip")
) | {
    "tqdm.tqdm",
    "tqdm.auto.tqdm",
    "tqdm.trange",
    "numpy.array",
    "numpy.asarray",
    "itertools.chain",
    "itertools.chain.from_iterable",
}
DRAWS = {
    "random.shuffle": DRAW,
    "random.sample": DRAW,
    "random.choice": DRAW,
    "random.choices": DRAW,
    "numpy.random.shuffle": DRAW,
    "numpy.random.permutation": DRAW,
    "numpy.random.choice": DRAW,
    "random.Random().shuffle": DRAW,
    "random.Random().sample": DRAW,
    "numpy.random.default_rng().shuffle": DRAW,
    "numpy.random.default_rng().permutation": DRAW,
    "numpy.random.default_rng().choice": DRAW,
    "sklearn.model_selection.train_test_split": SPLIT,
    "torch.utils.data.random_split": SPLIT,
    "itertools.islice": SPLIT,
    "torch.utils.data.DataLoader": DATASET,
}
STACKS = frozenset(
    {
        *("torch.stack", "torch.cat", "torch.concat", "torch.concatenate", "torch.vstack", "torch.hstack"),
        *("numpy.stack", "numpy.concatenate", "numpy.vstack", "numpy.hstack"),
    }
)
REDUCTIONS = frozenset(
    {
        *("sum", "mean", "average", "nanmean", "std", "var", "min", "max", "prod", "any", "all", "median"),
        *("percentile", "quantile", "histogram", "bincount", "unique", "sort", "numel", "nbytes", "size", "len"),
    }
)
"""Words of functions and methods that give the same for rows in any order, up to rounding."""
LISTED = frozenset(
    {"os.listdir()", "glob.glob()", "glob.iglob()", "os.scandir()", "pathlib.Path().glob()", "pathlib.Path().iterdir()"}
)
SHOWING = frozenset({"print", "pprint", "debug", "info", "warning", "warn", "error", "write", "display"})
"""Words of functions that show or log what they are given."""
SET_METHODS = frozenset({"union", "intersection", "difference", "symmetric_difference", "copy"})
MERGES = (ast.Add, ast.BitOr, ast.BitAnd, ast.BitXor, ast.Sub)
