"""One line a step: ids, counts and dollars, and nothing that could hold a key."""

from __future__ import annotations

import json
import logging
import sys

import pytest
from builders import an_identity, an_outcome

from domain.plan import Chain, StepPlan
from domain.summaries import StepResult
from tasks.step_log import JsonLines, log_failure, log_step, start_log

STEP = StepPlan(
    chain=Chain(model="kontext", photo="anna-1", session="hair_001"),
    number=2,
    identity=an_identity(prompt="SECRET PROMPT"),
    input_extension="png",
)


def _line(record: logging.LogRecord) -> dict[str, object]:
    return json.loads(JsonLines().format(record))


def test_a_step_is_one_json_object_with_its_ids_and_what_was_spent(caplog: pytest.LogCaptureFixture) -> None:
    outcome = an_outcome(STEP.identity, latency_s=3.25)
    with caplog.at_level(logging.INFO, "facedrift.steps"):
        log_step(STEP, "fal", StepResult(outcome=outcome, found=False), 0.04, 1.2)
    line = _line(caplog.records[0])
    assert line["message"] == "kontext/anna-1/hair_001 step 2: edited in 3.2 s, $0.0400 ($1.20 so far)"
    expected = {
        "model": "kontext", "photo": "anna-1", "session": "hair_001", "step": 2, "key": STEP.key,
        "provider": "fal", "ended": "edited", "latency_s": 3.25, "cost_usd": 0.04, "spent_usd": 1.2,
        "collected": False, "reason": None, "level": "INFO", "logger": "facedrift.steps",
    }  # fmt: skip
    assert {name: line[name] for name in expected} == expected
    assert "PROMPT" not in json.dumps(line)


def test_the_text_of_a_foreign_error_is_in_no_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "facedrift.steps"):
        log_failure(STEP, "fal", KeyError("key-123"))
    line = _line(caplog.records[0])
    assert (line["ended"], line["error"], line["level"]) == ("failed", "KeyError", "WARNING")
    assert "key-123" not in json.dumps(line)


@pytest.mark.parametrize(("form", "handlers"), [("json", 1), ("text", 1), ("off", 0)])
def test_a_process_writes_its_lines_when_it_is_told_to_and_once(
    monkeypatch: pytest.MonkeyPatch, form: str, handlers: int
) -> None:
    root = logging.getLogger("facedrift")
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(root, "level", root.level)
    monkeypatch.setenv("FACEDRIFT_LOG", form)
    start_log()
    start_log()
    assert [getattr(handler, "stream", None) for handler in root.handlers] == [sys.stderr] * handlers
