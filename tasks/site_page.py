"""One page of a snapshot, tab by tab; a tab is there when its tables are."""

from __future__ import annotations

from dataclasses import replace

from adapters.pages.site.views import Board, Page
from tasks.pointers import part_notice
from tasks.scoring import notices_of_groups
from tasks.served import notices_of
from tasks.site_bias import bias_of
from tasks.site_board import score_board
from tasks.site_compare import comparisons_of
from tasks.site_drift import attempts_by_step, attempts_of, chain_counts, chain_views, failed_steps
from tasks.site_notices import stand_in_notices
from tasks.site_overediting import overediting_of
from tasks.site_people import rating_board, unranked_board
from tasks.site_source import SiteSource
from tasks.site_tables import (
    about,
    about_tables,
    coverage_tables,
    downloads,
    drift_series,
    facts_of,
    model_views,
    session_views,
)
from tasks.site_votes import (
    analysis_tables,
    matchups_of,
    vote_lead,
    vote_paragraphs,
    vote_table,
)
from tasks.vote_notices import vote_notices

DRIFT_NOTE = "Only chains that a model completed count, by the largest face of the photo."


def page_of(source: SiteSource, before: SiteSource | None, extra: tuple[str, ...] = ()) -> Page:
    """Everything that a snapshot's page shows.

    Args:
        source: The snapshot.
        before: The one that was its suite's board until now.
        extra: Files that are written with the page.
    """
    run = source.run
    compared, note = comparisons_of(source)
    has_chains = source.has("chains")
    return Page(
        suite=run.suite.id,
        snapshot=source.snapshot.digest[:16],
        title=run.suite.title,
        lead=_lead(source),
        facts=facts_of(source),
        notices=_notices(source),
        board=_with_stand_ins(_board(source, before), source),
        drift=drift_series(source),
        drift_note=DRIFT_NOTE if run.chain_set else "",
        attempts=attempts_of(source),
        attempts_by_step=attempts_by_step(source),
        overediting=overediting_of(source, compared),
        bias=bias_of(source),
        comparisons=compared,
        comparisons_note=note,
        matchups=matchups_of(source),
        analysis=analysis_tables(source),
        sessions=chain_views(source) if has_chains else session_views(source),
        sessions_title="Prompt chains" if has_chains else "Sessions",
        session_counts=chain_counts(source),
        models=model_views(source),
        coverage=[*(table for table in (failed_steps(source),) if table), *coverage_tables(source)],
        about=about(source, vote_paragraphs(source)),
        about_tables=[*vote_table(source), *about_tables(source)],
        downloads=downloads(source, extra),
    )


def _lead(source: SiteSource) -> str:
    run = source.run
    if run.chain_set is None:
        return f"{len(run.cards)} models, {len(run.photos)} photos, {len(run.sessions)} sessions of edits."
    own = f"{len(run.cards)} models, {len(run.photos)} photos, each with its own chain of edits."
    return " ".join(part for part in (own, vote_lead(source)) if part)


def _board(source: SiteSource, before: SiteSource | None) -> Board:
    if source.has("ranking"):
        return rating_board(source, before)
    if "leaderboard.parquet" in source.names:
        return score_board(source, before)
    return unranked_board(source.run, source)


def _with_stand_ins(board: Board, source: SiteSource) -> Board:
    return replace(board, notices=(*stand_in_notices(source.run), *board.notices))


def _notices(source: SiteSource) -> list[str]:
    served = source.maybe("served")
    steps = source.table("steps")
    is_judged = {"judgement", "tracked"} <= set(steps.columns)
    told = notices_of(served, steps) if served is not None and is_judged else ()
    n_photos = len(source.photos.base)
    votes = vote_notices(source.snapshot, source.store)
    return [*part_notice(source.run, n_photos), *votes, *told, *notices_of_groups(source.run)]
