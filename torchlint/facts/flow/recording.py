"""What only writes something down: printing and logging an object is no use of what it holds."""

from __future__ import annotations

import ast

from torchlint.facts.file import FileFacts
from torchlint.facts.tree import method_called

_RECORDERS = frozenset(
    {
        *("builtins.print", "pprint.pprint", "rich.print", "json.dump", "yaml.dump", "yaml.safe_dump"),
        *("mlflow.log_params", "wandb.init", "omegaconf.OmegaConf.save"),
    }
)
_DESCRIBING = frozenset(
    {
        *("builtins.vars", "builtins.str", "builtins.repr", "builtins.dict", "pprint.pformat"),
        *("json.dumps", "yaml.dump", "yaml.safe_dump", "omegaconf.OmegaConf.to_yaml"),
    }
)
_LOGGING = frozenset({"debug", "info", "warning", "warn", "error", "log", "add_text"})
_TEXT = (ast.keyword, ast.FormattedValue, ast.JoinedStr, ast.BinOp, ast.Dict, ast.Tuple, ast.List)


def is_recorded(facts: FileFacts, node: ast.expr) -> bool:
    """Whether a value ends in a call that prints or logs it, as it is or described."""
    tree = facts.index
    below: ast.AST = node
    while True:
        above = tree.parents[below]
        if isinstance(above, ast.Call):
            name = facts.names(above.func, tree.scope_of(above)).only or ""
            if above.func is not below and (name in _RECORDERS or _logs(above, name)):
                return name != "wandb.init" or not _is_read_back(facts, above)
            if above.func is not below and name not in _DESCRIBING and method_called(above) != "format":
                return False
        elif not isinstance(above, _TEXT) and not (isinstance(above, ast.Attribute) and above.attr.startswith("_")):
            return False
        below = above


def is_only_shown(facts: FileFacts, items: ast.Call) -> bool:
    """Whether all that is done with `options.items()` is a loop that prints or logs them one by one."""
    listed: ast.AST = items
    loop = facts.index.parents[listed]
    if isinstance(loop, ast.Call) and facts.names(loop.func, facts.index.scope_of(loop)).only == "builtins.sorted":
        listed, loop = loop, facts.index.parents[loop]
    if not isinstance(loop, ast.For) or loop.iter is not listed:
        return False
    names = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    read = (node for statement in loop.body for node in ast.walk(statement) if isinstance(node, ast.Name))
    return all(node.id not in names or is_recorded(facts, node) for node in read)


def _logs(call: ast.Call, name: str) -> bool:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _LOGGING or "::" in name:
        return False
    return not (isinstance(call.func.value, ast.Name) and call.func.value.id in ("self", "cls"))


def _is_read_back(facts: FileFacts, init: ast.Call) -> bool:
    """Whether code may ask wandb for what it was given: a sweep answers with other values."""
    tree = facts.index
    asked = (node for word in ("config", "run") for node in tree.attributes(word))
    is_asked = any(name.startswith("wandb.") for node in asked for name in facts.names(node, tree.scope_of(node)).names)
    return is_asked or not isinstance(tree.parents[init], ast.Expr) or facts.source.mentions("from wandb import")
