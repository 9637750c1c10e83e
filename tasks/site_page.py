"""One page of a snapshot, tab by tab; a tab is there when its tables are."""

from __future__ import annotations

from adapters.pages.site.views import Board, Page
from tasks.pointers import part_notice
from tasks.scoring import notices_of_groups
from tasks.served import notices_of
from tasks.site_bias import bias_of
from tasks.site_board import score_board
from tasks.site_compare import comparisons_of
from tasks.site_overediting import overediting_of
from tasks.site_people import analysis_tables, matchups_of, rating_board, unranked_board
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
from tasks.vote_notices import vote_notices


def page_of(source: SiteSource, before: SiteSource | None, extra: tuple[str, ...] = ()) -> Page:
    """Everything that a snapshot's page shows.

    Args:
        source: The snapshot.
        before: The one that was its suite's board until now.
        extra: Files that are written with the page.
    """
    run = source.run
    compared, note = comparisons_of(source)
    return Page(
        suite=run.suite.id,
        snapshot=source.snapshot.digest[:16],
        title=run.suite.title,
        lead=f"{len(run.cards)} models, {len(run.photos)} photos, {len(run.sessions)} sessions of edits.",
        facts=facts_of(source),
        notices=_notices(source),
        board=_board(source, before),
        drift=drift_series(source),
        overediting=overediting_of(source, compared),
        bias=bias_of(source),
        comparisons=compared,
        comparisons_note=note,
        matchups=matchups_of(source),
        analysis=analysis_tables(source),
        sessions=session_views(source),
        sessions_title="Prompt chains" if source.has("chains") else "Sessions",
        models=model_views(source),
        coverage=coverage_tables(source),
        about=about(source),
        about_tables=about_tables(source),
        downloads=downloads(source, extra),
    )


def _board(source: SiteSource, before: SiteSource | None) -> Board:
    if source.has("ranking"):
        return rating_board(source, before)
    if "leaderboard.parquet" in source.names:
        return score_board(source, before)
    return unranked_board(source.run, source)


def _notices(source: SiteSource) -> list[str]:
    served = source.maybe("served")
    steps = source.table("steps")
    is_judged = {"judgement", "tracked"} <= set(steps.columns)
    told = notices_of(served, steps) if served is not None and is_judged else ()
    votes = vote_notices(source.snapshot, source.store)
    return [*part_notice(source.run), *votes, *told, *notices_of_groups(source.run)]
