"""TL116 in CUDA source: in a string, or behind a call of an extension that the project compiles."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec.structs import replace

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit, shortened
from torchlint.diagnostics import Confidence, Location, Related
from torchlint.facts.classes import base_classes, base_names
from torchlint.facts.definitions import only_value, seen_values
from torchlint.facts.entries import is_beside_training
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import Binding, CallSite
from torchlint.facts.tree import last_word
from torchlint.facts.values import argument_of
from torchlint.project.extensions import Extensions
from torchlint.project.index import Project
from torchlint.project.shown import shown_path
from torchlint.source.cuda import atomic_additions

_CODE = "TL116"
_COMPILERS = {
    "torch.utils.cpp_extension.load_inline": ("cuda_sources", 2),
    "torch.cuda._compile_kernel": ("kernel_source", 0),
    "cupy.RawKernel": ("code", 0),
    "cupy.RawModule": ("code", 0),
    "pycuda.compiler.SourceModule": ("source", 0),
}
"""Which argument of each function holds CUDA source."""
_LOADED = "torch.utils.cpp_extension.load()."
_OPS = "torch.ops."
_FUNCTION = "torch.autograd.Function"
_COMPILED = re.compile(r"(?:^|[._])(?:C|ext|extension|gpu|kernels?|ops?|backend|native)(?:$|[._])|cuda|Attention")
"""Names of modules that are mostly compiled; inside an autograd Function any module that is not seen may be."""
_OTHERS = frozenset({"torch", "torchvision", "numpy", "scipy", "cv2", "math", "os", "time", "logging", "functools"})


@check(codes=(_CODE,), triggers=Triggers(calls=frozenset(_COMPILERS)))
def find(visit: Visit) -> Iterator[Finding]:
    """Each line of a source string that adds floats atomically."""
    argument = _COMPILERS.get(visit.callee() or "")
    given = argument_of(visit.call, *argument) if argument else None
    for text in _strings(visit, given, visit.scope):
        lines = (text.end_lineno or text.lineno) - text.lineno  # one with escaped line breaks has fewer in the file
        for line, name in atomic_additions(str(text.value)):
            yield Finding(_CODE, visit.node, {"name": name}, "cuda", line=text.lineno + min(line, lines))


def _strings(visit: Visit, given: ast.expr | None, scope: int) -> Iterator[ast.Constant]:
    """The string constants that an argument is, through names and lists."""
    for value, where in seen_values(visit.facts, given, scope) if given is not None else ():
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value
        for element in value.elts if isinstance(value, (ast.List, ast.Tuple)) else ():
            yield from _strings(visit, element, where)


def _judge_extension(draft: Draft, project: Project) -> Draft | None:
    """Where a source of the project binds the function, and what that calls adds atomically."""
    if is_beside_training(draft.path) or not project.has_gpu(draft.path):
        return None
    modules = draft.values["modules"].split()
    kernel = project.cached(_extensions).kernel_behind(modules, draft.values["function"], draft.path)
    if kernel is None:
        return None
    path = shown_path(project.root, kernel.path)
    place = Location(path, None, kernel.addition.line, 1, kernel.addition.line, 1)
    values = {**draft.values, "name": kernel.addition.name, "place": place.shown_line}
    confidence = draft.confidence if kernel.is_sure else Confidence.MEDIUM
    related = (*draft.related, Related(place, "adds floats atomically"))
    return replace(draft, values=values, confidence=confidence, related=related)


def _extensions(project: Project) -> Extensions:
    return Extensions(None if project.is_alone else project.root, project.contents, project.outside)


def _extension_calls(facts: FileFacts) -> Iterator[CallSite]:
    """Calls of functions that may be compiled; most files import none."""
    words = (f"{target.module}.{target.name or ''}" for target, _ in facts.symbols.imports if target.module != "torch")
    has_functions = facts.source.mentions("autograd") and any(base == _FUNCTION for _, base in base_classes(facts))
    may_call = has_functions or facts.source.mentions("cpp_extension", "torch.ops") or any(map(_COMPILED.search, words))
    if may_call and facts.imports_torch:
        outside = (site for site, names in facts.calls.named if not names.of_project)
        yield from (site for site in outside if _compiled_function(facts, site))


@check(codes=(_CODE,), triggers=Triggers(sites=_extension_calls), judge=_judge_extension)
def extension(visit: Visit) -> Iterator[Finding]:
    """A call of a function that may be compiled; whether it is, and adds, the project's sources say."""
    called = _compiled_function(visit.facts, visit.site)
    if called is not None:
        modules, function = called
        spelling = shortened(ast.unparse(visit.call.func)) + "(...)"
        values = {"spelling": spelling, "modules": " ".join(sorted(modules)), "function": function}
        yield Finding(_CODE, visit.node, values, "extension")


def _compiled_function(facts: FileFacts, site: CallSite) -> tuple[frozenset[str], str] | None:
    """The extension, by the names that it may have, and the function of it that a call runs."""
    function = site.node.func
    name = facts.names(function, site.scope)
    if name.only is not None and name.only.startswith(_OPS):
        return frozenset({name.only.split(".")[-2]}), name.only.split(".")[-1]
    if name.of_project:
        return None
    if name.only is not None and name.only.startswith(_LOADED):
        return frozenset({_loaded_extension(facts, site)} - {""}), name.only.removeprefix(_LOADED)
    held = function.value if isinstance(function, ast.Attribute) else function
    bindings = facts.bindings(held, site.scope)
    modules = frozenset({_extension(one, is_function=held is function) for one in bindings} - {""})
    is_compiled = any(map(_COMPILED.search, modules))
    owner = facts.class_of(site.scope) if modules and not is_compiled else None
    is_compiled = is_compiled or (owner is not None and _FUNCTION in base_names(facts, owner))
    return (modules, last_word(function)) if is_compiled else None


def _extension(binding: Binding, *, is_function: bool) -> str:
    """The module that a name stands for, or is imported from."""
    target = binding.target
    if target is None or (not target.level and target.module.partition(".")[0] in _OTHERS):
        return ""
    whole = target.module if is_function else target.name or target.module
    return whole.rpartition(".")[2]


def _loaded_extension(facts: FileFacts, site: CallSite) -> str:
    """The name under which `load(name="shift", ...)` compiles what a call uses; empty where another file says it."""
    held = site.node.func.value if isinstance(site.node.func, ast.Attribute) else None
    made, scope = only_value(facts, held, site.scope)
    name = argument_of(made, "name", 0) if isinstance(made, ast.Call) else None
    return "" if name is None else facts.value(name, scope).text or ""
