"""How a run is judged: on made-up observations, since no machine shows all of them."""

from __future__ import annotations

import msgspec
import pytest

from tests.hardware.verdict import Mode, Observation, judge
from torchlint.catalogue import load_catalogue
from torchlint.catalogue.registry import Operator, Row, UnderMode

PUT = load_catalogue().operator("put_")
EXTREMES = load_catalogue().operator("index_reduce_extremes")

STEADY = Observation(20)
VARIES = Observation(20, 3)
ALERT = Observation(20, raised="RuntimeError: put_ does not have a deterministic implementation")
OTHER_ALERT = Observation(20, raised="RuntimeError: take_ does not have a deterministic implementation")
CRASH = Observation(20, raised="RuntimeError: CUDA error: an illegal memory access was encountered")
MISSING = Observation(20, raised="NotImplementedError: The operator is not implemented for this device")
NOT_YET = Observation(20, raised="RuntimeError: NYI: CUDA sspaddmm is not implemented")
WARNS = Observation(20, 3, warned="put_ does not have a deterministic implementation")
ONLY_WARNS = Observation(20, warned=WARNS.warned)


def row(under_mode: UnderMode, under_warn_only: UnderMode | None = None) -> Row:
    return Row(device="cuda", torch=">=2.0", under_mode=under_mode, under_warn_only=under_warn_only, confidence="high")


def seen(off: Observation, on: Observation, warn_only: Observation = STEADY) -> dict[Mode, Observation]:
    return {"off": off, "on": on, "warn_only": warn_only}


RAISES = row("raises")
ALTERNATIVE = row("deterministic_alternative")
ATTENTION = row("deterministic_alternative", "silent_nondeterministic")
SILENT = row("silent_nondeterministic")
ALWAYS = row("always_deterministic")


@pytest.mark.parametrize(
    ("claim", "observations", "verdict"),
    [
        (RAISES, seen(VARIES, ALERT, WARNS), "agrees"),
        (RAISES, seen(STEADY, ALERT, WARNS), "agrees"),
        (RAISES, seen(STEADY, ALERT, ONLY_WARNS), "not reproduced"),
        (RAISES, seen(VARIES, VARIES, WARNS), "disagrees"),
        (RAISES, seen(VARIES, ALERT, VARIES), "disagrees"),
        (RAISES, seen(VARIES, ALERT, ALERT), "disagrees"),
        (RAISES, seen(VARIES, OTHER_ALERT, WARNS), "disagrees"),
        (RAISES, seen(VARIES, CRASH, WARNS), "failed"),
        (RAISES, seen(CRASH, CRASH, CRASH), "failed"),
        (RAISES, seen(MISSING, MISSING, MISSING), "not run"),
        (SILENT, seen(NOT_YET, NOT_YET, NOT_YET), "not run"),
        (ALTERNATIVE, seen(VARIES, STEADY), "agrees"),
        (ALTERNATIVE, seen(STEADY, STEADY), "not reproduced"),
        (ALTERNATIVE, seen(VARIES, VARIES), "disagrees"),
        (ALTERNATIVE, seen(VARIES, STEADY, VARIES), "disagrees"),
        (ALTERNATIVE, seen(VARIES, ALERT, WARNS), "disagrees"),
        (ATTENTION, seen(VARIES, STEADY, VARIES), "agrees"),
        (ATTENTION, seen(VARIES, VARIES, VARIES), "disagrees"),
        (SILENT, seen(VARIES, VARIES, VARIES), "agrees"),
        (SILENT, seen(STEADY, STEADY), "not reproduced"),
        (SILENT, seen(VARIES, ALERT, WARNS), "disagrees"),
        (ALWAYS, seen(STEADY, STEADY), "agrees"),
        (ALWAYS, seen(VARIES, STEADY), "disagrees"),
        (ALWAYS, seen(STEADY, STEADY, VARIES), "disagrees"),
        (None, seen(STEADY, STEADY), "no row"),
        (None, seen(VARIES, STEADY), "disagrees"),
        (None, seen(STEADY, ALERT, WARNS), "disagrees"),
    ],
)
def test_a_run_is_judged_by_its_row(claim: Row | None, observations: dict[Mode, Observation], verdict: str) -> None:
    assert judge(PUT, claim, observations)[0] == verdict


@pytest.mark.parametrize(("off", "verdict"), [(STEADY, "agrees"), (VARIES, "disagrees")])
def test_what_is_only_refused_must_not_vary(off: Observation, verdict: str) -> None:
    operator: Operator = msgspec.structs.replace(EXTREMES, alerts=PUT.alerts)
    assert judge(operator, RAISES, seen(off, ALERT, ONLY_WARNS))[0] == verdict


def test_a_disagreement_says_why() -> None:
    assert judge(PUT, RAISES, seen(VARIES, VARIES, WARNS))[1] == "does not raise under the mode"
    assert judge(PUT, RAISES, seen(VARIES, OTHER_ALERT, WARNS))[1].startswith("raises by the alert `take_`")
    assert judge(PUT, ALWAYS, seen(STEADY, STEADY, VARIES))[1] == "varies with the mode warn_only"
    assert judge(PUT, None, seen(VARIES, STEADY))[1] == "no row for this device, yet it varies"
