"""One line a step, for people and for machines: `FACEDRIFT_LOG=json` writes each as a JSON object.

A line holds ids, counts, durations and dollars: never a prompt's answer, a key or an image.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic_settings import BaseSettings, SettingsConfigDict

from domain.plan import StepPlan
from domain.summaries import CheckResult, StepResult

ROOT = "facedrift"
logger = logging.getLogger(f"{ROOT}.steps")
_FIELDS = "facedrift_fields"


class LogSettings(BaseSettings):
    """`FACEDRIFT_LOG`: whether a process writes its lines to standard error itself, and how."""

    model_config = SettingsConfigDict(env_prefix="FACEDRIFT_")

    log: Literal["off", "text", "json"] = "off"


def log_step(step: StepPlan, provider: str, result: StepResult, cost_usd: float, spent_usd: float) -> None:
    """Say how one step ended, and what the shard has spent so far."""
    outcome = result.outcome
    ended = "found" if result.found else outcome.kind
    _say(
        logging.INFO,
        f"{step.chain.label} step {step.number}: {ended} in {outcome.latency_s:.1f} s, ${cost_usd:.4f} "
        f"(${spent_usd:.2f} so far)",
        step,
        provider,
        ended=ended,
        reason=outcome.reason,
        latency_s=outcome.latency_s,
        cost_usd=round(cost_usd, 6),
        spent_usd=round(spent_usd, 6),
        collected=result.collected,
    )


def log_check(step: StepPlan, provider: str, result: CheckResult) -> None:
    """Say what a checker found of an attempt."""
    made = "made" if result.check.made else "not made"
    _say(
        logging.INFO,
        f"{step.chain.label} step {step.number}: attempt {step.identity.attempt} {made}",
        step,
        provider,
        ended="found" if result.found else "checked",
        made=result.check.made,
        asks=result.check.asks,
    )


def log_failure(step: StepPlan, provider: str, error: BaseException) -> None:
    """Say that a step failed; of an error that is not ours only its class, since its text may quote a key."""
    _say(
        logging.WARNING,
        f"{step.chain.label} step {step.number}: failed, {type(error).__name__}",
        step,
        provider,
        ended="failed",
        error=type(error).__name__,
    )


def _say(level: int, message: str, step: StepPlan, provider: str, **fields: Any) -> None:
    known = {
        "model": step.chain.model,
        "photo": step.chain.photo,
        "session": step.chain.session,
        "step": step.number,
        "attempt": step.identity.attempt,
        "key": step.key,
        "provider": provider,
    }
    logger.log(level, message, extra={_FIELDS: known | fields})


class JsonLines(logging.Formatter):
    """A record as one JSON object: time, level, logger, message, and the ids and counts of a step."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, _FIELDS, {}),
        }
        return json.dumps(line, ensure_ascii=False, default=str)


def start_log() -> None:
    """Write this process's lines to standard error when `FACEDRIFT_LOG` asks for it; once a process."""
    form, root = LogSettings().log, logging.getLogger(ROOT)
    if form == "off" or any(isinstance(handler, _Lines) for handler in root.handlers):
        return
    handler = _Lines(sys.stderr)
    handler.setFormatter(
        JsonLines() if form == "json" else logging.Formatter("%(asctime)s %(levelname)s %(message)s")
    )
    root.addHandler(handler)
    root.propagate = False  # Prefect writes what reaches it to the same place again
    root.setLevel(logging.INFO)


class _Lines(logging.StreamHandler[Any]):
    """Marks the handler that `start_log` has added."""
