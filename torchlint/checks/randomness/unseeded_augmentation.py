"""TL304 unseeded-object, of albumentations: a pipeline that no global seed reaches.

Run on albumentations 1.4.20, 1.4.21 and 2.0.8: after `random.seed(0)` and `numpy.random.seed(0)` the first repeats what
it draws, the others do not; with `Compose(..., seed=3)` they do.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.diagnostics import Confidence
from torchlint.facts.constants import display_of
from torchlint.facts.entries import is_test
from torchlint.facts.full_names import dotted
from torchlint.facts.tree import is_method_call, targets_of
from torchlint.facts.values import argument_of, may_be_hidden
from torchlint.project.index import Project
from torchlint.project.target import admits

_CODE = "TL304"
_LIBRARY = "albumentations"
_PIPELINES = frozenset({f"{_LIBRARY}.Compose", f"{_LIBRARY}.ReplayCompose"})
_FOLLOWS_RANDOM = ("1.0.3", "1.2.1", "1.3.1", "1.4.8", "1.4.20")
_LISTENS_TO_NOTHING = ("1.4.21", "1.4.24", "2.0.0", "2.0.8")
"""Releases of both kinds, to be held against what a project admits; 2.0.8 is the last."""
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
    """By the releases that the project admits: unknown ones are a guess, older ones follow `random`."""
    if is_test(draft.path) or project.requirement("albumentationsx", draft.path) is not None:
        return None
    specifier = project.requirement(_LIBRARY, draft.path)
    if specifier is None:
        return dataclasses.replace(draft, confidence=Confidence.LOW)
    if not admits(specifier, _LISTENS_TO_NOTHING):
        return None
    is_guess = admits(specifier, _FOLLOWS_RANDOM)
    return dataclasses.replace(draft, confidence=Confidence.LOW) if is_guess else draft


@check(codes=(_CODE,), triggers=Triggers(calls=_PIPELINES), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """A pipeline that evidently draws and is given no seed, neither here nor later."""
    if visit.callee() not in _PIPELINES or argument_of(visit.call, "seed", None) or may_be_hidden(visit.call, None):
        return
    transforms, _ = display_of(visit.facts, argument_of(visit.call, "transforms", 0), visit.scope)
    if not isinstance(transforms, ast.List | ast.Tuple) or _is_seeded_later(visit):
        return
    if any(_draws(visit, transform) for transform in transforms.elts):
        yield Finding(_CODE, visit.node, {"spelling": spelling_of(visit)}, "augmentation")


def _is_seeded_later(visit: Visit) -> bool:
    """`transform.set_random_seed(0)`, of what keeps the pipeline; of anything, where that is not seen."""
    calls = [site.node for site in visit.facts.reading.calls]
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
