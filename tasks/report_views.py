"""What the page and the terminal show of a snapshot, read from the store."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import polars as pl

from adapters.base import ObjectStore
from adapters.pages.report_page import (
    BoardRow,
    Cell,
    ChainView,
    Comparison,
    FileRow,
    Page,
    Series,
    SimpleTable,
    StepView,
    thumbnail,
)  # fmt: skip
from domain import keys
from domain.plan import Chain
from domain.records import OutcomeRecord
from domain.runs import RunPlan, Snapshot
from metrics.ranking_frames import ALL
from metrics.scoring import POOLED
from metrics.session_scores import FLOOR_METRIC
from tasks import ledger, wiring
from tasks.paper_index import read_index
from tasks.scoring import notices_of_groups, read_table, rules_of
from tasks.served import notices_of
from tasks.threads import on_threads
from tasks.vote_notices import vote_notices

MAX_COMPARISONS = 12

SHOWN = (
    "leaderboard", "progression", "coverage", "overediting", "steps", "photos", "left_out", "served",
    "refusals", "shapes", "truth", "tracker_accuracy",
)  # fmt: skip
"""The tables that the page shows; it links to the others."""

BOARD_COLUMNS = (
    ("Drop_FSS %", "mean loss of similarity to the person over the steps, % of the photo's own; low is good"),
    ("SC", "semantic consistency, 0 to 1: the worse of editing success and (no) overediting; high is good"),
    ("OER", "overedits per step: changes nobody asked for; low is good"),
    ("OER without facial hair", "the same without mustache and beard, which can only move for some people"),
    ("complete", "share of planned sessions with all four images"),
    ("refused", "share of planned sessions that a refusal stopped"),
    ("no image", "share of planned sessions that an answer without an image stopped"),
    ("no face", "share of edited images without a face (counted as FSS 0 by default)"),
    ("Drop to floor %", "Drop_FSS on a scale where a photo of somebody else is 100"),
)  # fmt: skip


def board_rows(board: pl.DataFrame, run: RunPlan) -> list[BoardRow]:
    """The pooled leaderboard as it is read: models first, then controls, best first."""
    rows = board.filter(pl.col("test_set") == POOLED).iter_rows(named=True)
    cards = run.card
    made = [
        BoardRow(
            model=row["model"],
            is_control=cards[row["model"]].is_control,
            note=cards[row["model"]].note,
            cells=[
                estimate(row, "drop_fss", 2),
                estimate(row, "sc", 3),
                estimate(row, "oer", 3),
                estimate(row, "oer_no_facial_hair", 3),
                Cell(share(row["completion"]), n=row["n_planned"]),
                Cell(share(row["refusal"])),
                Cell(share(row["no_image"])),
                Cell(share(row["no_face"])),
                estimate(row, FLOOR_METRIC, 2) if FLOOR_METRIC in row else Cell("–"),
            ],
        )
        for row in rows
    ]
    return sorted(made, key=lambda row: row.is_control)


def estimate(row: dict[str, Any], name: str, digits: int) -> Cell:
    """A mean with its interval; a mean that is not determined is a dash, with how many went into it: 0."""
    if row[name] is None:
        return Cell("–", n=row[f"{name}_n"])
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    interval = "" if low is None else f"{low:.{digits}f} to {high:.{digits}f}"
    return Cell(f"{row[name]:.{digits}f}", interval, row[f"{name}_n"])


def share(value: float | None) -> str:
    """A share as a percentage."""
    return "–" if value is None else f"{value:.1%}"


def page_of(run: RunPlan, snapshot: Snapshot, store: ObjectStore) -> Page:
    """Everything the page shows, out of the store."""
    tables = {name: read_table(store, snapshot, name) for name in SHOWN}
    comparisons, total = comparisons_of(run, tables["steps"], store)
    return Page(
        title=run.suite.title,
        lead=(
            f"{len(run.cards)} models, {len(run.photos)} photos, {len(run.sessions)} sessions of edits. "
            "Each model edits its own last output; every number is computed from the stored images."
        ),
        notices=(
            *vote_notices(snapshot, store),
            *notices_of(tables["served"], tables["steps"]),
            *notices_of_groups(run),
        ),
        board_columns=BOARD_COLUMNS,
        board=board_rows(tables["leaderboard"], run),
        series=series_of(tables["progression"]),
        comparisons=comparisons,
        comparisons_note=f"{len(comparisons)} of {total} pairs of a photo and a session. FSS and SC below.",
        tables=[*ranking_shown(snapshot, store), *_tables(tables)],
        files=[
            FileRow(entry["kind"], entry["number"], entry["title"], entry["n"], entry["files"])
            for entry in read_index(snapshot, store)
            if entry["files"]
        ],
        facts=[*facts_of(run, snapshot), _near_duplicates(tables["photos"])],
    )


def series_of(progression: pl.DataFrame) -> list[Series]:
    """The mean FSS of each model, step by step."""
    return [
        Series(
            model=str(model),
            mean=rows["fss"].to_list(),
            low=rows["fss_low"].to_list(),
            high=rows["fss_high"].to_list(),
        )
        for (model,), rows in progression.sort("model", "step").group_by(["model"], maintain_order=True)
    ]


def comparisons_of(run: RunPlan, steps: pl.DataFrame, store: ObjectStore) -> tuple[list[Comparison], int]:
    """Each session once, on a photo in turn, over all models."""
    photos = wiring.dataset(run.dataset)
    shown = [
        Chain(model=card.id, photo=run.photos[number % len(run.photos)], session=session.id)
        for number, session in enumerate(run.sessions[:MAX_COMPARISONS])
        for card in run.cards
    ]
    find = partial(ledger.outcome, store)
    found = {
        walk.chain: walk for walk in on_threads(lambda c: run.walk(c, photos.by_id[c.photo], find), shown)
    }
    rows = _rows_of(shown, steps)
    picture = cache(lambda sha, extension: thumbnail(ledger.read_image(store, sha, extension)))
    made: list[Comparison] = []
    for number, session in enumerate(run.sessions[:MAX_COMPARISONS]):
        photo = photos.by_id[run.photos[number % len(run.photos)]]
        chains = [
            ChainView(
                model=card.id,
                steps=[
                    StepView(picture(photo.image_sha256, photo.extension), "before"),
                    *(
                        _step_view(attempt.outcome, rows[chain, step], picture)
                        for chain in (Chain(model=card.id, photo=photo.id, session=session.id),)
                        for step, attempt in enumerate(found[chain].decided, 1)
                    ),
                ],
            )
            for card in run.cards
        ]
        prompts = [step.prompt for step in session.steps]
        made.append(Comparison(f"{photo.id} · {session.id}", prompts, chains))
    return made, len(run.photos) * len(run.sessions)


def _rows_of(chains: list[Chain], steps: pl.DataFrame) -> dict[tuple[Chain, int], dict[str, Any]]:
    named = pl.DataFrame([chain.model_dump() for chain in chains], {n: pl.String for n in Chain.model_fields})
    rows = steps.join(named.unique(), on=named.columns, how="semi").iter_rows(named=True)
    return {(Chain(**{n: row[n] for n in named.columns}), row["step"]): row for row in rows}


def _step_view(outcome: OutcomeRecord, row: dict[str, Any], picture: Any) -> StepView:
    if outcome.image is None:
        return StepView("", f"{outcome.kind}: {outcome.reason}", is_bad=True)
    fss = "no face" if row["fss"] is None else f"FSS {row['fss']:.2f}"
    judged = row["judgement"] == "scored"
    sc = f"SC {min(row['success'], row['overediting']) / 10:.1f}" if judged else "SC –"
    return StepView(
        picture(outcome.image.sha256, outcome.image.extension), f"{fss} · {sc}", row["fss"] is None
    )


def _tables(tables: dict[str, pl.DataFrame]) -> list[SimpleTable]:
    order = ["count", "model", "intended", "found"]
    overedits = tables["overediting"].filter(pl.col("count") > 0)
    most = overedits.sort(order, descending=[True, False, False, False]).head(20)
    made = [
        simple_table("Left out, and why", "Whatever is missing from a mean, counted.", tables["coverage"]),
        simple_table("Photos left out", "Files that did not become a photo.", tables["left_out"]),
        simple_table(
            "Refusals",
            "Steps that got an answer, and those declined or without an image.",
            tables["refusals"],
        ),
        simple_table(
            "Sizes",
            "Edits of another size than their input, and of another aspect (over 1 %).",
            tables["shapes"],
        ),
        simple_table("Who answered", "Each served version beside the one that was asked.", tables["served"]),
        simple_table("Overedits found most", "What a model brought in, by what it was asked for.", most),
    ]
    truth = truth_summary(tables["truth"])
    if truth.height:
        made.insert(0, simple_table("Measured against the truth", TRUTH_TEXT, truth))
        made.insert(1, simple_table("What the tracker recognised", TRACKER_TEXT, tables["tracker_accuracy"]))
    return made


def ranking_shown(snapshot: Snapshot, store: ObjectStore) -> list[SimpleTable]:
    """The ranking by votes over all matches; nothing where a snapshot has none."""
    if store.head(keys.report(snapshot.suite, snapshot.digest, "ranking.parquet")) is None:
        return []
    board = read_table(store, snapshot, "ranking").filter(pl.col("dimension") == ALL)
    return [
        simple_table("Ranking by votes", "Bradley–Terry ratings of the faces after the last edit.", board)
    ]


TRUTH_TEXT = (
    "The procedural editor reports what it really drew. Overedits per step and missed edits as it "
    "reports them, beside what the tracker and the rules measured on the same sessions."
)
TRACKER_TEXT = (
    "The tracker is a heuristic stand-in for a multimodal language model. Of every change that was "
    "really drawn: how often it saw exactly that category afterwards."
)


def truth_summary(truth: pl.DataFrame) -> pl.DataFrame:
    """Measured overediting and missed edits beside the true ones, one row a model."""
    return (
        truth.group_by("model")
        .agg(
            pl.len().alias("sessions"),
            pl.col("oer_true").mean(),
            pl.col("oer_measured").mean(),
            (pl.col("missed_true").sum() / pl.col("asked").sum()).alias("missed_true"),
            (pl.col("missed_measured").sum() / pl.col("asked").sum()).alias("missed_measured"),
        )
        .sort("model")
    )


def simple_table(title: str, text: str, table: pl.DataFrame) -> SimpleTable:
    """A table of a snapshot as the page shows it."""
    columns = [name for name in table.columns if name not in ("suite", "dataset")]
    rows = [[_cell(value) for value in row] for row in table.select(columns).iter_rows()]
    return SimpleTable(title, text, [name.replace("_", " ") for name in columns], rows)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def facts_of(run: RunPlan, snapshot: Snapshot) -> list[tuple[str, str]]:
    """What made the numbers, for the foot of the page."""
    licences = sorted({wiring.dataset(run.dataset).by_id[name].licence for name in run.photos})
    packages = ", ".join(f"{name} {version}" for name, version in sorted(run.packages.items()))
    judges = {"judge": run.judge, "tracker": run.tracker, "step checker": run.checker}
    return [
        ("run", run.id),
        ("snapshot", snapshot.digest),
        ("code", run.code_version),
        ("definitions", run.definitions_digest),
        ("packages", packages),
        ("embedder", f"{run.embedder.adapter} {run.embedder.version}, pack {run.embedder.pack}"),
        *(
            (role, f"{judge.adapter} {judge.version}, prompt {judge.prompt_version}")
            for role, judge in judges.items()
            if judge
        ),
        ("rules", ", ".join(f"{name} = {value}" for name, value in rules_of(run).items())),
        ("photo licences", "; ".join(licences)),
    ]


def _near_duplicates(photos: pl.DataFrame) -> tuple[str, str]:
    flagged = photos["near_duplicate"].sum()
    text = f"{flagged} of {photos.height} photos: their FSS₀ compares a picture with a copy"
    return "near-duplicate references", text
