"""What scoring a million steps costs, in units of queries that somebody would write by hand.

Run with `python -m tests.benchmarks.scoring`. One Parquet file of 1,000,000 step records in the compact form;
every figure is the median of fresh processes that alternate. "Scoring" reads the file and makes every table:
sessions, means with bootstrapped intervals, progression, coverage, matrix and missed edits. The queries of
polars read the same file and give sums by model and test set, gender, and pooled, without any check, interval
or matrix:

- "masked sums": Drop_FSS and SC of steps, as if every session were complete (not the right means);
- "masked sums of sessions": Drop_FSS and SC of complete sessions, equal to ours;
- "masked sums of sessions with overedits": the same with OER, equal to ours.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl

from domain.taxonomy import Taxonomy
from metrics import scoring
from metrics.coded_steps import photo_masks
from metrics.leaderboard import POOLED
from metrics.masks import mask_column
from tasks.definitions import load

STEPS = 1_000_000
QUERIES = ("masked sums", "masked sums of sessions", "masked sums of sessions with overedits")
CELL = ["dataset", "model", "test_set"]


def write(folder: Path) -> None:
    """The steps, the photos, and the photos' masks for the query by hand."""
    sys.path.insert(0, str(Path(__file__).parents[1]))  # as pytest does
    from synthetic import PAIRS, Plan, synthetic_run

    taxonomy = load(Taxonomy, "face-edit-attributes")
    pairs = (*PAIRS, ("celeba", "extra-1"), ("celeba", "extra-2"), ("celebset", "extra-3"))
    run = synthetic_run(taxonomy, 1, Plan(pairs=pairs))
    steps = run.steps.sort("dataset", "model", "photo", "session", "step").head(STEPS)
    steps.write_parquet(folder / "steps.parquet")
    run.photos.write_parquet(folder / "photos.parquet")
    masks = photo_masks(run.photos, taxonomy)
    run.photos.select(
        pl.col("dataset", "photo").cast(pl.Categorical),
        "fss0",
        pl.col("groups").list.contains("gender=female").alias("female"),
        *(pl.Series(f"base_{mask_column(name)}", masks[:, n]) for n, name in enumerate(taxonomy.sub_axes)),
    ).write_parquet(folder / "base.parquet")


def ours(folder: Path) -> dict[str, float]:
    """Read and score everything; the pooled means."""
    steps = pl.read_parquet(folder / "steps.parquet")
    photos = pl.read_parquet(folder / "photos.parquet")
    found = scoring.score(steps, photos, load(Taxonomy, "face-edit-attributes"))
    board = found.leaderboard.filter(pl.col("test_set") == POOLED).sort("dataset", "model")
    return {f"{name}.{n}": v for name in ("drop_fss", "sc", "oer") for n, v in enumerate(board[name])}


def by_hand(folder: Path, kind: str) -> dict[str, float]:
    """One lazy query; the pooled means."""
    base = pl.scan_parquet(folder / "base.parquet")
    steps = pl.scan_parquet(folder / "steps.parquet")
    face = pl.when(pl.col("face") == "found").then(pl.col("fss").clip(0))
    face = face.when(pl.col("face") == "no_face").then(0.0)
    judged = pl.when(pl.col("judgement") == "scored").then(pl.min_horizontal("success", "overediting")) / 10
    if kind == QUERIES[0]:
        drop = (1 - face / pl.col("fss0")) * 100
        rows = steps.join(base.select("dataset", "photo", "fss0", "female"), on=["dataset", "photo"])
        values = rows.with_columns(drop_fss=drop, sc=judged)
    else:
        values = _sessions(steps, base, face, judged, overedits=kind == QUERIES[2])
    metrics = ["drop_fss", "sc", *(["oer"] if kind == QUERIES[2] else [])]
    cells = values.group_by(*CELL, "female").agg(
        *(pl.col(name).sum() for name in metrics),
        *(pl.col(name).count().alias(f"{name}_n") for name in metrics),
    )
    table = cells.collect()
    sums = [pl.col(name).sum() for name in table.columns[4:]]
    by_cell, by_group = table.group_by(CELL).agg(sums), table.group_by(*CELL[:2], "female").agg(sums)
    assert by_cell.height < table.height
    assert by_group.height < table.height
    pooled = (
        table.with_columns(pl.col("dataset", "model").cast(pl.String)).group_by("dataset", "model").agg(sums)
    )
    pooled = pooled.sort("dataset", "model")
    return {f"{name}.{n}": v for name in metrics for n, v in enumerate(pooled[name] / pooled[f"{name}_n"])}


def _sessions(
    steps: pl.LazyFrame, base: pl.LazyFrame, face: pl.Expr, judged: pl.Expr, *, overedits: bool
) -> pl.LazyFrame:
    key = [*CELL, "photo", "session"]
    aggregates = [
        (pl.col("outcome") == "edited").all().alias("complete"),
        pl.len().alias("n"),
        face.sum().alias("fss"),
        face.count().alias("fss_n"),
        judged.sum().alias("judged"),
        judged.count().alias("judged_n"),
    ]
    if overedits:
        steps = steps.join(base.drop("fss0", "female"), on=["dataset", "photo"], maintain_order="left")
        steps = steps.with_columns(_changed().alias("changed"))
        aggregates += [
            (pl.col("tracked") == "tracked").all().alias("tracked"),
            pl.col("changed").sum().cast(pl.Int64),
        ]
    sessions = steps.group_by(key).agg(aggregates)
    sessions = sessions.join(base.select("dataset", "photo", "fss0", "female"), on=["dataset", "photo"])
    complete, n = pl.col("complete"), pl.col("n")
    drop = (1 - pl.col("fss") / n / pl.col("fss0")) * 100
    return sessions.with_columns(
        pl.when(complete & (pl.col("fss_n") == n)).then(drop).alias("drop_fss"),
        pl.when(complete & (pl.col("judged_n") == n)).then(pl.col("judged") / n).alias("sc"),
        *(
            [pl.when(complete & pl.col("tracked")).then(pl.col("changed") / n).alias("oer")]
            if overedits
            else []
        ),
    )


def _changed() -> pl.Expr:
    """Sub-axes of a step that changed unasked; the file is sorted, so the row before is the step before."""
    changed: list[pl.Expr] = []
    first = 0
    for name, categories in load(Taxonomy, "face-edit-attributes").categories.items():
        after = pl.col(mask_column(name))
        before = (
            pl.when(pl.col("step") == 1).then(pl.col(f"base_{mask_column(name)}")).otherwise(after.shift(1))
        )
        asked = pl.col("asked_category").to_physical()
        outside = (asked < first) | (asked >= first + len(categories))
        new = ((after & ~before) != 0) | ((after == 0) & (before != 0))
        changed.append((new & outside).cast(pl.UInt8))
        first += len(categories)
    return pl.sum_horizontal(changed)


def _measure(folder: Path, what: str) -> dict[str, Any]:
    if what == "write":
        write(folder)
        return {}
    start, wall = os.times(), time.perf_counter()
    means = ours(folder) if what == "scoring" else by_hand(folder, what)
    end, seconds = os.times(), time.perf_counter() - wall
    return {
        "cpu": end.user + end.system - start.user - start.system,
        "wall": seconds,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "means": means,
    }


def _fresh(folder: Path, what: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.benchmarks.scoring", "--folder", str(folder), "--measure", what]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(found.stdout)


def compare(folder: Path, rounds: int) -> str:
    """The table, after checking that the means are the same."""
    runs: dict[str, list[dict[str, Any]]] = {what: [] for what in ("scoring", *QUERIES)}
    for _ in range(rounds):
        for what, held in runs.items():
            held.append(_fresh(folder, what))
    truth = runs["scoring"][0]["means"]
    for what in QUERIES[1:]:
        for name, value in runs[what][0]["means"].items():
            assert abs(value - truth[name]) < 1e-9 * max(1.0, abs(value)), (what, name, value, truth[name])
    lines = ["| 1,000,000 steps | CPU s | wall s | peak MB | scoring is |", "|---|---|---|---|---|"]
    for what, held in runs.items():
        cpu, wall, peak = (
            statistics.median(run[name] for run in held) for name in ("cpu", "wall", "peak_mb")
        )
        ratio = statistics.median(a["cpu"] / b["cpu"] for a, b in zip(runs["scoring"], held, strict=True))
        lines.append(f"| {what} | {cpu:.2f} | {wall:.2f} | {peak:.0f} | {ratio:.2f} x |")
    return "\n".join(lines)


def main() -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--measure")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(_measure(options.folder, options.measure)))  # noqa: T201
        return
    with tempfile.TemporaryDirectory() as name:
        # In a process of its own: a child starts with the peak memory of its parent.
        _fresh(Path(name), "write")
        print(compare(Path(name), options.rounds))  # noqa: T201


if __name__ == "__main__":
    main()
