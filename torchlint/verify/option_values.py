"""What a project's options are by default, by name: of its command lines, its configuration classes and its files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from torchlint.recording.messages import Configuration
from torchlint.verify.call_sites import is_literal
from torchlint.verify.loading import TreeOf

_MOST_FILES = 400
_MOST_OPTIONS = 3000
_LONGEST = 200
"""Characters of one value: lists of paths and tables of colours build no module."""
_LARGEST_FILE = 200_000
_CONFIG = re.compile(
    r"_*(.*_)?(cfgs?|conf(ig)?s?|configuration|args?|arguments|hparams?|opts?|options?|params?|flags|hyper\w*|c)",
    re.IGNORECASE,
)
_CONFIG_CLASS = re.compile(
    r".*(Config(uration)?s?|Cfg|Opts?|Options?|Args|Arguments|HParams|Hyper\w*|Params)", re.IGNORECASE
)
_MAKERS = re.compile(
    r"set_defaults|dict|Namespace|SimpleNamespace|E?[Ee]dict|EasyDict|AttrDict|Munch|CN|CfgNode|.*(HParams|Config)"
)
_SPEAKS_OF_OPTIONS = re.compile(
    rb"add_argument|add_option|option|DEFINE_|set_defaults|\b(dict|\w*Namespace|\w*[Ee]dict|EasyDict|AttrDict|Munch|CN)\s*\("
    rb"|CfgNode|Config|Cfg|Opts?\b|Options?\b|Args\b|Arguments|HParams|Hyper|Params\b"
    rb"|(?<![A-Za-z])(?i:cfgs?|confs?|configs?|configuration|args?|arguments|hparams?|opts?|options?|params?|flags|hyper\w*|c)"
    rb"\s*[.=\[:]|^\s*[A-Z_][A-Z_0-9]*[.\[]",
    re.MULTILINE,
)
"""Holds in every file that has an option: what is looked for in its tree, without the tree."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ACTIONS = {"store_true": "False", "store_false": "True", "count": "0"}

SECTION = "{}"
"""The value of an option that holds others."""


def option_values(files: Iterable[Path], shipped: Iterable[Configuration], tree_of: TreeOf) -> dict[str, str]:
    """The source of the first literal for each name; `SECTION` for a name that only holds others.

    `shipped` are the configurations of the project, in the order in which they count.
    """
    found: dict[str, str] = {}
    for name, value in _all(files, shipped, tree_of):
        if len(found) < _MOST_OPTIONS and len(value) <= _LONGEST and found.get(name, SECTION) in (SECTION, "None"):
            found[name] = value
    return found


def _all(files: Iterable[Path], shipped: Iterable[Configuration], tree_of: TreeOf) -> Iterator[tuple[str, str]]:
    """Command lines first, where `set_defaults` overrules the others; then assignments, files and sections."""
    calls: list[ast.Call] = []
    assigned: list[tuple[str, str]] = []
    sections: list[tuple[str, str]] = []
    for path in list(dict.fromkeys(files))[:_MOST_FILES]:
        tree = tree_of(path) if _speaks_of_options(path) else None
        for node in () if tree is None else ast.walk(tree):
            if isinstance(node, ast.Call):
                calls.append(node)
            elif isinstance(node, (ast.Assign, ast.ClassDef)):
                assigned += _of_assignment(node)
            elif isinstance(node, ast.Attribute):
                sections += _sections(node)
    for call in sorted(calls, key=lambda call: _called(call) != "set_defaults"):
        yield from _of_call(call)
    yield from assigned
    for each in shipped:
        yield from _of_table(each.entries)
    yield from sections


def _speaks_of_options(path: Path) -> bool:
    try:
        data = path.read_bytes()
    except OSError:
        return False
    return len(data) <= _LARGEST_FILE and _SPEAKS_OF_OPTIONS.search(data) is not None


def _of_call(call: ast.Call) -> Iterator[tuple[str, str]]:
    """`add_argument("--width", default=64)`, and `dict(width=64)`."""
    called = _called(call)
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    texts = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    if called in ("add_argument", "option", "add_option") and texts:
        flags = [text for text in texts if text.startswith("--")] or texts
        target = given.get("dest")
        name = target.value if isinstance(target, ast.Constant) else flags[0].lstrip("-").replace("-", "_")
        yield str(name), _of_argument(given)
    elif called.upper().startswith("DEFINE_") and texts and len(call.args) > 1 and is_literal(call.args[1]):
        yield texts[0], ast.unparse(call.args[1])
    elif _MAKERS.fullmatch(called):
        yield from ((name, ast.unparse(value)) for name, value in given.items() if name and is_literal(value))


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _of_argument(given: dict[str | None, ast.expr]) -> str:
    action = given.get("action")
    if isinstance(action, ast.Constant) and action.value in _ACTIONS:
        return _ACTIONS[str(action.value)]
    default, choices = given.get("default"), given.get("choices")
    if default is not None and is_literal(default) and ast.unparse(default) != "None":
        return _converted(ast.unparse(default), given.get("type"), given.get("nargs"))
    if isinstance(choices, (ast.List, ast.Tuple)) and choices.elts and is_literal(choices.elts[0]):
        return ast.unparse(choices.elts[0])
    return "None"


def _converted(default: str, kind: ast.expr | None, nargs: ast.expr | None) -> str:
    """A default in quotes becomes a number where the argument is one."""
    value = ast.literal_eval(default)
    if isinstance(value, str) and nargs is None and isinstance(kind, ast.Name) and kind.id in ("int", "float"):
        return re.sub(r"^0+(?=\d)", "", value) if re.fullmatch(r"-?[\d.]+(e-?\d+)?", value) else default
    return default


def _of_assignment(node: ast.Assign | ast.ClassDef) -> Iterator[tuple[str, str]]:
    """`cfg.MODEL.WIDTH = 64`, `config["width"] = 64`, `config = {"width": 64}`, and fields of a `Config`."""
    if isinstance(node, ast.ClassDef):
        for each in ast.walk(node) if _CONFIG_CLASS.fullmatch(node.name) else ():
            yield from _of_field(each)
        return
    for target in node.targets:
        root = _root(target)
        is_constant = root is not None and root.isupper() and not isinstance(target, ast.Name)
        if root is not None and (is_constant or _CONFIG.fullmatch(root)):
            yield from _assigned(target, node.value)


def _of_field(node: ast.AST) -> Iterator[tuple[str, str]]:
    """`width = 64` and `width: int = 64` in a class, `self.width = 64` in its constructor."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    value = getattr(node, "value", None)
    for target in targets:
        if value is not None and isinstance(target, (ast.Name, ast.Attribute)):
            yield from _assigned(target, value)
    if isinstance(node, _FUNCTIONS) and node.name == "__init__":
        names = [each.arg for each in node.args.args][-len(node.args.defaults) :] if node.args.defaults else []
        pairs = zip(names, node.args.defaults, strict=True)
        yield from ((name, ast.unparse(value)) for name, value in pairs if is_literal(value))


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, str]]:
    name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
        name = str(target.slice.value)
    if isinstance(value, ast.Dict):
        for key, inner in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield from ((key.value, ast.unparse(inner)),) if is_literal(inner) else ()
    if name and is_literal(value):
        yield name, SECTION if isinstance(value, ast.Dict) else ast.unparse(value)


def _root(node: ast.expr) -> str | None:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        inner = node.value
        if isinstance(node, ast.Attribute) and isinstance(inner, ast.Name) and inner.id == "self":
            return node.attr
        node = inner
    return node.id if isinstance(node, ast.Name) else None


def _sections(node: ast.Attribute) -> Iterator[tuple[str, str]]:
    """`cfg.MODEL.WIDTH`: what stands in the middle holds others."""
    middle = node.value
    if isinstance(middle, ast.Attribute):
        root = _root(middle)
        if root is not None and root != middle.attr and _CONFIG.fullmatch(root):
            yield middle.attr, SECTION


def _of_table(table: object) -> Iterator[tuple[str, str]]:
    for name, value in table.items() if isinstance(table, dict) else ():
        yield str(name), SECTION if isinstance(value, dict) else repr(value)
        yield from _of_table(value)
