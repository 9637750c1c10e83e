"""What a page shows of people's votes: the win matrix, matches, agreement, and where votes came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from adapters.pages.site.picture_views import MatchExample, Matchups, Picture, WinCell
from adapters.pages.site.views import Table
from tasks.site_source import SiteSource
from tasks.site_words import names_of, words

MOST_MATCHES = 48
AGREEMENT = {
    "krippendorff_alpha": "Krippendorff's alpha (1: always alike, 0: as by chance)",
    "majority_share": "share of votes that are with the majority of their match",
    "leave_one_out_agreement": "share of votes that agree with the majority of the other votes",
    "gold_accuracy": "share of right votes where the answer is known",
}


def matchups_of(source: SiteSource) -> Matchups | None:
    """The win matrix and some of its matches; None where there are no votes."""
    table = source.maybe("matchups")
    if table is None:
        return None
    whole = table.filter((pl.col("dimension") == "all") & (pl.col("value") == "all"))
    models = _by_rating(source, whole)
    names = names_of(source.run)
    held = {(row["model"], row["other"]): row for row in whole.iter_rows(named=True)}
    cells = [[_cell(held.get((a, b))) for b in models] for a in models]
    examples, total = _matches(source, names)
    note = (
        "Share of matches that the model of the row won against that of the column, with its 95 % interval; "
        "a tie is half a win."
    )
    told = f"{len(examples)} of {total} matches, every pair of models in turn."
    return Matchups([names.get(model, model) for model in models], cells, examples, note, told)


def _by_rating(source: SiteSource, table: pl.DataFrame) -> list[str]:
    ranking = source.maybe("ranking")
    there = set(table["model"].to_list()) | set(table["other"].to_list())
    if ranking is None:
        return sorted(there)
    best = ranking.filter(pl.col("dimension") == "all").sort(
        "rating", "model", descending=[True, False], nulls_last=True
    )
    order = [model for model in best["model"].to_list() if model in there]
    return [*order, *sorted(there - set(order))]


def _cell(row: Mapping[str, Any] | None) -> WinCell | None:
    if row is None or row["win_rate"] is None:
        return None
    ends = "" if row["low"] is None or row["high"] is None else f"{row['low']:.0%} to {row['high']:.0%}"
    n = f"n = {row['n_matches']}"
    return WinCell(f"{row['win_rate']:.0%}", ends, round(row["win_rate"] * 10), n)


def _matches(source: SiteSource, names: Mapping[str, str]) -> tuple[list[MatchExample], int]:
    table = source.maybe("match_results")
    if table is None:
        return [], 0
    pairs = table.sort("model_a", "model_b", "match").with_columns(
        pl.int_range(pl.len()).over("model_a", "model_b").alias("turn")
    )
    rows = pairs.sort("turn", "model_a", "model_b").head(MOST_MATCHES).iter_rows(named=True)
    return [_match(row, names) for row in rows], table.height


def _match(row: Mapping[str, Any], names: Mapping[str, str]) -> MatchExample:
    a, b = (names.get(row[f"model_{side}"], row[f"model_{side}"]) for side in ("a", "b"))
    won = {"a": f"{a} won", "b": f"{b} won", "tie": "a tie"}.get(row["result"], "open")
    votes = f"{row['votes_a']} : {row['votes_b']} votes" + (
        f", {row['votes_tie']} for neither" if row["votes_tie"] else ""
    )

    def caption(side: str, name: str) -> str:
        fss = row[f"fss_{side}"]
        return name + ("" if fss is None else f", similarity {fss:.2f}")

    return MatchExample(
        title=f"{row['photo']} · {a} / {b}",
        original=Picture(row["original_sha256"], "png"),
        a=Picture(row["crop_a_sha256"], "png"),
        b=Picture(row["crop_b_sha256"], "png"),
        caption_a=caption("a", a),
        caption_b=caption("b", b),
        result=f"{won}: {votes}",
    )


def analysis_tables(source: SiteSource) -> list[Table]:
    """Whether metrics agree with people, and people with each other."""
    return [*_metric_agreement(source), *_vote_agreement(source), *_annotators(source)]


def _annotators(source: SiteSource) -> Iterator[Table]:
    table = source.maybe("annotators")
    if table is None:
        return
    rows = [
        [
            row["annotator"],
            str(row["n_votes"]),
            f"{row['gold_right']} of {row['n_gold']}",
            _percent(row["majority_agreement"]),
            _percent(row["left_share"]),
            "–" if row["median_ms"] is None else f"{row['median_ms'] / 1000:.1f} s",
            ", ".join(words(flag) for flag in row["flags"]),
        ]
        for row in table.iter_rows(named=True)
    ]
    text = (
        "Under pseudonyms. Gold matches have a known answer; agreement is with the majority of a match's "
        "other votes; left is how often they chose what was shown left. A flag alone leaves no vote out."
    )
    names = ["annotator", "votes", "gold right", "with the majority", "left", "median time", "flags"]
    yield Table("Annotators", text, names, rows, frozenset(range(1, 6)))


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _metric_agreement(source: SiteSource) -> Iterator[Table]:
    table = source.maybe("metric_agreement")
    if table is None:
        return
    rows = [
        [
            "everything" if row["dimension"] == "all" else words(row["dimension"]),
            "" if row["dimension"] == "all" else row["value"],
            row["metric"].upper(),
            _share(row),
            *(str(row[name]) for name in ("n_matches", "agree", "ties", "unknown")),
        ]
        for row in table.iter_rows(named=True)
    ]
    text = (
        "In how many matches that people decided a metric picks the face that they preferred, with the 95 % "
        "interval over photos. Matches that people left tied, or of which the metric does not know both "
        "faces, are not in the share and are counted beside it."
    )
    names = ["by", "value", "metric", "agrees", "matches", "agreeing", "ties", "unknown"]
    yield Table("Metric against people", text, names, rows, frozenset(range(3, len(names))))


def _share(row: Mapping[str, Any]) -> str:
    if row["share"] is None:
        return "–"
    ends = "" if row["low"] is None or row["high"] is None else f" ({row['low']:.1%} to {row['high']:.1%})"
    return f"{row['share']:.1%}{ends}"


def _vote_agreement(source: SiteSource) -> Iterator[Table]:
    table = source.maybe("vote_agreement")
    if table is None:
        return
    rows = [
        [
            AGREEMENT.get(row["name"]) or words(row["name"]),
            "–" if row["value"] is None else f"{row['value']:.3f}",
            "–" if row["low"] is None or row["high"] is None else f"{row['low']:.3f} to {row['high']:.3f}",
            str(row["n"]),
        ]
        for row in table.iter_rows(named=True)
    ]
    yield Table("People with each other", "", ["measure", "value", "95 %", "n"], rows, frozenset({1, 2, 3}))


def vote_facts(source: SiteSource) -> dict[str, str]:
    """What a ranking stands on, by name; nothing where nobody has voted."""
    table = source.maybe("vote_facts")
    return {} if table is None else dict(table.select("name", "value").iter_rows())


def is_simulated(source: SiteSource) -> bool:
    """Whether a made-up crowd cast the votes of a ranking."""
    return int(vote_facts(source).get("simulated_votes", 0)) > 0


def vote_lead(source: SiteSource) -> str:
    """How many people said how much, in one sentence; empty where nobody has voted."""
    facts = vote_facts(source)
    if not {"votes", "annotators", "matches_with_result"} <= set(facts):
        return ""
    votes, people, matches = (facts[name] for name in ("votes", "annotators", "matches_with_result"))
    who = "simulated annotator" if is_simulated(source) else "annotator"
    return f"{votes} votes of {people} {who}{'s' * (people != '1')} on {matches} matches."


def vote_paragraphs(source: SiteSource) -> list[str]:
    """The question that was asked and how votes became ratings, as text."""
    facts = vote_facts(source)
    told = (
        ("question", "Voters saw the original face and two others, and were asked: “{}”"),
        ("majority", "Of a match: {}."),
        ("model", "Ratings: {}."),
        ("interval", "Intervals: {}."),
    )
    return [text.format(facts[name]) for name, text in told if name in facts]


def vote_table(source: SiteSource) -> Iterator[Table]:
    """Every fact of the votes: sources with their counts, what was left out, filters, digests."""
    facts = vote_facts(source)
    if facts:
        rows = [[words(name), value] for name, value in facts.items()]
        text = "Sources and counts, votes that were left out, filters and weights, and which votes these are."
        yield Table("Votes and rules", text, ["fact", "value"], rows)
