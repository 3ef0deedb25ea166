"""TL204, TL205 and TL206: what torch <= 2.9 asks of CUBLAS_WORKSPACE_CONFIG under the determinism mode.

torch 2.10 dropped the requirement; see `rules/TL204-*.toml` for the sources.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec.structs import replace

from torchlint.catalogue import Catalogue
from torchlint.catalogue.programs import ModeSwitch
from torchlint.catalogue.versions import TorchTarget, VersionRange
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, SettingFinding, Triggers, check
from torchlint.checks.framework.visit import WRITERS, Visit, shortened, writes
from torchlint.diagnostics import Confidence, Related, Severity
from torchlint.facts.accelerators import CUDA
from torchlint.facts.context_operators import CONTEXT
from torchlint.facts.control.order import position_of, precedes
from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.facts.modes import Mode, mode_call
from torchlint.facts.tensors.devices import Device, is_cuda_device, moved_to
from torchlint.facts.tree import method_called
from torchlint.project.index import Project
from torchlint.source.text import EnvironmentSetting

_VARIABLE = "CUBLAS_WORKSPACE_CONFIG"
_VALID = frozenset({":4096:8", ":16:8", ""})
"""An empty value takes the setting back; it is no misspelled one."""
_NEEDED = VersionRange.parse("<2.10")
_LAST_THAT_ASKS = "2.9"
_FUNCTIONS = frozenset(
    f"torch.{name}" for name in ("mm", "mv", "bmm", "matmul", "addmm", "baddbmm", "einsum", "nn.functional.linear")
)
_MULTIPLYING = frozenset({"cublas_gemm", "attention_modules", "cudnn_rnn"})
_CONVOLUTION = "convolution"
"""Context operators of the registry: the first do multiply, of a convolution cuDNN decides."""
_METHODS = frozenset({"backward", "mm", "bmm", "matmul"})


def _switches(catalogue: Catalogue) -> dict[str, ModeSwitch]:
    """The calls that set the determinism mode."""
    return {switch.call: switch for switch in catalogue.programs.mode}


def _triggers(catalogue: Catalogue, _: frozenset[str]) -> Triggers:
    switches = frozenset(_switches(catalogue))
    return Triggers(calls=switches | WRITERS, assigned=switches, keys=frozenset({_VARIABLE}))


def _judge(draft: Draft, project: Project) -> Draft | None:
    target = project.target_for(draft.path)
    # Unpinned projects may run on any release.
    may_need = not target.pinned or any(release in _NEEDED for release in target.releases)
    if is_test(draft.path) or "cuda" not in project.devices_for(draft.path) or not may_need:
        return None
    words = {} if target.pinned else {"judged_for": f"{target}, {_VARIABLE} for {_LAST_THAT_ASKS} and older too"}
    draft = replace(draft, values={**draft.values, **target.words, **words})
    if draft.code == "TL204":
        if project.frameworks_set(_VARIABLE):
            return None
        found = [write for write in project.environment if write.name == _VARIABLE]
        if not found:
            return _missing(draft, project)
        outside = [
            write for write in found if _is_wrong(write.value) and not write.location.path.endswith((".py", ".ipynb"))
        ]
        if not outside or len(outside) < len(found) or "TL205" not in project.settings.selected:
            return None
        severity = None if _always_needs(target) else Severity.WARNING
        related = (*draft.related, Related(outside[0].location, "set here"))
        values = {**draft.values, "value": outside[0].value or ""}
        return replace(draft, code="TL205", values=values, message="default", severity=severity, related=related)
    if not project.turns_mode_on:
        return None
    return draft if _always_needs(target) else replace(draft, severity=Severity.WARNING)


def _always_needs(target: TorchTarget) -> bool:
    return target.pinned and all(release in _NEEDED for release in target.releases)


def _missing(draft: Draft, project: Project) -> Draft | None:
    # What the programs that load the call compute; who uses a library's call is not known, and will multiply.
    programs = project.programs.reaching(draft.path) if project.program is None else [project.program]
    loaded = project.programs.calls.loaded(file for program in programs for file in program.files)
    summaries = [project.summaries[file] for file in sorted(loaded & project.summaries.keys())]
    operators = {use.operator for summary in summaries for use in CONTEXT.of(summary)}
    is_convolving = _CONVOLUTION in operators and not operators & _MULTIPLYING
    is_multiplying = not programs or (
        bool(operators & _MULTIPLYING) and any(CUDA in project.devices_in(one.path) for one in summaries)
    )
    seen = "products" if is_multiplying else "convolutions" if is_convolving else "unseen"
    if draft.message == "assigned":
        # The author of a program that assigns the switch asks for the mode, and products will raise.
        is_run = seen == "products" and bool(project.programs.reaching(draft.path)) and not project.turns_mode_on
        return replace(draft, severity=Severity.WARNING, confidence=Confidence.MEDIUM) if is_run else None
    is_mild = draft.message == "warn_only"
    if seen != "products":
        message = draft.message if is_mild else seen
        return replace(draft, message=message, severity=Severity.WARNING, confidence=Confidence.MEDIUM)
    if not is_mild and _always_needs(project.target_for(draft.path)):
        return replace(draft, message="required")
    return replace(draft, message=draft.message if is_mild else "older", severity=Severity.WARNING)


def _is_wrong(value: str | None) -> bool:
    return value is not None and value not in _VALID


def _on_setting(setting: EnvironmentSetting, _facts: FileFacts) -> Iterator[SettingFinding]:
    """`%env CUBLAS_WORKSPACE_CONFIG=...` in a notebook."""
    if setting.name == _VARIABLE and setting.in_process and _is_wrong(setting.value):
        yield SettingFinding("TL205", {"value": setting.value})


@check(codes=("TL204", "TL205", "TL206"), triggers=_triggers, judge=_judge, on_setting=_on_setting, asks=(CONTEXT,))
def find(visit: Visit) -> Iterator[Finding]:
    """The calls that turn the mode on, and the writes of the variable that are wrong or too late."""
    if isinstance(visit.node, ast.Call):
        call = mode_call(visit.facts, visit.site, _switches(visit.catalogue))
        is_plain = call is not None and call.parameter is None and _VARIABLE not in call.sets
        if call is not None and is_plain and call.mode in (Mode.ON, Mode.WARN_ONLY):
            variant = "warn_only" if call.mode is Mode.WARN_ONLY else "default"
            yield Finding("TL204", visit.node, message=variant, torch=call.torch)
    if isinstance(visit.node, ast.Assign) and _assigns_the_switch(visit, visit.node):
        yield Finding("TL204", visit.node, message="assigned")
    if isinstance(visit.node, (ast.Assign, ast.Call)):
        for value in writes(visit, _VARIABLE):
            product = _product_before(visit) if not _is_wrong(value) else None
            if value is not None and _is_wrong(value):
                yield Finding("TL205", visit.node, {"value": value})
            elif product is not None:
                # Cells that were run in another order than they stand make the order of a notebook a guess.
                confidence = Confidence.MEDIUM if visit.facts.source.is_run_out_of_order else None
                values, told = {"matmul": shortened(ast.unparse(product))}, ((product, "the product"),)
                yield Finding("TL206", visit.node, values, confidence=confidence, related=told)


def _assigns_the_switch(visit: Visit, statement: ast.Assign) -> bool:
    """`torch.use_deterministic_algorithms = True`, which replaces the function."""
    switches, values = _switches(visit.catalogue), visit.facts.value(statement.value, visit.scope)
    is_on = values.is_known and all(value is True for value in values.constants)
    return is_on and any(visit.names(target).only in switches for target in statement.targets)


def _product_before(visit: Visit) -> ast.expr | None:
    """The first matrix product on CUDA that evidently runs before a write, in the same straight-line code."""
    on_cuda = False
    function = visit.facts.function_of(visit.scope)
    found = [
        (node, scope)
        for above, scope in visit.facts.symbols.scope_of.items()
        if visit.facts.function_of(scope) == function and precedes(visit.facts, above, visit.statement)
        for node in visit.facts.index.within(above)
        if isinstance(node, (ast.Call, ast.BinOp))
    ]
    for expression, scope in sorted(found, key=lambda item: position_of(item[0])):
        on_cuda = on_cuda or (isinstance(expression, ast.Call) and _moves_to_cuda(visit, scope, expression))
        if on_cuda and _is_product(visit, scope, expression):
            return expression
    return None


def _moves_to_cuda(visit: Visit, scope: int, call: ast.Call) -> bool:
    given = [keyword.value for keyword in call.keywords if keyword.arg == "device"]
    moved = moved_to(visit.facts, call, scope) or Device.NONE
    return Device.CUDA in moved or any(is_cuda_device(visit.facts, device, scope) for device in given)


def _is_product(visit: Visit, scope: int, expression: ast.expr) -> bool:
    if isinstance(expression, ast.BinOp):
        return isinstance(expression.op, ast.MatMult)
    assert isinstance(expression, ast.Call)
    is_function = bool(visit.facts.names(expression.func, scope).names & _FUNCTIONS)
    return is_function or method_called(expression) in _METHODS
