"""TL313 partial-checkpoint: a training that can be resumed, but not where it stopped."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec.structs import replace

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.programs import place_leading_to
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit, spelling_of
from torchlint.checks.training.checkpoints import (
    keeps_optimizer,
    loads_optimizer,
    names_optimizer,
    restored_optimizers,
    resumptions,
    saved_models,
    steps_with_state,
)
from torchlint.checks.training.resuming import (
    WRITING,
    counted_from_files,
    counted_on,
    is_written_again,
    loaded_by_option,
    lost_states,
    tests_of_start,
    whole_nets,
    whole_optimizers,
)
from torchlint.diagnostics import Related
from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.facts.places import Place
from torchlint.facts.scopes import CallSite, Site
from torchlint.facts.tree import is_literal_none, is_method_call, last_word
from torchlint.facts.values import argument_of
from torchlint.project.index import Project
from torchlint.project.randomness import RESTORES

_CODE = "TL313"
_MOST_SHOWN = 8
"""Programs that a finding lists."""
_GENERATORS, _COUNTED, _BESIDE, _UNLOADED = "generators", "counted", "beside", "unloaded"
_ELSEWHERE = "elsewhere"
"""Other files step the optimizer."""
_BEST = re.compile(r"best|final|export|pretrain|ema", re.IGNORECASE)
"""Said of files that hold a result, not a state to go on from."""
_LOADING = frozenset({"torch.load", "torch.distributed.checkpoint.load"})
_METHODS = frozenset(
    {"load_state_dict", "load_state", "load_checkpoint", "load_from_checkpoint", "restore_checkpoint", "resume_or_load"}
)
_OPAQUE = frozenset({"pickle.load", "joblib.load", "dill.load", "cloudpickle.load"})
"""What gives whatever was saved: a state, where the words around say so."""
_STATE = re.compile(r"model|checkpoint|ckpt|weight|resume|state_|agent|policy", re.IGNORECASE)
_ASKING = frozenset({"resume_from_checkpoint", "ckpt_path"})
"""Arguments by which a library's trainer goes on from a file."""
_ASKS = frozenset({"os.path.exists", "os.path.isfile", "os.path.lexists"})
_ASKING_METHODS = frozenset({"exists", "is_file"})
_READS = re.compile(r"(?:load|read|open|fetch|restore)")
"""The beginning of the names of what reads a file."""


def _judge(draft: Draft, project: Project) -> Draft | None:
    if is_test(draft.path) or (draft.message == _GENERATORS and project.restores_generators):
        return None
    if draft.message == _COUNTED:  # programs that save load models in other files, and nothing that steps them
        found = _files_saying("load_state_dict", draft, project)
        if not found or _keep_optimizer(found):
            return None
    if draft.values.get("steps") == _ELSEWHERE:  # the programs that go on train in other files, and keep no optimizer
        trained = _files_saying("backward", draft, project)
        is_trained = any(facts is not None and steps_with_state(facts) for facts in trained)
        if not is_trained or _keep_optimizer(_files_saying("load_state_dict", draft, project)):
            return None
    # The calls by which programs of other files that train lead to the function that loads.
    symbol, place = draft.symbol, Place(draft.location, draft.source_line, draft.lines)
    others = (one for one in project.programs.reaching(draft.path) if symbol in one.reached and one.path != draft.path)
    programs = [one for one in others if project.randomness_of(one).training is not None]
    calls = dict.fromkeys(place_leading_to(symbol, place, one, project).location for one in programs)
    resumed = [Related(call, "training is resumed here") for call in list(calls)[:_MOST_SHOWN]]
    return replace(draft, related=(*draft.related, *resumed))


def _keep_optimizer(files: list[FileFacts | None]) -> bool:
    return any(facts is None or facts.cached(keeps_optimizer) for facts in files)


def _files_saying(word: str, draft: Draft, project: Project) -> list[FileFacts | None]:
    """The files of the programs that run the code at hand, as far as they say a word."""
    programs = [one for one in project.programs.reaching(draft.path) if draft.symbol in one.reached]
    files = frozenset(path for program in programs for path in program.files if path in project.summaries)
    return [project.flows.read(path) for path in project.texts.naming(word, files)]


@check(codes=(_CODE,), triggers=Triggers(calls=WRITING), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """`torch.save` of a model or its state alone, in a file that resumes training from such files."""
    facts = visit.facts
    given = argument_of(visit.call, "obj", 0) if visit.callee() in WRITING else None
    if given is None or facts.cached(keeps_optimizer):
        return
    models = whole_nets(facts, given) or saved_models(facts, given, visit.scope)
    if not models or any(names_optimizer(facts, model, visit.scope) for model in models):
        return
    target = argument_of(visit.call, "f", 1)
    if target is not None and _BEST.search(ast.unparse(target)):
        return
    own = facts.class_of(visit.scope)
    by_words = (site for site in resumptions(facts) if own in (None, facts.class_of(site.scope)))
    again = (site for site in facts.symbols.calls if is_method_call(site.node, "load_state_dict"))
    same = (site for site in again if is_written_again(facts, site, visit.site))
    by_option = (site for site in loaded_by_option(facts, models) if own in (None, facts.class_of(site.scope)))
    resumed = next(by_words, None) or next(same, None) or next(by_option, None)
    steps = "" if steps_with_state(facts) else _ELSEWHERE
    counted = None if resumed is not None or steps else next(counted_on(facts), None)
    if resumed is not None:
        related = ((resumed.node, "training is resumed here"),)
        yield Finding(_CODE, visit.node, {**_values(visit, resumed), "steps": steps}, related=related)
    elif counted is not None:
        values = {**_values(visit, visit.site), "counted": ast.unparse(counted.iter)}
        asked = ((test, "asked whether it goes on") for test in tests_of_start(facts, counted))
        places = ((counted.iter, "training goes on from here"), *asked)
        yield Finding(_CODE, visit.node, values, _COUNTED, related=places)


@check(
    codes=(_CODE,),
    triggers=Triggers(sites=lambda facts: facts.cached(restored_optimizers)[:1]),
    judge=_judge,
    asks=(RESTORES,),
)
def resumed(visit: Visit) -> Iterator[Finding]:
    """The first optimizer that goes on from a file, in a project that restores no generator."""
    yield Finding(_CODE, visit.node, _values(visit, visit.site), message=_GENERATORS)


@check(
    codes=(_CODE,),
    triggers=Triggers(sites=lambda facts: facts.cached(whole_optimizers)),
    judge=_judge,
    asks=(RESTORES,),
)
def loaded_whole(visit: Visit) -> Iterator[Finding]:
    """The first optimizer that was saved as an object and goes on from its file."""
    if visit.facts.cached(whole_optimizers)[0].node is visit.node:
        yield Finding(_CODE, visit.node, {"spelling": ast.unparse(visit.node), "symbol": visit.symbol}, _GENERATORS)


@check(
    codes=(_CODE,),
    triggers=Triggers(sites=lambda facts: lost_states(facts) if facts.cached(restored_optimizers) else ()),
    judge=_judge,
)
def beside(visit: Visit) -> Iterator[Finding]:
    """What a training moves on beside its optimizer, in a file that goes on with the optimizer alone."""
    restored = visit.facts.cached(restored_optimizers)[0]
    values = {**_values(visit, restored), "restored": ast.unparse(restored.node.func)}
    yield Finding(_CODE, visit.node, values, _BESIDE, related=((restored.node, "the optimizer goes on here"),))


@check(codes=(_CODE,), triggers=Triggers(sites=lambda facts: facts.cached(_unloaded)), judge=_judge)
def unloaded(visit: Visit) -> Iterator[Finding]:
    """A file that training goes on from, whose optimizer nothing loads."""
    loop = next(loop for loop, load in counted_from_files(visit.facts) if load is visit.node)
    values = {**_values(visit, visit.site), "counted": ast.unparse(loop.iter)}
    yield Finding(_CODE, visit.node, values, _UNLOADED, related=((loop.iter, "training goes on from here"),))


def _unloaded(facts: FileFacts) -> list[CallSite]:
    """The calls that load what training goes on from, where the optimizer's state is saved and never loaded."""
    counted = {load for _, load in counted_from_files(facts)} if facts.source.mentions("load_state_dict") else set()
    if not counted or not steps_with_state(facts) or loads_optimizer(facts) or not facts.cached(keeps_optimizer):
        return []
    calls = facts.symbols.calls
    into_models = {facts.function_of(one.scope) for one in calls if is_method_call(one.node, "load_state_dict")}
    return [site for site in calls if site.node in counted and facts.function_of(site.scope) in into_models]


def _values(visit: Visit, resumed: CallSite) -> dict[str, str]:
    """What a finding says, and the function that goes on with a training, for the project."""
    return {"spelling": spelling_of(visit), "symbol": visit.facts.symbol_of(resumed)}


def _judge_open(draft: Draft, project: Project) -> Draft | None:
    is_beside = is_test(draft.path) or project.restores_generators
    return None if is_beside or not project.may_train(draft.symbol) else draft


def _asked_to_resume(facts: FileFacts) -> list[CallSite]:
    given = ((site, one) for site in facts.calls.find(keywords=_ASKING) for one in site.node.keywords)
    return [site for site, one in given if one.arg in _ASKING and not is_literal_none(one.value)]


@check(
    codes=(_CODE,),
    triggers=Triggers(calls=_LOADING | _OPAQUE, methods=_METHODS, sites=_asked_to_resume),
    judge=_judge_open,
    is_open=True,
)
def loads(visit: Visit) -> Iterator[Finding]:
    """`torch.load(...)`, `net.load_state_dict(...)`, `Trainer(resume_from_checkpoint=...)`."""
    name, call = visit.callee(), visit.call
    is_asked = any(one.arg in _ASKING for one in call.keywords)
    is_state = name in _OPAQUE and _STATE.search(ast.unparse(visit.statement)) is not None
    if is_asked or is_state or name in _LOADING or is_method_call(call, *_METHODS):
        yield Finding(_CODE, visit.node, {"symbol": visit.symbol})


def _settings(facts: FileFacts) -> list[Site]:
    """Where code writes what a trainer goes on from: `cfg.trainer.resume_from_checkpoint = path`."""
    stores = (one for word in _ASKING for one in facts.index.attributes(word) if isinstance(one.ctx, ast.Store))
    return [Site(one, facts.index.scope_of(one), facts.index.statement_of(one)) for one in stores]


@check(codes=(_CODE,), triggers=Triggers(sites=_settings), judge=_judge_open, is_open=True)
def settings(visit: Visit) -> Iterator[Finding]:
    """Settings by which a trainer goes on from a file."""
    yield Finding(_CODE, visit.node, {"symbol": visit.symbol})


@check(codes=(_CODE,), triggers=Triggers(calls=_ASKS, methods=_ASKING_METHODS), judge=_judge_open, is_open=True)
def leftovers(visit: Visit) -> Iterator[Finding]:
    """A file that is read only where it is there: `if os.path.exists(cache): rows = load(cache)`."""
    is_asked = visit.callee() in _ASKS or is_method_call(visit.call, *_ASKING_METHODS)
    calls = (one for branch in _decided(visit) for one in ast.walk(branch) if isinstance(one, ast.Call))
    if is_asked and any(_READS.match(last_word(one.func) or "") for one in calls):
        yield Finding(_CODE, visit.node, {"symbol": visit.symbol}, "open_leftover")


def _decided(visit: Visit) -> list[ast.AST]:
    """The two branches of the test that a call stands in: of an `if` or of `a if exists(a) else b`."""
    node: ast.AST = visit.call
    while node is not visit.statement:
        above = visit.facts.index.parents[node]
        if isinstance(above, ast.If) and above.test is node:
            return [*above.body, *above.orelse]
        if isinstance(above, ast.IfExp) and above.test is node:
            return [above.body, above.orelse]
        node = above
    return []
