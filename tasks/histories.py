"""How far every chain of a run has come, all at once: `domain.plan.walk` for a whole table of finished steps.

Step k + 1 takes exactly the image that step k returned. So for step 1, 2, … and, where a step is tried again,
attempt 1, 2, … the chains that still go on are joined with the finished attempts on what makes a step's key,
and with the checks of the run's own checker. What finds nothing is the chain's next attempt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from domain import plan
from domain.keys import step_seed
from domain.model_cards import ModelCard
from domain.photos import Dataset, Photo
from domain.plan import Chain, StepPlan
from domain.runs import RunPlan
from tasks.check_tables import EDIT
from tasks.step_tables import IDENTITY, SCHEMA

NEEDED = ("key", *IDENTITY, "image_sha256", "image_extension", "width", "height", "kind")
"""Columns of the table that a walk needs."""
INPUT = ("input_sha256", "input_extension", "input_width", "input_height")
CARRIED = ("photo", "session", *INPUT, "seed")
"""What a walk knows of a step and nobody asks a history for: the step before has the same."""
IS_MADE = pl.col("verdict") == "made"
"""Whether a chain goes on after an attempt."""


@dataclass(frozen=True)
class History:
    """The finished attempts of a run's chains.

    A chain has a number, in the order of `plan.chains`; where sessions are for one photo each, not every
    number has a chain.
    """

    run: RunPlan
    photos: Dataset
    steps: pl.DataFrame
    """Finished attempts by `chain`, `step` and `attempt` with their `verdict`: the columns of the table that
    were asked for; of prompt chains, or where a step is tried again, also what went in."""
    open: pl.DataFrame
    """Chains that are not over: `chain`, the `step` and `attempt` that are next, what they take as their
    input, and whether only the check is missing (`is_edited`)."""

    @property
    def chains(self) -> int:
        """How many chains the run has."""
        return len(self.run.cards) * self.chains_of_a_model

    @property
    def chains_of_a_model(self) -> int:
        """How many chains the run has of each model."""
        return len(self.pairs[0])

    @property
    def stride(self) -> int:
        """From the number of a chain to that of the next model's chain of the same photo and session."""
        return len(self.run.photos) * len(self.run.sessions)

    @cached_property
    def pairs(self) -> Pairs:
        """Of each chain of a model the places of its photo and its session, in order."""
        return pairs_of(self.run)

    def chain(self, number: int) -> Chain:
        """A chain by its number."""
        model, rest = divmod(number, self.stride)
        photo, session = divmod(rest, len(self.run.sessions))
        run = self.run
        return Chain(model=run.cards[model].id, photo=run.photos[photo], session=run.sessions[session].id)

    def number(self, chain: Chain) -> int | None:
        """The number of a chain; None when it is none of this run."""
        models, photos, sessions = self._places
        model, photo = models.get(chain.model), photos.get(chain.photo)
        session = sessions.get(chain.session)
        if model is None or photo is None or session is None:
            return None
        if self.run.sessions[session].photo not in (None, chain.photo):
            return None
        return model * self.stride + photo * len(sessions) + session

    @cached_property
    def _places(self) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
        run = self.run
        named = ((card.id for card in run.cards), run.photos, (session.id for session in run.sessions))
        models, photos, sessions = ({name: at for at, name in enumerate(names)} for names in named)
        return models, photos, sessions

    def of_model(self, at: int) -> pl.DataFrame:
        """The finished attempts of a model, by its place in the run."""
        first = at * self.stride
        return self.steps.filter(pl.col("chain").is_between(first, first + self.stride, "left"))

    @cached_property
    def open_numbers(self) -> frozenset[int]:
        """The chains that are not over."""
        return frozenset(self.open["chain"].to_list())

    def next_steps(self, among: frozenset[int] | None = None) -> Iterator[StepPlan]:
        """The next step of each chain that is not over, in order; of those among some."""
        rows = self.open
        if among is not None:
            rows = rows.filter(pl.col("chain").is_in(list(among)))
        shown = rows.select("chain", "step", "attempt", *INPUT)
        for number, step, attempt, sha, extension, width, height in shown.iter_rows():
            course = self.run.course(self.chain(number))
            yield course.step(step, attempt, sha, extension, (width, height))


Pairs = tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]


def pairs_of(run: RunPlan) -> Pairs:
    """Places of photo and session of each chain that a model has, photo by photo."""
    places = {name: at for at, name in enumerate(run.photos)}
    shared = [at for at, session in enumerate(run.sessions) if session.photo is None]
    own = [(places[s.photo], at) for at, s in enumerate(run.sessions) if s.photo in places]
    photos = np.concatenate(
        [np.repeat(np.arange(len(run.photos)), len(shared)), [photo for photo, _ in own]]
    ).astype(np.uint32)
    sessions = np.concatenate([np.tile(shared, len(run.photos)), [session for _, session in own]])
    order = np.lexsort((sessions, photos))
    return photos[order], sessions.astype(np.uint32)[order]


def walk_all(
    run: RunPlan,
    photos: Dataset,
    finished: Mapping[str, pl.DataFrame],
    checks: pl.DataFrame | None = None,
) -> History:
    """Follow every chain through the finished attempts of its model, each of which is there once.

    Args:
        run: The run.
        photos: Its dataset.
        finished: Of each model the table of finished attempts.
        checks: What the run's checker said, one edit a row (`tasks.check_tables`); none where None.
    """
    walks = _Walks(run, [photos.by_id[name] for name in run.photos], checks)
    stride = len(run.photos) * len(run.sessions)
    steps: list[pl.DataFrame] = []
    left: list[pl.DataFrame] = []
    for number, card in enumerate(run.cards):
        found = finished.get(card.id)
        index = pl.DataFrame(schema={name: SCHEMA[name] for name in NEEDED}) if found is None else found
        fingerprint = run.settings_fingerprints[card.id]
        index = index.filter(pl.col("settings_fingerprint") == fingerprint).drop("settings_fingerprint")
        done, going = walks.of_model(card, index)
        steps += [frame.with_columns(chain=pl.col("chain") + number * stride) for frame in done]
        left += [frame.with_columns(chain=pl.col("chain") + number * stride) for frame in going]
    order = ("chain", "step", "attempt")
    return History(
        run,
        photos,
        pl.concat(steps, how="diagonal").sort(order) if steps else _no_steps(walks.dropped),
        pl.concat(left).sort("chain").select(OPEN.names()) if left else pl.DataFrame(schema=OPEN),
    )


OPEN = pl.Schema(
    {
        "chain": pl.UInt32,
        "step": pl.Int64,
        "attempt": pl.Int64,
        "input_sha256": pl.String,
        "input_extension": pl.String,
        "input_width": pl.Int64,
        "input_height": pl.Int64,
        "is_edited": pl.Boolean,
    }
)


def _no_steps(dropped: Sequence[str]) -> pl.DataFrame:
    columns = {name: SCHEMA[name] for name in NEEDED if name not in ("settings_fingerprint", *dropped)}
    return pl.DataFrame(schema={"chain": pl.UInt32, "step": pl.Int64} | columns | {"verdict": pl.String})


class _Walks:
    """The chains of a run's models, one model after another."""

    def __init__(self, run: RunPlan, photos: list[Photo], checks: pl.DataFrame | None) -> None:
        self._run, self._photos, self._rules = run, photos, run.suite.steps
        self._checks = pl.DataFrame(schema=CHECKS) if checks is None else checks.select(CHECKS.names())
        self._start = _all_chains(run, photos)
        is_plain = self._rules.is_plain and run.chain_set is None
        self.dropped = CARRIED if is_plain else ("photo", "session", "seed")
        """What the finished attempts are kept without."""

    def of_model(self, card: ModelCard, index: pl.DataFrame) -> tuple[list[pl.DataFrame], list[pl.DataFrame]]:
        """Finished and next attempts of one model's chains, numbered from 0."""
        done: list[pl.DataFrame] = []
        left: list[pl.DataFrame] = []
        going = self._start
        for step in range(1, max((len(s.steps) for s in self._run.sessions), default=0) + 1):
            asked, made = self._asked(going, step), list[pl.DataFrame]()
            for attempt in range(1, self._rules.attempts + 1):
                found = self._tried(card, asked, index, step, attempt)
                is_done = pl.col("verdict").is_not_null()
                open_ones = found.filter(~is_done).with_columns(is_edited=pl.col("key").is_not_null())
                left.append(open_ones.select(OPEN.names()))
                done.append(found.filter(is_done).drop(self.dropped))
                made.append(found.filter(IS_MADE).select(GOING_ON))
                asked = found.filter(is_done & ~IS_MADE).select(asked.columns)
            going = pl.concat(made)
        return done, left

    def _asked(self, going: pl.DataFrame, step: int) -> pl.DataFrame:
        """The chains that have this step, with its prompt."""
        sessions = self._run.sessions
        prompts = [s.steps[step - 1].prompt if len(s.steps) >= step else None for s in sessions]
        return going.with_columns(
            step=pl.lit(step, pl.Int64),
            prompt=pl.Series(prompts, dtype=pl.String).gather(going["session"]),
        ).filter(pl.col("prompt").is_not_null())  # a chain with fewer steps is over

    def _tried(
        self, card: ModelCard, asked: pl.DataFrame, index: pl.DataFrame, step: int, attempt: int
    ) -> pl.DataFrame:
        """An attempt of chains: what came of it, and its verdict, where they are known."""
        seeds = [
            step_seed(self._run.suite.seed, card.id, photo.id, step, attempt) if card.seed_support else None
            for photo in self._photos
        ]
        tried = asked.with_columns(
            seed=pl.Series(seeds, dtype=pl.Int64).gather(asked["photo"]), attempt=pl.lit(attempt, pl.Int64)
        )
        on = [name for name in IDENTITY if name != "settings_fingerprint"]
        found = tried.join(index, on=on, how="left", nulls_equal=True)
        if self._rules.checker is not None:
            edit = ["input_sha256", "image_sha256", "prompt"]
            found = found.join(self._checks, left_on=edit, right_on=list(EDIT), how="left")
        return found.with_columns(verdict=self._verdict()).drop("made", strict=False)

    def _verdict(self) -> pl.Expr:
        """As `domain.plan.Course.verdict`; null where it is not known."""
        edited = pl.lit("made")
        if self._rules.checker is not None:
            made = pl.col("made")
            edited = pl.when(made).then(pl.lit("made")).when(~made).then(pl.lit("not_made"))
        if self._rules.max_aspect_change is not None:
            is_off = _is_off_shape(self._rules.max_aspect_change)
            edited = pl.when(is_off).then(pl.lit("off_shape")).otherwise(edited)
        return pl.when(pl.col("image_sha256").is_null()).then("kind").otherwise(edited)


CHECKS = pl.Schema({**dict.fromkeys(EDIT, pl.String), "made": pl.Boolean})
GOING_ON = (
    "chain",
    "photo",
    "session",
    pl.col("image_sha256").alias("input_sha256"),
    pl.col("image_extension").alias("input_extension"),
    pl.col("width").alias("input_width"),
    pl.col("height").alias("input_height"),
)


def _is_off_shape(most: float) -> pl.Expr:
    """As `domain.plan.is_off_shape`."""
    one = pl.col("width") * pl.col("input_height")
    other = pl.col("height") * pl.col("input_width")
    larger, smaller = pl.max_horizontal(one, other), pl.min_horizontal(one, other)
    return larger * plan.PPM > smaller * (plan.PPM + round(most * plan.PPM))


def _all_chains(run: RunPlan, photos: list[Photo]) -> pl.DataFrame:
    at, sessions = pairs_of(run)
    own = {
        "input_sha256": pl.Series([photo.image_sha256 for photo in photos], dtype=pl.String),
        "input_extension": pl.Series([photo.extension for photo in photos], dtype=pl.String),
        "input_width": pl.Series([photo.width for photo in photos], dtype=pl.Int64),
        "input_height": pl.Series([photo.height for photo in photos], dtype=pl.Int64),
    }
    return pl.DataFrame(
        {
            "chain": at * np.uint32(len(run.sessions)) + sessions,
            "photo": at,
            "session": sessions,
            **{name: values.gather(at) for name, values in own.items()},
        }
    )
