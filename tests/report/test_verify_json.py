"""The verdicts for machines."""

from __future__ import annotations

import json
from typing import Any, get_args

import jsonschema

from tests.report.verifications import REPEATED, every_verdict, make_answer, make_result, make_verification
from torchlint.recording.messages import Executed
from torchlint.recording.names import ProbeName
from torchlint.report.verify_json import json_text
from torchlint.verify.data import STRONGEST_FIRST, TargetRun, Verification

TEXT = {"type": "string"}
PROBE = {"enum": [*get_args(ProbeName), None]}
VERDICT = {"enum": list(STRONGEST_FIRST)}


def closed_object(**properties: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON schema
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def by_name(values: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values}


ANSWER = {"probe": PROBE, "verdict": VERDICT, "device": TEXT, "reason": TEXT, "evidence": {"type": "object"}}
SCHEMA = closed_object(
    environment=closed_object(
        torch=TEXT,
        python=TEXT,
        platform=TEXT,
        cpu=TEXT,
        cpu_capability=TEXT,
        threads={"type": "integer"},
        devices=by_name(TEXT),
        variables=by_name(TEXT),
        seed={"type": "integer"},
        not_installed={"type": "object", "additionalProperties": {"type": "integer"}},
        sandbox=TEXT,
    ),
    results={
        "type": "array",
        "items": closed_object(
            code=TEXT,
            path=TEXT,
            cell={"type": ["integer", "null"]},
            line={"type": "integer", "minimum": 1},
            target=TEXT,
            **ANSWER,
            executed={"type": ["object", "null"]},
            others={"type": "array", "items": closed_object(**ANSWER)},
            reproduce=TEXT,
        ),
    },
    summary=by_name({"type": "integer"}),
)


def read(found: Verification) -> Any:  # noqa: ANN401 - JSON
    return json.loads("\n".join(json_text(found)))


def test_the_object_has_its_documented_shape() -> None:
    jsonschema.validate(read(every_verdict()), SCHEMA)


def test_a_result_has_what_the_terminal_shows() -> None:
    found = make_verification(make_result(evidence=REPEATED, cell=3, others=(make_answer(),)), without_probe=2)
    record = read(found)
    assert record["summary"] == {"DIVERGED": 1, "without_probe": 2, "not_run": 0}
    assert record["environment"]["sandbox"] == "landlock (writes, TCP)"
    assert record["results"] == [
        {
            "code": "TL106",
            "path": "src/model.py",
            "cell": 3,
            "line": 9,
            "target": "Pool",
            "probe": "repeat",
            "verdict": "DIVERGED",
            "device": "cuda",
            "reason": "run 3 gave other bits than run 1",
            "executed": record["results"][0]["executed"],
            "evidence": REPEATED,
            "others": [
                {
                    "probe": "strict",
                    "verdict": "NOT REPRODUCED",
                    "device": "cpu",
                    "reason": "torch refused nothing on cpu under the determinism mode",
                    "evidence": {},
                }
            ],
            "reproduce": "torchlint verify src/model.py:9 --select TL106 --device cuda",
        }
    ]


def test_what_was_executed_is_told_with_each_result() -> None:
    executed = read(every_verdict())["results"][0]["executed"]
    assert executed is None or {"construction", "inputs", "invented_inputs", "built_by"} <= executed.keys()
    told = Executed(name="Net", construction="Net(width=3)", inputs=("float32[2,3]",), built_by="invented arguments")
    run = TargetRun("Pool", "src/model.py", "", told, "done", 1.0)
    (result,) = read(make_verification(make_result(), runs=(run,)))["results"]
    assert (result["executed"]["construction"], result["executed"]["inputs"]) == ("Net(width=3)", ["float32[2,3]"])


def test_results_keep_their_order_and_the_summary_is_the_strongest_first() -> None:
    record = read(every_verdict())
    places = [(result["path"], result["line"]) for result in record["results"]]
    assert places == sorted(places)
    assert list(record["summary"]) == [*STRONGEST_FIRST, "without_probe", "not_run"]


def test_nothing_to_verify_is_an_object_too() -> None:
    record = read(make_verification(environment=None, runs=()))
    assert record == {"environment": None, "results": [], "summary": {"without_probe": 0, "not_run": 0}}


def test_any_text_is_carried_in_ascii() -> None:
    reason = "naïve \x1b[31m\u202e\ud800 </script>"
    lines = list(json_text(make_verification(make_result(reason=reason))))
    assert all(line.isascii() and line.isprintable() for line in lines)
    assert json.loads("\n".join(lines))["results"][0]["reason"] == reason
