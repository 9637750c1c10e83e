"""From stored records to the two tables that the metrics take."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from adapters.base import ObjectStore
from domain.sessions import Instruction, Session
from domain.summaries import StepFailure
from metrics.floors import Floor
from metrics.frames import photos_schema, steps_schema
from metrics.shapes import Pair
from tasks.definitions import taxonomy_of
from tasks.histories import History
from tasks.measured_edits import MeasuredEdits
from tasks.measured_tables import ROW
from tasks.unmeasured import edits_of

COLUMNS = ("kind", "reason", "width", "height", "served_version", "truth")
"""Of the table of finished steps, besides those that every walk needs."""


@dataclass(frozen=True)
class Collected:
    """The input of the metrics."""

    steps: pl.DataFrame
    photos: pl.DataFrame
    truth: list[tuple[str, str, str, int, dict[str, Any]]]
    """(model, photo, session, step, what the model says it did) where a model says so."""
    served: Counter[Served]
    """How often which version answered for whom."""
    floor: Floor | None
    """Of FSS, by the photos of other people; None with one person."""
    sizes: Counter[Pair]
    """Of the edits: the pixels of input and output."""


class Served(NamedTuple):
    """Who answered when a card was asked."""

    role: str
    """`model`, `judge` or `tracker`."""
    card: str
    version: str


class Collector:
    """Joins the planned steps of a run with what came of them, and that with what was measured of it.

    Only edits that the compacted table of measurements does not have are read from their records.
    """

    def __init__(self, history: History, store: ObjectStore) -> None:
        self._history = history
        self._run, self._photos = history.run, history.photos
        self._taxonomy = taxonomy_of(self._run.suite)
        self._measured = MeasuredEdits(self._run, self._photos, store)
        self._records = self._measured.records

    def collect(self, failures: Sequence[StepFailure]) -> Collected:
        """Both tables, in the order of the plan; model by model, so that little is held beside the result."""
        self._records.read_photos()
        failed = self._failed(failures)
        steps: list[pl.DataFrame] = []
        seen: list[pl.DataFrame] = []
        served, sizes = Counter[Served](), Counter[Pair]()
        for at, card in enumerate(self._run.cards):
            edits = edits_of(self._history, at)
            measured = self._measured.of_model(card.id, edits)
            steps.append(self._steps(at, measured, failed))
            versions = edits.select(*ROW, "image_sha256").join(
                measured.select(*ROW, "judge_version", "tracker_version"),
                on=ROW,
                how="left",
                maintain_order="left",
            )
            answers = self._history.of_model(at)["served_version"]
            served += counted("model", card.id, answers)
            if self._run.judge_card:
                served += counted("judge", self._run.judge_card.id, versions["judge_version"])
            seen.append(versions.select("image_sha256", "tracker_version"))
            sizes += self._sizes(card.id, edits)
        base = [self._photos.by_id[name] for name in self._run.photos]
        return Collected(
            steps=_joined(steps, steps_schema(self._taxonomy)),
            photos=pl.DataFrame(
                [self._records.photo(photo) for photo in base], schema=photos_schema(self._taxonomy)
            ),
            truth=list(self._truth()),
            served=served + self._tracked(seen),
            floor=self._records.floor(),
            sizes=sizes,
        )

    def _steps(self, at: int, measured: pl.DataFrame, failed: pl.DataFrame) -> pl.DataFrame:
        """Every planned step of a model's chains, with what came of it."""
        found = self._history.of_model(at).select("chain", "step", "key", "kind", "reason")
        if self._run.suite.steps.attempts > 1:  # the one that was made, or else the last
            found = found.unique(["chain", "step"], keep="last", maintain_order=True)
        rows = self._planned(at).join(found, on=["chain", "step"], how="left", maintain_order="left")
        rows = rows.join(failed, on=["chain", "step"], how="left", maintain_order="left")
        rows = rows.join(measured, on=ROW, how="left", maintain_order="left")
        unfinished = pl.when(pl.col("error").is_null()).then(pl.lit("not_run")).otherwise(pl.lit("failed"))
        return rows.with_columns(
            outcome=pl.coalesce("kind", unfinished),
            reason=pl.when(pl.col("kind").is_null()).then("error").otherwise("reason"),
        ).select(steps_schema(self._taxonomy).names())

    def _planned(self, at: int) -> pl.DataFrame:
        """The planned steps of one model, in the order of the plan."""
        run, history = self._run, self._history
        asked = [(s, number, step) for s in run.sessions for number, step in enumerate(s.steps, 1)]
        own = pl.DataFrame([self._asked(*step) for step in asked], ASKED, orient="row")
        base = [self._photos.by_id[name] for name in run.photos]
        lengths = np.array([len(session.steps) for session in run.sessions], np.int64)
        photos, sessions = history.pairs
        counts = lengths[sessions]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        steps = np.repeat((np.cumsum(lengths) - lengths)[sessions], counts) + within
        chain = np.repeat(at * history.stride + photos * len(run.sessions) + sessions, counts)
        photos = np.repeat(photos, counts)
        return own[steps].with_columns(
            pl.Series("chain", chain.astype(np.uint32)),
            pl.Series("photo", [photo.id for photo in base], pl.String).gather(photos),
            pl.Series("subject", [photo.subject for photo in base], pl.String).gather(photos),
            suite=pl.lit(run.suite.id),
            dataset=pl.lit(self._photos.id),
            model=pl.lit(run.cards[at].id),
        )

    def _asked(self, session: Session, number: int, step: Instruction) -> tuple[Any, ...]:
        attribute = self._taxonomy.attributes[step.attribute.casefold()]
        asked = (step.prompt, attribute.sub_axis, attribute.category, step.keep)
        return (session.id, session.test_set, number, *asked)

    def _failed(self, failures: Sequence[StepFailure]) -> pl.DataFrame:
        """Errors by chain and step; of several, the last."""
        errors = {(self._history.number(f.chain), f.step): f.error for f in failures}
        rows = [(chain, step, error) for (chain, step), error in errors.items() if chain is not None]
        return pl.DataFrame(rows, {"chain": pl.UInt32, "step": pl.Int64, "error": pl.String}, orient="row")

    def _truth(self) -> Iterator[tuple[str, str, str, int, dict[str, Any]]]:
        told = self._history.steps.filter(pl.col("truth").is_not_null()).select("chain", "step", "truth")
        for number, step, truth in told.iter_rows():
            chain = self._history.chain(number)
            yield chain.model, chain.photo, chain.session, step, json.loads(truth)

    def _tracked(self, seen: list[pl.DataFrame]) -> Counter[Served]:
        """The tracker looks at an image once, however many steps have it."""
        run = self._run
        if not seen or run.tracker_card is None:
            return Counter()
        card = run.tracker_card.id
        images = pl.concat(seen).unique("image_sha256", keep="first", maintain_order=True)
        base = {p.image_sha256: p for p in (self._photos.by_id[name] for name in run.photos)}
        unedited = pl.DataFrame({"image_sha256": list(base)}, {"image_sha256": pl.String})
        unedited = unedited.join(images, on="image_sha256", how="anti")["image_sha256"]
        own = pl.Series([self._records.tracker_version(base[sha]) for sha in unedited], dtype=pl.String)
        return counted("tracker", card, images["tracker_version"]) + counted("tracker", card, own)

    def _sizes(self, model: str, edits: pl.DataFrame) -> Counter[Pair]:
        base = pl.DataFrame(
            [(p.id, p.width, p.height) for p in (self._photos.by_id[name] for name in self._run.photos)],
            {"photo": pl.String, "base_width": pl.Int64, "base_height": pl.Int64},
            orient="row",
        )
        is_first = pl.col("step") == 1
        sizes = edits.join(base, on="photo", how="left", maintain_order="left").select(
            pl.when(is_first).then("base_width").otherwise(pl.col("width").shift(1)).alias("from_width"),
            pl.when(is_first).then("base_height").otherwise(pl.col("height").shift(1)).alias("from_height"),
            "width",
            "height",
        )
        counted = sizes.group_by(sizes.columns).len().iter_rows()
        return Counter({Pair(model, (w, h), (width, height)): n for w, h, width, height, n in counted})


def counted(role: str, card: str, versions: pl.Series) -> Counter[Served]:
    """How often which version answered, where it says so."""
    return Counter(
        {Served(role, card, name): n for name, n in versions.drop_nulls().value_counts().iter_rows()}
    )


def _joined(frames: list[pl.DataFrame], schema: pl.Schema) -> pl.DataFrame:
    """The rows of all frames, each column in one piece; column by column, so that they are not held twice."""
    columns: list[pl.Series] = []
    for name, kind in schema.items():
        pieces = [pl.Series(name, [], kind), *(frame.get_column(name) for frame in frames)]
        columns.append(pl.concat(pieces, rechunk=True))
        frames[:] = [frame.drop(name) for frame in frames]
    return pl.DataFrame(columns)


ASKED = pl.Schema(
    {
        "session": pl.String,
        "test_set": pl.String,
        "step": pl.Int64,
        "prompt": pl.String,
        "asked_sub_axis": pl.String,
        "asked_category": pl.String,
        "keep": pl.Boolean,
    }
)
"""Columns of a planned step that its session decides."""
