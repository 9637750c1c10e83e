"""What a run came to, where its operators look: artifacts in Prefect's UI, and an event for automations."""

from __future__ import annotations

import logging
from typing import Any

from prefect.artifacts import acreate_link_artifact, acreate_markdown_artifact, acreate_table_artifact
from prefect.events import emit_event

from domain import keys
from domain.runs import Missing, RunSummary
from domain.summaries import ShardSummary, StepFailure
from tasks.progress import artifact_key
from tasks.publishing import stored_at

logger = logging.getLogger("facedrift.runs")

MOST_ROWS = 1000
"""Of a table artifact; all failures are in the summaries of the shards."""
RUN_ENDED = "facedrift.run.ended"
"""Event of every run that came to its end, whole or not."""


async def show_run(summary: RunSummary) -> None:
    """Show what a run did, what failed and where its report is, and say so in an event."""
    suite, snapshot = summary.snapshot.suite, summary.snapshot
    await acreate_markdown_artifact(account(summary), key=artifact_key("run", suite))
    failures = summary.edits.failures
    if failures:
        more = f"; {len(failures) - MOST_ROWS} more are in the store" if len(failures) > MOST_ROWS else ""
        await acreate_table_artifact(
            [failure_row(failure) for failure in failures[:MOST_ROWS]],
            key=artifact_key("failures", suite),
            description=f"{len(failures)} steps failed{more}. `retry-failed` repeats exactly those.",
        )
    page = stored_at(keys.report(suite, snapshot.digest, "index.html"))
    await acreate_link_artifact(
        page if "://" in page else f"file://{page}", key=artifact_key("report", suite), link_text=page
    )
    emit_event(RUN_ENDED, resource=_resource(suite), payload=payload_of(summary))


async def show_note(kind: str, suite: str, text: str) -> None:
    """Say something of a suite in the log and as an artifact."""
    logger.info(text)
    await acreate_markdown_artifact(text, key=artifact_key(kind, suite))


async def show_plan(suite: str, missing: Missing) -> None:
    """Show what a run would do."""
    rows = [{"what": name, "missing": count} for name, count in missing.steps_missing.items()]
    rows += [{"what": f"answers of {name}", "missing": n} for name, n in missing.answers_missing.items()]
    await acreate_table_artifact(
        rows,
        key=artifact_key("plan", suite),
        description=f"{missing.unfinished} of {missing.chains} chains to do, at most "
        f"${missing.cost_usd:.2f}, about {missing.seconds / 60:.0f} minutes of calls.",
    )


def account(summary: RunSummary) -> str:
    """A run as Markdown: counts, cost and duration of each provider, problems and notices."""
    edits = summary.edits
    lines = [
        f"**{summary.snapshot.suite}**, run `{summary.run_id}`: {edits.edited} edited, "
        f"{edits.refused} refused, {edits.no_image} without image, {edits.failed} failed, "
        f"{edits.found} found; {summary.faces_read} faces, {summary.states_tracked} states, "
        f"{summary.edits_judged} judgements; ${edits.cost_usd + summary.judging_usd:.2f}",
        "",
    ]
    if edits.checked or edits.not_made or edits.off_shape:
        lines += [f"{checks_text(edits)}.", ""]
    if summary.providers:
        lines += [
            "| provider | edited | refused | no image | failed | maybe paid | cost | seconds a call |",
            "|---|---|---|---|---|---|---|---|",
        ]
    for row in summary.providers:
        calls = row.edited + row.refused + row.no_image
        pace = f"{row.calls_s / calls:.1f}" if calls else "–"
        lines.append(
            f"| {row.provider} | {row.edited} | {row.refused} | {row.no_image} | {row.failed} | "
            f"{row.ambiguous} | ${row.cost_usd:.2f} | {pace} |"
        )
    lines += ["", *(f"- problem: {text}" for text in summary.problems)]
    lines += [f"- notice: {text}" for text in summary.notices]
    return "\n".join(lines)


def checks_text(edits: ShardSummary) -> str:
    """How many edits were checked, and what did not count, in words."""
    return (
        f"{edits.checked} edits checked for ${edits.checking_usd:.2f}; {edits.not_made} attempts not made, "
        f"{edits.off_shape} of another shape"
    )


def failure_row(failure: StepFailure) -> dict[str, Any]:
    """One failed step as a row of a table."""
    return {
        "model": failure.chain.model,
        "photo": failure.chain.photo,
        "session": failure.chain.session,
        "step": failure.step,
        "error": failure.error,
        "message": failure.message,
    }


def payload_of(summary: RunSummary) -> dict[str, Any]:
    """What an automation may decide by."""
    edits = summary.edits
    return {
        "run_id": summary.run_id,
        "complete": not summary.problems,
        "edited": edits.edited,
        "failed": edits.failed,
        "cost_usd": round(edits.cost_usd + summary.judging_usd, 4),
        "maybe_paid_usd": round(edits.maybe_paid_usd, 4),
        "snapshot": summary.snapshot.digest,
        "snapshot_is_new": summary.snapshot.is_new,
        "problems": list(summary.problems[:10]),
    }


def _resource(suite: str) -> dict[str, str]:
    return {"prefect.resource.id": f"facedrift.suite.{suite}", "prefect.resource.name": suite}
