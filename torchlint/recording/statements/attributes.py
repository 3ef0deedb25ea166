"""The attributes that the flagged statement assigns to: what they held before, right after and at the end."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from types import FrameType

from torchlint.recording.originals import attribute_of_user
from torchlint.recording.statements.observed import Write, shown


class WatchedAttribute:
    """One attribute that the flagged statement assigns to."""

    def __init__(self, spelled: str, base: object, name: str, *, is_known: bool) -> None:
        self._spelled = spelled
        self._base = base
        self._name = name
        self._is_known = is_known
        self._before = self._read()
        self._after: object = _MISSING
        self._is_read = False
        self._end: object = self._before

    def read(self, *, is_end: bool) -> None:
        """After the line has run, and when code returns: what stood in for parts of torch goes after that."""
        if not self._is_read:
            self._after, self._is_read = self._read(), True
        if is_end:
            self._end = self._read()

    def as_seen(self) -> Write:
        values = (self._before, self._after if self._is_read else self._end, self._end)
        return Write(
            name=self._spelled,
            is_known=self._is_known,
            before=shown(values[0]),
            after=shown(values[1]),
            end=shown(values[2]),
            were_callable=[callable(value) for value in values],
            exists=[value is not _MISSING for value in values],
            siblings=self._siblings(),
        )

    def _read(self) -> object:
        try:
            return attribute_of_user(self._base, self._name, _MISSING)
        except RuntimeError:  # some switches refuse to be read beside others
            return _MISSING

    def _siblings(self) -> dict[str, str]:
        """The other plain settings of that namespace: the intended one is among them."""
        found = {}
        for name in {*dir(self._base), *dir(type(self._base))}:
            try:
                value = None if name.startswith("_") or name == self._name else getattr(self._base, name, None)
            except RuntimeError:
                continue
            if isinstance(value, (bool, int, float, str)):
                found[name] = shown(value)
        return found


class _Missing:
    def __repr__(self) -> str:
        return "missing"


_MISSING = _Missing()


def names_of_torch() -> dict[int, set[str]]:
    """What the namespaces have before the user's code runs."""
    modules = [value for name, value in sys.modules.items() if name == "torch" or name.startswith("torch.")]
    return {id(module): set(getattr(module, "__dict__", ())) for module in modules}


def attribute_targets(statement: ast.stmt) -> list[tuple[ast.expr, str]]:
    """(namespace, attribute) for `torch.backends.cudnn.benchmark = True` and `setattr(torch, "manual_seed", 42)`."""
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        targets = [statement.target]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        is_setter = isinstance(call.func, ast.Name) and call.func.id == "setattr" and len(call.args) == 3
        name = call.args[1] if is_setter else None
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            return [(call.args[0], name.value)]
        return []
    else:
        return []
    flat = [item for target in targets for item in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return [(target.value, target.attr) for target in flat if isinstance(target, ast.Attribute)]


def resolved(
    targets: list[tuple[ast.expr, str]], frame: FrameType, known: dict[int, set[str]]
) -> Iterator[WatchedAttribute]:
    for base, name in targets:
        try:
            namespace = _evaluated(base, frame)
        except AttributeError:
            continue  # the line raises it too, and that is noted
        if namespace is None:
            continue
        names = known.get(id(namespace))
        spelled = f"{getattr(namespace, '__name__', None) or ast.unparse(base)}.{name}"
        # Switches may be properties of the namespace's class: what counts is that no earlier line made the name.
        is_own = names is not None and name in vars(namespace) and name not in names
        yield WatchedAttribute(spelled, namespace, name, is_known=hasattr(namespace, name) and not is_own)


def _evaluated(node: ast.expr, frame: FrameType) -> object:
    """A dotted name, without running anything."""
    if isinstance(node, ast.Attribute):
        return getattr(_evaluated(node.value, frame), node.attr)
    if not isinstance(node, ast.Name):
        return None
    return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
