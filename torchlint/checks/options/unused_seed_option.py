"""TL305 unused-seed-option: a program takes a seed from its user, and no code reads it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.diagnostics import Related
from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.containment import objects_in
from torchlint.facts.flow.tracker import Flow, follow
from torchlint.facts.flow.values import Exit, Others, Value
from torchlint.facts.functions import own_scope, parameters_by_keyword, positional_parameters
from torchlint.facts.options.configurations import configurations
from torchlint.facts.options.declared import KEPT, SEED
from torchlint.facts.options.settings import PARSER, OptionsAnalysis, parsers_of
from torchlint.facts.scopes import CallSite, Scope, ScopeKind, Site
from torchlint.facts.tree import last_word
from torchlint.facts.values import argument_of, may_be_hidden
from torchlint.project.call_graph import is_reached
from torchlint.project.configurations import is_ignored, is_loaded_elsewhere, loading_files
from torchlint.project.index import Project

_CODE = "TL305"
_PARSED = "the options are parsed"
_CONVERTERS = frozenset({"builtins.int", "builtins.float", "builtins.str"})
_DYNAMIC = frozenset(
    {"builtins.eval", "builtins.exec", "builtins.globals", "builtins.locals", "click.get_current_context"}
)
_MAKERS = frozenset({"tyro.cli", "simple_parsing.parse", "pyrallis.parse", "draccus.parse"})
"""Functions that make an object of the class they are given, from the command line."""


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Whether no other file reads it either; a class of options is only looked at where a program starts."""
    if is_test(draft.path) or not project.uses_torch(draft.path):
        return None
    if draft.message == "field" and not project.programs_starting_in(draft.path):
        return None
    analyses = project.flows.contained(draft.exits, lambda facts: OptionsAnalysis(facts, draft.values["name"]))
    if analyses is None or draft.message != "default":
        return None if analyses is None else draft
    parsed = [Related(one.facts.locate(call), _PARSED) for one in analyses for call in one.parsed]
    return replace(draft, related=(*draft.related, *parsed)) if draft.related or parsed else None


@check(
    codes=(_CODE,),
    triggers=Triggers(methods=frozenset({"add_argument"}), calls=frozenset({"click.option"})),
    judge=_judge,
)
def find_options(visit: Visit) -> Iterator[Finding]:
    """`add_argument("--seed")` and `@click.option("--seed")`."""
    is_of_seed = any("seed" in name for name in _strings(visit.call))
    if not is_of_seed or _does_more(visit) or visit.facts.cached(_is_dynamic):
        return
    option = _named(visit.call)
    if option is None:
        return
    values = {"option": option[0], "name": option[1]}
    if visit.callee() == "click.option":
        command = _command(visit.facts, visit.site)
        if command is not None and _ignores(visit.facts, command, option[1]):
            yield Finding(_CODE, visit.node, values, "parameter")
        return
    function = visit.call.func
    parsers = parsers_of(visit.facts, function.value, visit.scope) if isinstance(function, ast.Attribute) else None
    if not parsers:
        return
    analysis = OptionsAnalysis(visit.facts, option[1])
    flow = follow(analysis, *(Value(parser, label=PARSER) for parser in parsers))
    if flow.is_contained:
        parsed = sorted(analysis.parsed, key=lambda call: (call.lineno, call.col_offset))
        related = tuple((call, _PARSED) for call in parsed)
        yield Finding(_CODE, visit.node, values, related=related, exits=tuple(flow.exits))


def _fields(facts: FileFacts) -> Iterator[Site]:
    """The statements that declare a field `seed`."""
    for site in facts.symbols.assign_sites:
        node = site.node
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and SEED.fullmatch(node.target.id):
            yield Site(node, site.scope, node)


@check(codes=(_CODE,), triggers=Triggers(sites=_fields), judge=_judge)
def find_fields(visit: Visit) -> Iterator[Finding]:
    """A field `seed` of a dataclass of options."""
    field = visit.assignment
    if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
        return
    name = field.target.id
    owner = _dataclass_of(visit.facts, field) if SEED.fullmatch(name) else None
    # Its lines with the comment on them, and the line after, which may hold its description.
    words = "\n".join(visit.facts.source.lines[field.lineno - 1 : (field.end_lineno or field.lineno) + 1])
    if owner is None or KEPT.search(words) or visit.facts.cached(_is_dynamic):
        return
    flow = _field_flow(visit.facts, owner, name)
    if flow is not None and flow.is_contained:
        values = {"name": name, "owner": owner.name}
        others = Exit(visit.facts.full_name(owner.index), Others(), (), "")
        yield Finding(_CODE, visit.node, values, "field", exits=(others, *flow.exits))


def _named(call: ast.Call) -> tuple[str, str] | None:
    """The option as users write it, and what holds its value: by a name of its own, else by its first long flag.

    click names it among the flags (click 8.3, core.py `Option._parse_decls`), argparse by `dest`.
    """
    flags = _strings(call)
    long = next((flag for flag in flags if flag.startswith("--")), None)
    if long is None or "/" in long or len(flags) < len(call.args):
        return None
    name = argument_of(call, "dest", None)
    own = name.value if isinstance(name, ast.Constant) else next((flag for flag in flags if flag.isidentifier()), None)
    held = long.lstrip("-").replace("-", "_") if name is None and own is None else str(own)
    return (long, held) if SEED.fullmatch(held) else None


def _strings(call: ast.Call) -> list[str]:
    return [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def _does_more(visit: Visit) -> bool:
    """Whether the option acts by itself, or is kept though it does nothing."""
    call = visit.call
    if may_be_hidden(call, None) or any(k.arg in ("callback", "expose_value", "is_eager") for k in call.keywords):
        return True
    said, action, converter = (argument_of(call, name, None) for name in ("help", "action", "type"))
    if said is not None and KEPT.search(ast.unparse(said)):
        return True
    if action is not None and visit.value(action).constants != ("store",):
        return True
    name = "" if converter is None else visit.names(converter).only or ""
    return converter is not None and name not in _CONVERTERS and not name.startswith("click.")


def _is_dynamic(facts: FileFacts) -> bool:
    """Code that may read any name, or reads the command line by itself."""
    parents = facts.index.parents
    lines = (one for one in parents if last_word(one) == "argv" and isinstance(getattr(one, "ctx", None), ast.Load))
    return any(not _is_plain_use(parents, one) for one in lines) or any(
        facts.names(site.node.func, site.scope).only in _DYNAMIC for site in facts.symbols.calls
    )


def _is_plain_use(parents: Mapping[ast.AST, ast.AST], arguments: ast.AST) -> bool:
    """`sys.argv[0]`, `len(sys.argv)`, `parse_args(sys.argv[1:])`."""
    above = parents[arguments]
    if isinstance(above, ast.Subscript):
        if isinstance(above.slice, ast.Constant) and above.slice.value == 0:
            return True
        above = parents[above]
    word = last_word(above.func) if isinstance(above, ast.Call) else ""
    return word == "len" or word.startswith("parse_")


def _command(facts: FileFacts, site: CallSite) -> ast.FunctionDef | None:
    """The function that a decorator makes a command of, unless another decorator may take its options away."""
    function = site.statement
    if not isinstance(function, ast.FunctionDef) or site.node not in function.decorator_list:
        return None
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        names = facts.names(called, site.scope).names
        is_command = isinstance(called, ast.Attribute) and called.attr in ("command", "group")
        is_known = is_command or any(one.startswith("click.") for one in names)
        if not is_known or any("pass_" in one for one in names):
            return None
    annotations = [one.annotation for one in (*function.args.args, *function.args.kwonlyargs) if one.annotation]
    if any("Context" in ast.unparse(one) for one in annotations):
        return None  # it holds the options as well
    return function


def _ignores(facts: FileFacts, function: ast.FunctionDef, name: str) -> bool:
    """Whether a function has this parameter, does something and never reads it."""
    scope = next((one for one in facts.symbols.scopes if one.node is function and one.kind is ScopeKind.FUNCTION), None)
    if scope is None or name not in (*positional_parameters(scope), *parameters_by_keyword(scope)):
        return False
    is_stub = all(
        isinstance(one, (ast.Pass, ast.Raise)) or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        for one in function.body
    )
    return not is_stub and not facts.index.reads(scope.index, name)


def _dataclass_of(facts: FileFacts, field: ast.AnnAssign) -> Scope | None:
    """The dataclass without bases, at the top of the file, that a field belongs to."""
    if {"InitVar", "ClassVar"} & {last_word(one) for one in ast.walk(field.annotation)}:
        return None  # no field: `__post_init__` gets it, or the class keeps it
    owner = facts.symbols.scopes[facts.symbols.scope_of[field]]
    node = owner.node
    if owner.kind is not ScopeKind.CLASS or owner.parent != 0 or not isinstance(node, ast.ClassDef) or node.bases:
        return None
    decorators = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    is_dataclass = len(decorators) == 1 and facts.names(decorators[0], 0).only == "dataclasses.dataclass"
    is_only_one = own_scope(facts, facts.full_name(owner.index)) == owner.index
    return owner if is_dataclass and is_only_one else None


def _field_flow(facts: FileFacts, owner: Scope, name: str) -> Flow | None:
    """Where the objects of a dataclass go, to tell who reads a field; None where not all of them are seen."""
    made, held = [], [Value(read) for read in objects_in(facts, owner)]
    for read in facts.index.reads(0, owner.name):
        parent = facts.index.parents[read]
        called = facts.names(parent.func, facts.index.scope_of(parent)).only if isinstance(parent, ast.Call) else None
        if isinstance(parent, ast.Call) and (parent.func is read or called in _MAKERS):
            made.append(Value(parent))
        elif isinstance(parent, ast.arg):
            function = facts.index.parents[facts.index.parents[parent]]
            scopes = (one for one in facts.symbols.scopes if one.node is function)
            held += [Value(one) for scope in scopes for one in facts.index.reads(scope.index, parent.arg)]
        elif read not in (getattr(parent, "annotation", None), getattr(parent, "returns", None)):
            return None
    return follow(OptionsAnalysis(facts, name), *made, *held) if made else None


def _judge_configured(draft: Draft, project: Project) -> Draft | None:
    """Whether a program trains with this configuration, and no source of the project speaks of a seed that it sets."""
    found = (one for one in project.summaries[draft.path].configurations if one.location == draft.location)
    configuration = next(found, None)
    if configuration is None or is_test(draft.path):
        return None
    files = project.configuration_files
    # Another program may load the same file and read the seed: one that speaks of such a key is believed to.
    loaded = project.programs.calls.loaded(loading_files(configuration, project))
    given = (seed for seed in files.seeds_for(configuration, draft.path) if not files.interpolates(seed.name))
    silent = [seed for seed in given if not project.texts.speak_of(seed.name, loaded)]
    if not silent or is_loaded_elsewhere(configuration, project):
        return None
    seeds = [seed for seed in silent if is_ignored(configuration, seed.keys, draft.path, project)]
    # A program that this file starts has to load it and train: a library's own file may belong to old weights.
    symbol, programs = (draft.path, configuration.symbol), project.programs_starting_in(draft.path)
    loading = (program for program in programs if is_reached(symbol, program.reached, project.summaries))
    if not seeds or all(project.randomness_of(program).training is None for program in loading):
        return None
    values = {"file": seeds[0].location.shown_line, "key": ".".join(seeds[0].keys)}
    related = tuple(Related(seed.location, f"sets `{'.'.join(seed.keys)}`") for seed in seeds)
    return replace(draft, values=values, related=related)


def _loading(facts: FileFacts) -> Iterator[CallSite]:
    found = facts.cached(configurations)
    return (site for site in facts.symbols.calls if site.node in found)


@check(codes=(_CODE,), triggers=Triggers(sites=_loading), judge=_judge_configured)
def configured(visit: Visit) -> Iterator[Finding]:
    """`yaml.safe_load(file)`, `OmegaConf.load("train.yaml")`, `@hydra.main(...)`, `load_config("train.yaml")`."""
    if visit.call in visit.facts.cached(configurations):
        yield Finding(_CODE, visit.node, message="configured")
