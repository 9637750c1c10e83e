"""What a reader must know of a board before its numbers: who measured it, and how much votes leave open."""

from __future__ import annotations

import polars as pl

from domain.runs import RunPlan
from tasks import wiring

OPEN_SHARE = 0.025
"""An end of a rating's interval is open where more of the resamples than this leave it open."""


def stand_in_notices(run: RunPlan) -> tuple[str, ...]:
    """That what stands for a language model is a program of this machine; nothing where none does."""
    judged = [
        who
        for who, card in (("judge", run.judge_card), ("tracker", run.tracker_card))
        if card is not None and wiring.is_in_process(card.provider)
    ]
    told: list[str] = []
    if judged:
        many = len(judged) > 1
        told.append(
            f"{' and '.join(judged).capitalize()} of this run {'are' if many else 'is a'} local "
            f"heuristic{'s' * many}, stand-in{'s' * many} for a language model: SC and OER of real models "
            f"mean nothing with {'them' if many else 'it'}."
        )
    if run.checker_card is not None and wiring.is_in_process(run.checker_card.provider):
        told.append(
            "The step checker of this run is a local heuristic, a stand-in for a language model: which edits "
            "of real models count as made, and so which chains are complete, means nothing with it."
        )
    return tuple(told)


def open_notice(ranking: pl.DataFrame) -> tuple[str, ...]:
    """That votes leave ranks open, where many resamples of the photos do; the table `ranking`."""
    whole = ranking.filter((pl.col("dimension") == "all") & (pl.col("value") == "all"))
    if whole.is_empty():
        return ()
    row = whole.sort("resamples_undetermined", descending=True, nulls_last=True).row(0, named=True)
    undetermined, resamples = row["resamples_undetermined"], row["resamples"]
    if not undetermined or undetermined <= OPEN_SHARE * resamples:
        return ()
    n = whole["n_photos"].max()
    return (
        f"With so few photos ({n}) the votes leave ranks open: in {undetermined} of {resamples} resamples of "
        "the photos some model won everything, lost everything or met only some of the others. “…” is an end "
        "of an interval that is open; models that no closed end tells apart share a rank, and below it "
        "stands between which ranks each can be.",
    )
