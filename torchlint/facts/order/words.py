"""What an order can decide, in words that follow "it decides"; `rules/registry/flow/orders.toml` has the calls."""

IDS = "the class ids"
SPLIT = "the split"
INDEX = "what an index means"
DRAW = "what a draw picks"
PAIRS = "which entries are paired"
DATASET = "the items of the dataset"
GROUPS = "the parameter groups"
ROWS = "the order of the rows"
DATA = "the rows that are written"
LISTS = "the list that is written"

ENUMERATE = "builtins.enumerate"
