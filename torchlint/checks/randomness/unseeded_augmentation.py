"""TL304 unseeded-object, of albumentations: a pipeline that no global seed reaches."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.checks.randomness.library_facts import by_release
from torchlint.facts.constants import display_of
from torchlint.facts.entries import is_test
from torchlint.facts.full_names import dotted
from torchlint.facts.tree import is_method_call, targets_of
from torchlint.facts.values import argument_of, may_be_hidden
from torchlint.project.index import Project

_CODE = "TL304"
_LIBRARY = "albumentations"
_PIPELINES = frozenset({f"{_LIBRARY}.Compose", f"{_LIBRARY}.ReplayCompose"})
_FACT = "albumentations_compose"
_CHOOSING = frozenset(
    {
        *("BBoxSafeRandomCrop", "CoarseDropout", "ColorJitter", "CropNonEmptyMaskIfExists", "ElasticTransform"),
        *("GaussNoise", "GridDistortion", "HueSaturationValue", "ISONoise", "MotionBlur", "OneOf", "Perspective"),
        *("RGBShift", "Rotate", "ShiftScaleRotate", "SomeOf"),
    }
)
"""Transforms that draw how much they change, besides those named `Random...`."""
_FLIPPING = frozenset({"HorizontalFlip", "VerticalFlip", "Transpose"})
"""Transforms that draw only whether they change anything."""


def _judge(draft: Draft, project: Project) -> Draft | None:
    """By the releases that the project admits: older ones follow `random`."""
    return None if is_test(draft.path) else by_release(draft, project, *project.catalogue.fact(_FACT))


@check(codes=(_CODE,), triggers=Triggers(calls=_PIPELINES), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """A pipeline that evidently draws and is given no seed, neither here nor later."""
    if visit.callee() not in _PIPELINES or argument_of(visit.call, "seed", None) or may_be_hidden(visit.call, None):
        return
    transforms, _ = display_of(visit.facts, argument_of(visit.call, "transforms", 0), visit.scope)
    if not isinstance(transforms, ast.List | ast.Tuple) or _is_seeded_later(visit):
        return
    if any(_draws(visit, transform) for transform in transforms.elts):
        _, fact = visit.catalogue.fact(_FACT)
        values = {"spelling": spelling_of(visit), "what": fact.what, "fix": fact.fix}
        yield Finding(_CODE, visit.node, values, "library")


def _is_seeded_later(visit: Visit) -> bool:
    """`transform.set_random_seed(0)`, of what keeps the pipeline; of anything, where that is not seen."""
    calls = [site.node for site in visit.facts.symbols.calls]
    seeded = [call.func.value for call in calls if is_method_call(call, "set_random_seed")]
    statement = visit.statement
    is_kept = isinstance(statement, ast.Assign) and statement.value is visit.call
    targets = targets_of(statement) if is_kept else []
    held = [_last_word(target) for target in targets]
    return any(not is_kept or _last_word(value) in ("", *held) for value in seeded)


def _last_word(expression: ast.expr) -> str:
    return (dotted(expression) or "").rpartition(".")[2]


def _draws(visit: Visit, transform: ast.expr) -> bool:
    if not isinstance(transform, ast.Call):
        return False
    library, _, name = (visit.names(transform.func).only or "").rpartition(".")
    if library != _LIBRARY:
        return False
    if name in _FLIPPING:
        chance = visit.value(argument_of(transform, "p", None))
        return not chance.constants or any(0 < one < 1 for one in chance.constants if isinstance(one, int | float))
    return name in _CHOOSING or name.startswith("Random")
