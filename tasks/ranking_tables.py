"""The tables of a ranking, out of matches, votes and the score tables of a run."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from domain import keys
from domain.chains import DIMENSIONS
from domain.votes import ANONYMOUS
from metrics.annotators import FASTEST_MS, annotators, vote_agreement
from metrics.matchups import matchups
from metrics.metric_agreement import metric_agreement
from metrics.model_ranking import Draws, ranking
from metrics.ranking_frames import MATCHES, VOTES
from metrics.vote_majorities import MatchResults, match_results
from tasks.ballots import SIMULATED, Ballot

VERSION = 2
"""Of what the numbers mean; the facts of every ranking carry it."""
RANKING_TABLES = (
    "ranking", "matchups", "match_results", "annotators", "vote_agreement", "metric_agreement", "vote_facts",
)  # fmt: skip
RANKED = ("ranking", "matchups", "match_results", "annotators", "vote_agreement", "metric_agreement")
"""Of these, those whose every row says whose votes it is of."""
_CROPS = ("crop_a_sha256", "crop_b_sha256", "original_sha256")


def ranking_tables(ballot: Ballot, scored: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The tables of a ranking (`RANKING_TABLES`).

    Args:
        ballot: Matches and votes.
        scored: The score tables of the run: `steps`; where there are, `completion` (which models are ranked)
            and `chains` (the dimensions of photos).
    """
    rules, draws = ballot.rules, Draws(ballot.rules.seed, ballot.rules.resamples)
    matches = ballot.matches.select(MATCHES.names())
    votes = pseudonymous(ballot.read.votes, ballot.salt).select(VOTES.names())
    found = match_results(
        votes, matches, min_gold_accuracy=rules.min_gold_accuracy, weighting=rules.weighting
    )
    results = with_faces(found.frame, ballot.matches, scored["steps"])
    unranked = unranked_models(scored)
    rated = found.frame.filter(~pl.any_horizontal(pl.col("model_a", "model_b").is_in(unranked)))
    boards = {"chains": scored.get("chains"), "dimensions": DIMENSIONS}
    return {
        "ranking": ranking(rated, **boards, draws=draws),
        "matchups": matchups(rated, **boards),
        "match_results": results,
        "annotators": annotators(votes, matches, min_gold_accuracy=rules.min_gold_accuracy),
        "vote_agreement": vote_agreement(votes, matches, draws=draws),
        "metric_agreement": metric_agreement(results, "fss", **boards, draws=draws),
        "vote_facts": facts(ballot, found, unranked, found.frame.height - rated.height),
    }


def unranked_models(scored: Mapping[str, pl.DataFrame]) -> list[str]:
    """Models that completed too few of their chains to be ranked."""
    if "completion" not in scored:
        return []
    return scored["completion"].filter(~pl.col("ranked"))["model"].unique().sort().to_list()


def pseudonymous(votes: pl.DataFrame, salt: str) -> pl.DataFrame:
    """Votes whose annotators are called by a short hash of salt, source and name; unknown ones stay so."""
    people = votes.select("source", "annotator").unique()
    names = [
        (ANONYMOUS if name.startswith(ANONYMOUS) else "")
        + keys.fingerprint({"salt": salt, "source": source, "annotator": name})[:12]
        for source, name in people.iter_rows()
    ]
    told = people.with_columns(pl.Series("pseudonym", names, dtype=pl.String))
    held = votes.join(told, on=["source", "annotator"], how="left", maintain_order="left")
    return held.with_columns(pl.col("pseudonym").alias("annotator")).drop("pseudonym")


def with_faces(results: pl.DataFrame, matches: pl.DataFrame, steps: pl.DataFrame) -> pl.DataFrame:
    """Results with the FSS of both last images (null where no face was found) and what voters saw."""
    key = ["model", "photo", "session"]
    order = [name for name in ("step", "attempt") if name in steps.columns]
    last = steps.sort(order).group_by(key).agg(pl.col("fss").last())
    sides = [
        last.rename({"model": f"model_{side}", "fss": f"fss_{side}"}).select(
            f"model_{side}", "photo", "session", f"fss_{side}"
        )
        for side in ("a", "b")
    ]
    shown = matches.select(pl.col("id").alias("match"), *_CROPS)
    held = results
    for side, table in zip(("a", "b"), sides, strict=True):
        on = [f"model_{side}", "photo", "session"]
        held = held.join(table, on=on, how="left", maintain_order="left")
    return held.join(shown, on="match", how="left", maintain_order="left")


def facts(ballot: Ballot, found: MatchResults, unranked: list[str], n_with_unranked: int) -> pl.DataFrame:
    """What a ranking stands on, one fact a row, as text."""
    votes, rules, made = ballot.read.votes, ballot.rules, ballot.match_set
    left_out = dict(found.left_out)
    left_out["votes_repeated"] += ballot.read.duplicates
    left_out["votes_on_unknown_matches"] += ballot.read.other_matches
    sources = votes.group_by("source").len().sort("source")
    unknown = votes.filter(pl.col("annotator").str.starts_with(ANONYMOUS))
    known = votes.filter(~pl.col("annotator").str.starts_with(ANONYMOUS))
    is_simulated = ballot.voters == SIMULATED
    told: dict[str, object] = {
        "version": VERSION,
        "voters": ballot.voters,
        "simulated_votes": votes.height if is_simulated else 0,
        "simulated_votes_left_out": ballot.read.simulated_left_out,
        "simulated_crowds": " | ".join(ballot.truths) if is_simulated else None,
        "question": rules.question,
        "majority": "a match goes to the choice with most votes, else it is a tie: half a win each",
        "model": "Bradley-Terry, maximum likelihood; 400 points are odds of 10, mean of the rated 1000",
        "interval": "95 %, percentiles of resampled photos",
        **{
            name: value for name, value in rules.model_dump().items() if name not in ("question", "simulated")
        },
        "simulated_rule": rules.simulated,
        "matches_digest": keys.sha256("\n".join(ballot.matches["id"].sort()).encode()),
        "match_strategy": made.strategy,
        "match_seed": made.seed,
        "matches": made.n_matches,
        "matches_gold": made.n_gold,
        "matches_with_result": found.frame.height,
        "matches_of_models_not_ranked": n_with_unranked,
        "models_not_ranked": ", ".join(unranked),
        "votes": votes.height,
        **{f"votes_from_{source}": n for source, n in sources.iter_rows()},
        **{f"rejected_from_{source}": n for source, n in ballot.rejected.items()},
        **left_out,
        "votes_digest": ballot.read.digest,
        "annotators": known.select("source", "annotator").n_unique(),
        "votes_of_unknown_annotators": unknown.height,
        "annotators_left_out": len(found.annotators_left_out),
        "too_fast_ms": FASTEST_MS,
    }
    rows = [(name, "none" if value is None else str(value)) for name, value in told.items()]
    return pl.DataFrame(rows, schema={"name": pl.String, "value": pl.String}, orient="row")
