"""Options of programs, and what they are by default: of `argparse`, click, typer, absl and dataclasses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from torchlint.facts.functions import decorators_of
from torchlint.facts.notation import maker_of
from torchlint.facts.scopes import BindingKind, CallSite, ScopeKind
from torchlint.facts.tree import last_word
from torchlint.facts.values import Constant, argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


_DATACLASSES = frozenset(
    {"dataclasses.dataclass", "attr.s", "attr.define", "attrs.define", "chz.chz", "pydantic.dataclasses.dataclass"}
)
_FIELDS = frozenset({"dataclasses.field", "attr.field", "attrs.field", "pydantic.Field", "typer.Option"})
_OF_OPTIONS = re.compile(r"arg|conf|cfg|opt|setting|param|flag", re.IGNORECASE)
"""In the name of a class whose fields are options."""
_SWITCHED_ON = {"store_true": False, "store_false": True}
_DECLARING = frozenset({"add_argument", "option", "set_defaults"})
_DEFINING = "DEFINE_"
SEED = re.compile(
    r"(?:(?:random|rand|rng|global|manual|torch|np|numpy|data|train|training|base|master|init|initial|split|shuffle)_?)?seed"
)
KEPT = re.compile(r"deprecat|unused|not used|ignored|compat|legacy|no effect|obsolete|suppress", re.IGNORECASE)
"""Said of an option that is known to do nothing."""


class Option(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An option by the name that code reads it by, as users write it, and its default, where that is seen."""

    name: str
    shown: str
    default: tuple[Constant, ...]


def option_defaults(facts: FileFacts, attribute: str) -> tuple[Constant, ...]:
    """What `args.attribute` is when nobody gives the option; empty where the file declares none of that name."""
    return next((one.default for one in reversed(facts.cached(options_in)) if one.name == attribute and one.shown), ())


def untouched_defaults(facts: FileFacts, attribute: str) -> tuple[Constant, ...]:
    """The same; empty as well where code of the file sets it."""
    is_set = any(one.name == attribute and not one.shown for one in facts.cached(options_in))
    return () if is_set else option_defaults(facts, attribute)


def command_defaults(facts: FileFacts, function: int, parameter: str) -> tuple[Constant, ...]:
    """What a parameter of a command of click is when nobody gives its option; empty where it has none."""
    above = getattr(facts.symbols.scopes[function].node, "decorator_list", ())
    sites = [site for site in facts.calls.find(words={"option"}) if site.node in above] if above else []
    return next((one.default for site in sites for one in _of_call(facts, site) if one.name == parameter), ())


def held_default(facts: FileFacts, value: ast.expr, scope: int) -> tuple[Constant, ...]:
    """The default that `field(default=0.1)` or `typer.Option(0.1)` says; empty for other calls."""
    is_held = isinstance(value, ast.Call) and facts.names(value.func, scope).only in _FIELDS
    return facts.value(argument_of(value, "default", 0), scope).constants if is_held else ()  # type: ignore[arg-type]


def options_in(facts: FileFacts) -> tuple[Option, ...]:
    """The options that a file declares; one without a default is set by code, or is required. Asked by `once`."""
    words = (word for word in facts.calls.words if word in _DECLARING or word.startswith(_DEFINING))
    found = [one for site in facts.calls.find(words=words) for one in _of_call(facts, site)]
    return tuple(dict.fromkeys([*found, *_fields(facts), *_stored(facts)]))


def _of_call(facts: FileFacts, site: CallSite) -> Iterator[Option]:
    call, word = site.node, last_word(site.node.func)
    if word == "add_argument" or (word == "option" and facts.names(call.func, site.scope).only == "click.option"):
        yield from options_of_flags(facts, site)
    elif word == "set_defaults":
        yield from (Option(one.arg, "", ()) for one in call.keywords if one.arg is not None)
    elif word.startswith(_DEFINING) and call.args and isinstance(call.args[0], ast.Constant):
        name = str(call.args[0].value)
        yield Option(name, f"--{name}", facts.value(argument_of(call, "default", 1), site.scope).constants)


def options_of_flags(facts: FileFacts, site: CallSite) -> Iterator[Option]:
    """`add_argument("--seed", type=int)`, `click.option("--fast/--slow", default=True)`."""
    flags = [a.value for a in site.node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    long = next((flag for flag in flags if flag.startswith("--") or len(flag) > len("-s")), None)
    held = argument_of(site.node, "dest", None)
    if long is not None:
        shown = long.partition("/")[0]
        name = str(held.value) if isinstance(held, ast.Constant) else shown.lstrip("-").replace("-", "_")
        yield Option(name, shown, _default(facts, site))


def _default(facts: FileFacts, site: CallSite) -> tuple[Constant, ...]:
    default = argument_of(site.node, "default", None)
    if default is not None:
        return facts.value(default, site.scope).constants
    action = facts.value(argument_of(site.node, "action", None), site.scope).only(str)
    if action in _SWITCHED_ON:
        return (_SWITCHED_ON[action],)
    given = {keyword.arg for keyword in site.node.keywords}
    if "is_flag" in given:
        return (False,)
    return () if given & {"action", "required", "nargs", None} else (None,)


def _fields(facts: FileFacts) -> Iterator[Option]:
    """Fields with a default of a class of options: of `@dataclass` or `@dataclass(frozen=True)`."""
    for scope in facts.symbols.scopes:
        if scope.kind is not ScopeKind.CLASS or not _OF_OPTIONS.search(scope.name):
            continue
        decorators = {maker_of(name or "") for name in decorators_of(facts, scope)}
        for name, bindings in scope.bindings.items() if decorators & _DATACLASSES else ():
            value = bindings[0].value
            if len(bindings) == 1 and bindings[0].annotation is not None and value is not None:
                default = facts.value(value, scope.index).constants or held_default(facts, value, scope.index)
                yield Option(name, name, default)


def _stored(facts: FileFacts) -> Iterator[Option]:
    """`args.seed = 3` settles an option, whoever declares it."""
    for assignment in facts.symbols.assignments:
        target = assignment.target
        if isinstance(target, ast.Attribute) and _OF_OPTIONS.search(last_word(target.value)):
            kinds = {binding.kind for binding in facts.bindings(target.value, assignment.scope)}
            if not kinds & {BindingKind.IMPORT, BindingKind.DEFINITION}:
                yield Option(target.attr, "", ())
