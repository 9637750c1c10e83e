"""What a run would cost and what it did, as a terminal shows it."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from domain.runs import Missing, RunPlan, RunSummary
from flows.consoles import err, out
from tasks.provider_checks import retirements
from tasks.run_accounts import checks_text

MOST_LINES = 10
"""Of a list that is shown whole."""


def print_plan(plan: RunPlan, missing: Missing) -> None:
    """What is missing, what its calls may cost and take, and who is switched off or soon will be."""
    out.print(
        f"{plan.suite.id}: {missing.chains} chains, {missing.complete} complete, {missing.stopped} stopped, "
        f"{missing.unfinished} to do",
        highlight=False,
    )
    table = Table("model", "steps missing", "price", "at most", box=None, pad_edge=False)
    for model, steps in missing.steps_missing.items():
        price = plan.card[model].price_usd
        table.add_row(model, str(steps), f"${price:g}", f"${price * steps:.2f}")
    out.print(table)
    judges = {card.id: card for card in plan.judge_cards}
    for name, answers in missing.answers_missing.items():
        price = judges[name].price_usd
        line = (
            f"{name}: {answers} answers at ${price:g}, ${price * answers:.2f}; more if some are asked again"
        )
        out.print(line, highlight=False)
    out.print(f"about ${missing.cost_usd:.2f} and {missing.seconds:.0f} s of calls", highlight=False)
    for notice in retirements(plan, missing):
        err.print(f"notice: {notice}", style="yellow", markup=False, soft_wrap=True)


def print_summary(summary: RunSummary, work_s: float) -> None:
    """How the steps ended, what they cost, and what a reader must know."""
    edits = summary.edits
    made = edits.edited + edits.refused + edits.no_image
    measured = summary.faces_read + summary.states_tracked + summary.edits_judged
    if not (made or edits.failed or measured):
        text = (
            f"nothing was missing: 0 edits, 0 faces read, 0 states tracked, 0 edits judged; "
            f"all {summary.planned.chains} chains were in the store"
        )
    else:
        text = (
            f"{made} edits ({edits.edited} edited, {edits.refused} refused, {edits.no_image} no image), "
            f"{edits.failed} failed, {edits.found} found; {summary.faces_read} faces read, "
            f"{summary.states_tracked} states tracked, {summary.edits_judged} edits judged; "
            f"${edits.cost_usd + summary.judging_usd:.2f}"
        )
    err.print(f"{text}; work {work_s:.1f} s", highlight=False, soft_wrap=True)
    if edits.checked or edits.not_made or edits.off_shape:
        err.print(checks_text(edits), highlight=False)
    if edits.collected or edits.ambiguous:
        err.print(
            f"{edits.collected} jobs of an earlier call collected; {edits.ambiguous} calls without an answer "
            f"that may have been paid (${edits.maybe_paid_usd:.2f})",
            highlight=False,
            soft_wrap=True,
        )
    for calls in summary.calls:
        if calls.lost > 0:
            err.print(
                f"  {calls.model}, over all runs: {calls.answers} answers for ${calls.cost_usd:.2f}; "
                f"{calls.lost} calls that may have been paid came to nothing (${calls.maybe_paid_usd:.2f})",
                highlight=False,
                soft_wrap=True,
            )
    for problem in summary.problems[1:]:
        err.print(f"  also: {problem}", style="red", markup=False, soft_wrap=True)
    for notice in summary.notices:
        err.print(f"notice: {notice}", style="yellow", markup=False, soft_wrap=True)
    for failure in edits.failures[:MOST_LINES]:
        where = f"{failure.chain.label} step {failure.step}"
        err.print(f"  failed: {where}: {failure.message}", style="red", markup=False, soft_wrap=True)


def print_counts(counts: dict[str, dict[str, Any]]) -> None:
    """What the stand-in has counted since its state began: paid jobs, and those paid twice."""
    table = Table(title="the stand-in's own counts", title_justify="left", box=None, pad_edge=False)
    for name in (
        "provider",
        "paid jobs",
        "distinct",
        "paid twice",
        "images",
        "refused",
        "no image",
        "judged",
    ):
        table.add_column(name, justify="left" if name == "provider" else "right")
    for provider, row in counts.items():
        if row["posts"]:
            twice = sum(job["times"] - 1 for job in row["paid_twice"])
            names = ("images", "refused", "no_image", "judge_calls")
            cells = [row["accepted"], row["distinct"], twice, *(row[name] for name in names)]
            table.add_row(provider, *map(str, cells))
    out.print(table)
