"""From stored records to the frames of a suite of prompt chains: its attempts and its chains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from adapters.base import ObjectStore
from domain.chains import DIMENSIONS, PromptChain
from domain.photos import Photo
from domain.runs import RunPlan
from domain.summaries import StepFailure
from metrics.shapes import Pair
from tasks import check_tables
from tasks.check_tables import EDIT, CheckTable
from tasks.collecting import Served, counted
from tasks.finished_chains import status_of
from tasks.measured_edits import MeasuredEdits
from tasks.measured_tables import ROW
from tasks.surveys import Survey
from tasks.unmeasured import edits_of

COLUMNS = ("kind", "reason", "width", "height", "served_version")
"""Of the table of finished steps, besides those that every walk needs."""
STEPS = pl.Schema(
    {
        **{n: pl.String for n in ("suite", "dataset", "model", "photo", "subject", "session", "test_set")},
        "step": pl.Int64,
        "attempt": pl.Int64,
        "prompt": pl.String,
        "verdict": pl.String,
        "outcome": pl.String,
        "reason": pl.String,
        "faults": pl.List(pl.String),
        "image_sha256": pl.String,
        "image_extension": pl.String,
        "width": pl.Int64,
        "height": pl.Int64,
        "face": pl.String,
        "n_faces": pl.Int64,
        "fss": pl.Float64,
    }
)
"""One attempt a row, in the order of the chains; faces are those of the attempts that were made."""
CHAINS = pl.Schema(
    {
        **{n: pl.String for n in ("suite", "dataset", "model", "photo", "subject", "session", "test_set")},
        "n_steps": pl.Int64,
        "status": pl.String,
        "why": pl.String,
    }
)
"""One chain a row; `why` is the verdict that stopped it, or what left it open: an error or `not_run`."""
OF_PAIR = ("photo", "subject", "session", "test_set", "n_steps")
"""Columns that a chain has of its photo and its session, whichever model edits it."""
PHOTOS = pl.Schema(
    {
        **{n: pl.String for n in ("suite", "dataset", "photo", "subject", "image_sha256", "extension")},
        "width": pl.Int64,
        "height": pl.Int64,
        "face": pl.String,
        "n_faces": pl.Int64,
        "groups": pl.List(pl.String),
    }
)
"""The photos of the run; without a face of its own (`no_face`), nothing is compared with a photo."""


@dataclass(frozen=True)
class DriftCollected:
    """The input of the metrics."""

    steps: pl.DataFrame
    chains: pl.DataFrame
    photos: pl.DataFrame
    served: Counter[Served]
    """How often which version answered for whom."""
    sizes: Counter[Pair]
    """Of the edits, failed attempts included: the pixels of input and output."""


class DriftCollector:
    """Joins the attempts of a run with what its checker said and with what was measured of their faces."""

    def __init__(self, seen: Survey, store: ObjectStore) -> None:
        self._history = seen.history
        self._run, self._photos = seen.history.run, seen.history.photos
        self._measured = MeasuredEdits(self._run, self._photos, store)
        known = CheckTable(self._run, store).read(check_tables.SCHEMA.names())
        self._checks = pl.concat([known, seen.looked_up_checks]).unique(EDIT, keep="first")

    def collect(self, failures: Sequence[StepFailure]) -> DriftCollected:
        """The frames, model by model in the order of the run."""
        steps: list[pl.DataFrame] = [pl.DataFrame(schema=STEPS)]
        chains: list[pl.DataFrame] = [pl.DataFrame(schema=CHAINS)]
        served, sizes = Counter[Served](), Counter[Pair]()
        errors = {self._history.number(failure.chain): failure.error for failure in failures}
        planned = self._planned()
        for at, card in enumerate(self._run.cards):
            tried = self._history.of_model(at)
            own = planned.with_columns(pl.col("chain") + at * self._history.stride, model=pl.lit(card.id))
            checked = self._with_checks(tried)
            served += counted("model", card.id, tried["served_version"])
            if self._run.checker_card:
                served += counted("checker", self._run.checker_card.id, checked["check_version"])
            measured = self._measured.of_model(card.id, edits_of(self._history, at))
            steps.append(_steps(own, checked, measured))
            chains.append(self._chains(own, tried, errors))
            sizes += _sizes(card.id, tried)
        return DriftCollected(
            steps=pl.concat(steps),
            chains=pl.concat(chains),
            photos=self._photo_rows(),
            served=served,
            sizes=sizes,
        )

    def _planned(self) -> pl.DataFrame:
        """The chains of each model, by the number that the first model's have."""
        run, history = self._run, self._history
        photos, sessions = history.pairs
        base = [self._photos.by_id[name] for name in run.photos]
        pairs = [(base[photo], run.sessions[s]) for photo, s in zip(photos, sessions, strict=True)]
        return pl.DataFrame(
            {
                "chain": photos * len(run.sessions) + sessions,
                "photo": [photo.id for photo, _ in pairs],
                "subject": [photo.subject for photo, _ in pairs],
                "session": [session.id for _, session in pairs],
                "test_set": [str(session.test_set) for _, session in pairs],
                "n_steps": [len(session.steps) for _, session in pairs],
            },
            {"chain": pl.UInt32, **{name: CHAINS[name] for name in OF_PAIR}},
        ).with_columns(suite=pl.lit(run.suite.id), dataset=pl.lit(self._photos.id))

    def _with_checks(self, tried: pl.DataFrame) -> pl.DataFrame:
        told = self._checks.select(*EDIT, "faults", "check_version")
        shown = ["input_sha256", "image_sha256", "prompt"]
        joined = tried.join(told, left_on=shown, right_on=EDIT, how="left", maintain_order="left")
        is_checked = pl.col("verdict").is_in(["made", "not_made"])  # else nobody was asked in this run
        return joined.with_columns(pl.when(is_checked).then(pl.col("faults", "check_version")))

    def _chains(self, own: pl.DataFrame, tried: pl.DataFrame, errors: dict[int | None, str]) -> pl.DataFrame:
        last = tried.group_by("chain", maintain_order=True).agg(pl.col("step", "attempt", "verdict").last())
        failed = pl.DataFrame(
            [(chain, error) for chain, error in errors.items() if chain is not None],
            {"chain": pl.UInt32, "error": pl.String},
            orient="row",
        )
        return (
            own.join(last, on="chain", how="left", maintain_order="left")
            .join(failed, on="chain", how="left", maintain_order="left")
            .with_columns(status=status_of(self._history))
            .with_columns(
                why=pl.when(pl.col("status") == "unfinished")
                .then(pl.coalesce("error", pl.lit("not_run")))
                .when(pl.col("status") == "stopped")
                .then("verdict")
            )
            .select(CHAINS.names())
        )

    def _photo_rows(self) -> pl.DataFrame:
        records, run = self._measured.records, self._run
        return pl.DataFrame(
            [
                {
                    "suite": run.suite.id,
                    "dataset": self._photos.id,
                    "photo": photo.id,
                    "subject": photo.subject,
                    "image_sha256": photo.image_sha256,
                    "extension": photo.extension,
                    "width": photo.width,
                    "height": photo.height,
                    "groups": run.suite.groups_of(photo.groups),
                    **{n: records.face_of(photo)[n] for n in ("face", "n_faces")},
                }
                for photo in (self._photos.by_id[name] for name in run.photos)
            ],
            PHOTOS,
        )


def _steps(own: pl.DataFrame, checked: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    faces = measured.select(*ROW, "face", "n_faces", "fss")
    named = checked.join(own, on="chain", how="left", maintain_order="left")
    held = named.join(faces, on=ROW, how="left", maintain_order="left")
    is_made = pl.col("verdict") == "made"  # the same image may have been made elsewhere
    return held.with_columns(
        pl.when(is_made).then(pl.col("face", "n_faces", "fss")), outcome=pl.col("kind")
    ).select(STEPS.names())


def _sizes(model: str, tried: pl.DataFrame) -> Counter[Pair]:
    edited = tried.filter(pl.col("image_sha256").is_not_null())
    sizes = edited.select("input_width", "input_height", "width", "height")
    counted_sizes = sizes.group_by(sizes.columns).len().iter_rows()
    return Counter({Pair(model, (w, h), (width, height)): n for w, h, width, height, n in counted_sizes})


def prompt_chains(run: RunPlan) -> list[PromptChain]:
    """The prompt chains of a run, in the order of its sessions."""
    held = run.chain_set.by_photo if run.chain_set else {}
    return [held[session.photo] for session in run.sessions if session.photo in held]


def chain_rows(run: RunPlan, dataset: str, chains: pl.DataFrame) -> pl.DataFrame:
    """Every prompt chain of a run with its dimensions, and how many models completed it."""
    complete = chains.filter(pl.col("status") == "complete").group_by("session").agg(n=pl.len())
    counts = dict(complete.iter_rows())
    return pl.DataFrame(
        [
            {
                "suite": run.suite.id,
                "dataset": dataset,
                "photo": chain.photo,
                "session": chain.session,
                **chain.dimensions,
                "prompts": list(chain.prompts),
                "n_models_complete": counts.get(chain.session, 0),
            }
            for chain in prompt_chains(run)
        ],
        PROMPT_CHAINS,
    )


PROMPT_CHAINS = pl.Schema(
    {
        **{name: pl.String for name in ("suite", "dataset", "photo", "session", *DIMENSIONS)},
        "prompts": pl.List(pl.String),
        "n_models_complete": pl.Int64,
    }
)


def without_counterpart(run: RunPlan, photos: Sequence[Photo]) -> tuple[list[str], list[str]]:
    """Photos that no prompt chain is for, and photos that a chain is for and that are not there."""
    wanted = [chain.photo for chain in run.chain_set.chains] if run.chain_set else []
    there = [photo.id for photo in photos]
    return sorted({*there} - {*wanted}), sorted({*wanted} - {*there})
