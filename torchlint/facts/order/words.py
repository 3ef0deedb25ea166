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
LISTS = "the list that is written"

ENUMERATE = "builtins.enumerate"
NUMBERS = frozenset({"builtins.range", "itertools.count"})
STACKS = frozenset(
    {
        *("torch.stack", "torch.cat", "torch.concat", "torch.concatenate", "torch.vstack", "torch.hstack"),
        *("numpy.stack", "numpy.concatenate", "numpy.vstack", "numpy.hstack"),
    }
)
TABLES = frozenset({"pandas.DataFrame", "pandas.Series"})
TRANSPARENT = frozenset(
    {
        *(f"builtins.{name}" for name in ("list", "tuple", "iter", "reversed", "map", "filter", "enumerate", "zip")),
        *("tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.trange", "rich.progress.track", "copy.copy", "copy.deepcopy"),
        *("itertools.chain", "itertools.chain.from_iterable", "collections.deque"),
        *("numpy.array", "numpy.asarray", "torch.tensor", "torch.as_tensor", "torch.from_numpy"),
    }
)
"""Calls whose result has the order of what they are given."""
TABLE_METHODS = frozenset(
    {"copy", "reset_index", "dropna", "to_numpy", "tolist", "to_list", "astype", "apply", "assign", "numpy", "fillna"}
)
"""Methods of tables and arrays that keep the order of the rows."""
SPLITTERS = frozenset(
    f"sklearn.model_selection.{name}().split"
    for name in ("KFold", "StratifiedKFold", "GroupKFold", "ShuffleSplit", "StratifiedShuffleSplit", "RepeatedKFold")
)
PERMUTED = frozenset(
    {
        *("torch.randperm()", "torch.randint()", "numpy.random.permutation()", "numpy.random.choice()"),
        *("numpy.random.randint()", "random.sample()", "random.randint()", "random.randrange()"),
        *(f"numpy.random.default_rng().{name}()" for name in ("permutation", "choice", "integers")),
        *(f"numpy.random.RandomState().{name}()" for name in ("permutation", "choice", "randint")),
        *(f"random.Random().{name}()" for name in ("sample", "randint", "randrange")),
    }
)
"""Places that chance picks: of a seeded generator, the same ones each run."""
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
    "numpy.random.RandomState().shuffle": DRAW,
    "numpy.random.RandomState().permutation": DRAW,
    "numpy.random.RandomState().choice": DRAW,
    "sklearn.utils.shuffle": DRAW,
    **dict.fromkeys(SPLITTERS, SPLIT),
    "sklearn.model_selection.train_test_split": SPLIT,
    "numpy.array_split": SPLIT,
    "torch.utils.data.Subset": INDEX,
    "datasets.load_dataset": DATASET,
    "torch.utils.data.random_split": SPLIT,
    "itertools.islice": SPLIT,
    "torch.utils.data.DataLoader": DATASET,
}
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
