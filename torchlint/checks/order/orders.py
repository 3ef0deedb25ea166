"""TL401, TL402 and TL403: an order that nobody chose, or a salted hash, and what it decides, here or in other files."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec.structs import replace

from torchlint.catalogue.values import Kind
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Judge, Triggers, check, sites_of
from torchlint.checks.framework.visit import Visit, shortened, spelling_of
from torchlint.diagnostics import Confidence
from torchlint.facts.entries import is_named_for_show, is_test
from torchlint.facts.file import MAIN, FileFacts
from torchlint.facts.flow.tracker import Analysis, Flow, Sink, follow
from torchlint.facts.flow.values import Move, Value
from torchlint.facts.notation import name_in
from torchlint.facts.order.analysis import OrderAnalysis, started
from torchlint.facts.order.loops import DATA, DATASET, DRAW, LISTS, SPLIT
from torchlint.facts.order.places import is_sorted_in_place
from torchlint.facts.order.salted import HashAnalysis, hashed_by, is_salted_hash, set_orders, sets_that_may_hold_text
from torchlint.facts.tree import is_method_call, method_called
from torchlint.project.beside_training import UnusedDefinitions, only_predicts
from torchlint.project.index import Project

_OF_DATA = frozenset({DRAW, SPLIT, LISTS, DATA})
"""What a script without torch decides of the data that others train on."""
LISTING = frozenset({"os.listdir", "os.scandir", "os.walk", "glob.glob", "glob.iglob"})
LISTING_METHODS = frozenset({"iterdir", "glob", "rglob", "dirs", "files", "listdir", "walkdirs", "walkfiles"})
"""Of pathlib, then those of the package `path` (16.14: what `os.listdir` gives, in its order)."""
_VARIANTS = {"os.scandir": "scandir", "os.walk": "walk"}
_ENDING = frozenset(
    {
        *("builtins.sorted", "builtins.len", "builtins.set", "builtins.frozenset", "builtins.any", "builtins.all"),
        *("builtins.max", "builtins.min", "builtins.bool", "builtins.print", "numpy.unique", "numpy.sort"),
        *("natsort.natsorted", "natsort.os_sorted"),
    }
)
"""What they give is the same for any order."""
_LISTS = frozenset({"builtins.list", "builtins.tuple", "builtins.iter"})
_PURE = ("builtins.int", "builtins.len", "builtins.str", "builtins.float", "os.path.", "pathlib.Path")
_UNORDERED = (ast.In, ast.NotIn, ast.Eq, ast.NotEq, ast.Is, ast.IsNot)


def finding_of(
    code: str, visit: Visit, flow: Flow, values: Mapping[str, str], message: str = "default"
) -> Iterator[Finding]:
    """What is said of an order that decides something here, or is kept for others; with how it gets there.

    What it decides is empty while that is not known. The function that has it and the class that uses it are told too.
    """
    if flow.sink is None and not flow.exits:
        return
    facts, sink = visit.facts, flow.sink
    places = () if sink is None else (*flow.trace, (sink.node, f"here it decides {sink.what}"))
    user = None if sink is None else facts.class_of(facts.index.scope_of(sink.node))
    name = "" if user is None else facts.symbols.scopes[user].name
    values = {**values, "use": "" if sink is None else sink.what, "symbol": visit.symbol, "user": name}
    yield Finding(code, visit.node, values, message, related=places, exits=tuple(flow.exits))


def _matters(draft: Draft, project: Project) -> bool:
    """Whether torch is at work where the order decides something, or on the data of which it decides; not in tests."""
    symbol = draft.values["symbol"]
    is_open = draft.values["use"] != DATA or "." in symbol or symbol in ("", MAIN)
    # There are many functions that write an array, for whoever wants one: the project has to call it.
    if not is_open and not project.programs.calls.calls_of(name_in(draft.path, symbol)):
        return False
    is_data = draft.values["use"] in _OF_DATA and project.has_torch
    return not is_test(draft.path) and (is_data or project.uses_torch(draft.path))


def judged_by(analysis: Callable[[FileFacts], Analysis]) -> Judge:
    """The judge of orders: they matter to us only where torch is at work, and not in tests."""

    def judge(draft: Draft, project: Project) -> Draft | None:
        if is_test(draft.path) or not project.has_torch:
            return None
        user = draft.values.get("user", "")
        is_unused = bool(user) and project.cached(UnusedDefinitions).hold(draft.path, user)
        if not draft.values["use"] or is_unused:
            sink = project.flows.sink_of(draft.exits, analysis)
            if sink is None:
                return None
            related = (*draft.related, *sink.told(f"here it decides {sink.what}"))
            told = replace(draft, values={**draft.values, "use": sink.what}, related=related)
            found = told if _matters(told, project) or project.uses_torch(sink.path) else None
        else:
            found = draft if _matters(draft, project) else None
        if found is None:
            return None
        # In which order what only measures or shows a model sees a data set changes no answer of it.
        is_shown = is_named_for_show(found.path) or (
            found.values["use"] == DATASET and only_predicts(project, found.path)
        )
        return replace(found, confidence=Confidence.LOW) if is_shown else found

    return judge


@check(codes=("TL401",), triggers=Triggers(calls=LISTING, methods=LISTING_METHODS), judge=judged_by(OrderAnalysis))
def listing_order(visit: Visit) -> Iterator[Finding]:
    """A directory listing whose order reaches ids, an index, a split, a draw or a dataset."""
    function = listing(visit)
    if function is not None:
        flow = follow(OrderAnalysis(visit.facts), started(visit.facts, visit.call))
        variant = _VARIANTS.get(function, "default")
        yield from finding_of("TL401", visit, flow, {"call": spelling_of(visit)}, variant)


def listing(visit: Visit) -> str | None:
    """The listing function that is called, by its full name; for a method of a path, the method's name."""
    name = visit.callee()
    if name in LISTING:
        return name
    call = visit.call
    is_method = is_method_call(call, *LISTING_METHODS) and visit.kind(call.func.value) is Kind.PATH
    return method_called(call) if is_method else None


@check(codes=("TL402",), triggers=Triggers(sites=sites_of(set_orders)), judge=judged_by(OrderAnalysis))
def set_order(visit: Visit) -> Iterator[Finding]:
    """A set of text (or of objects) whose order reaches ids, an index, a split, a draw or a dataset."""
    flow = visit.facts.cached(set_orders)[visit.node].flow
    yield from finding_of("TL402", visit, flow, {"what": f"`{shortened(ast.unparse(visit.node))}`"})


@check(codes=("TL403",), triggers=Triggers(calls=frozenset({"builtins.hash"})))
def salted_hash(visit: Visit) -> Iterator[Finding]:
    """A hash of text whose value is seen to decide something that must not change between runs."""
    if not is_salted_hash(visit.facts, visit.site):
        return
    flow = follow(HashAnalysis(visit.facts), Value(visit.call))
    if flow.sink is not None:
        values = {"argument": shortened(ast.unparse(visit.call.args[0])), "use": flow.sink.what}
        is_elsewhere = flow.sink.node is not visit.call
        places = (*flow.trace, (flow.sink.node, f"here it decides {flow.sink.what}")) if is_elsewhere else ()
        yield Finding("TL403", visit.node, values, related=places)


# -- what is left open -------------------------------------------------------------------------------------------


def judge_open(draft: Draft, project: Project) -> Draft | None:
    """A point stays open unless other files are seen to ignore the order."""
    if is_test(draft.path) or not project.has_torch:
        return None
    is_settled = bool(draft.exits) and project.flows.contained(draft.exits, MustAnalysis) is not None
    return None if is_settled else draft


def used(code: str, visit: Visit, made: ast.expr) -> Iterator[Finding]:
    """The point where an order is made, with the first use that may count.

    None for `names = os.listdir(folder)` where all that follows is `len(names)` and `"a.txt" in names`.
    """
    flow = follow(MustAnalysis(visit.facts), started(visit.facts, made))
    use = made if flow.sink is None else flow.sink.node
    if flow.exits or not flow.is_contained:
        is_elsewhere = visit.facts.locate(use).line != visit.facts.locate(made).line
        yield Finding(code, made, related=((use, "used here"),) if is_elsewhere else (), exits=tuple(flow.exits))


@check(codes=("TL401",), triggers=Triggers(calls=LISTING, methods=LISTING_METHODS), judge=judge_open, is_open=True)
def listings(visit: Visit) -> Iterator[Finding]:
    """Directory listings with a use that is not known to ignore their order."""
    name = listing(visit)
    if name == "os.walk":  # to sort the walk leaves the names in each folder as they came
        yield Finding("TL401", visit.node)
    elif name is not None or (
        is_method_call(visit.call, "iterdir", "glob", "rglob") and visit.kind(visit.call.func.value) is Kind.UNKNOWN
    ):
        yield from used("TL401", visit, visit.call)


@check(codes=("TL402",), triggers=Triggers(sites=sets_that_may_hold_text), judge=judge_open, is_open=True)
def sets(visit: Visit) -> Iterator[Finding]:
    """Sets that may hold text, with a use that is not known to ignore their order."""
    if isinstance(visit.node, ast.expr):
        yield from used("TL402", visit, visit.node)


@check(codes=("TL403",), triggers=Triggers(calls=frozenset({"builtins.hash"})), judge=judge_open, is_open=True)
def hashes(visit: Visit) -> Iterator[Finding]:
    """Hashes of what is text, or may be."""
    hashed = hashed_by(visit.facts, visit.site)
    is_open = hashed is not None and visit.kind(hashed) in (Kind.UNKNOWN, Kind.TEXT)
    if is_open or is_salted_hash(visit.facts, visit.site):
        yield Finding("TL403", visit.node)


class MustAnalysis(Analysis):
    """Where an order gets to a use that is not known to ignore it: else it is shown to decide nothing."""

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        above = self.facts.index.parents.get(value.node)
        if self._ends(value.node, above):
            return ()
        kept = self._kept_in(value, above)
        if kept is not None:
            return () if isinstance(kept, ast.SetComp) else [value.at(kept)]
        return list(self.passes(value)) or [Sink("a use that is not known to ignore it", value.node)]

    def sanitizes(self, node: ast.expr) -> bool:
        return is_sorted_in_place(self.facts, node)

    def _kept_in(self, value: Value, above: ast.AST | None) -> ast.expr | None:
        """The list that has the same order: of `list(names)`, of `[name for name in names]`."""
        if value.path:
            return None
        if isinstance(above, ast.Call):
            return above if self._name(above) in _LISTS and above.func is not value.node else None
        made = self.facts.index.parents.get(above) if isinstance(above, ast.comprehension) else None
        is_listed = isinstance(made, (ast.ListComp, ast.GeneratorExp, ast.SetComp)) and above.iter is value.node  # type: ignore[union-attr]
        return made if is_listed and self._is_pure(made, value.node) else None  # type: ignore[arg-type,return-value]

    def _is_pure(self, made: ast.ListComp | ast.GeneratorExp | ast.SetComp, listed: ast.expr) -> bool:
        """Whether an entry depends on itself alone: calls may count, or draw."""
        parts = [made.elt, *(part for one in made.generators for part in (one.iter, *one.ifs) if part is not listed)]
        calls = [one for part in parts for one in ast.walk(part) if isinstance(one, (ast.Call, ast.NamedExpr))]
        return all(isinstance(one, ast.Call) and self._name(one).startswith(_PURE) for one in calls)

    def _name(self, call: ast.Call) -> str:
        return self.facts.names(call.func, self.facts.index.inner_scope_of(call)).only or ""

    def _ends(self, node: ast.expr, above: ast.AST | None) -> bool:
        if isinstance(above, ast.Call) and above.func is not node:
            return self._name(above) in _ENDING
        if isinstance(above, ast.Compare):
            return all(isinstance(one, _UNORDERED) for one in above.ops)
        if is_sorted_in_place(self.facts, node):
            return True
        is_test = isinstance(above, (ast.If, ast.While, ast.IfExp)) and above.test is node
        return is_test or isinstance(above, (ast.Expr, ast.Assert, ast.UnaryOp))
