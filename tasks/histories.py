"""How far every chain of a run has come, all at once: `domain.plan.walk` for a whole table of finished steps.

Step k + 1 takes exactly the image that step k returned. So for step 1, 2, … the chains that still go on are
joined with the finished steps on what makes a step's key; what finds nothing is the chain's next step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from domain import plan
from domain.keys import step_seed
from domain.model_cards import ModelCard
from domain.photos import Dataset, Photo
from domain.plan import Chain, StepPlan
from domain.runs import RunPlan
from tasks.step_tables import IDENTITY, SCHEMA

NEEDED = ("key", *IDENTITY, "image_sha256", "image_extension", "kind")
"""Columns of the table that a walk needs."""
CARRIED = ("photo", "session", "input_sha256", "input_extension", "seed")
"""What a walk knows of a step and nobody asks a history for: the step before has the same."""
FIRST_ATTEMPT = 1

GOES_ON = pl.col("image_sha256").is_not_null()
"""Whether a chain goes on after a step; a refusal or no image ends it."""


@dataclass(frozen=True)
class History:
    """The finished steps of a run's chains. A chain is named by its number in the order of `plan.chains`."""

    run: RunPlan
    photos: Dataset
    steps: pl.DataFrame
    """Finished steps by `chain` and `step`: the columns of the table that were asked for."""
    open: pl.DataFrame
    """Chains that are not over: `chain`, the `step` that is next, and what it takes as its input."""

    @property
    def chains(self) -> int:
        """How many chains the run has."""
        return len(self.run.cards) * self.chains_of_a_model

    @property
    def chains_of_a_model(self) -> int:
        """How many chains the run has of each model."""
        return len(self.run.photos) * len(self.run.sessions)

    def chain(self, number: int) -> Chain:
        """A chain by its number."""
        model, rest = divmod(number, self.chains_of_a_model)
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
        return model * self.chains_of_a_model + photo * len(sessions) + session

    @cached_property
    def _places(self) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
        run = self.run
        named = ((card.id for card in run.cards), run.photos, (session.id for session in run.sessions))
        models, photos, sessions = ({name: at for at, name in enumerate(names)} for names in named)
        return models, photos, sessions

    def of_model(self, at: int) -> pl.DataFrame:
        """The finished steps of a model, by its place in the run."""
        first = at * self.chains_of_a_model
        return self.steps.filter(pl.col("chain").is_between(first, first + self.chains_of_a_model, "left"))

    @cached_property
    def open_numbers(self) -> frozenset[int]:
        """The chains that are not over."""
        return frozenset(self.open["chain"].to_list())

    def next_steps(self, among: frozenset[int] | None = None) -> Iterator[StepPlan]:
        """The next step of each chain that is not over, in order; of those among some."""
        rows = self.open
        if among is not None:
            rows = rows.filter(pl.col("chain").is_in(list(among)))
        for number, step, attempt, sha, extension in rows.iter_rows():
            chain = self.chain(number)
            yield plan.plan_step(
                chain,
                step,
                session=self.run.session[chain.session],
                card=self.run.card[chain.model],
                settings_fingerprint=self.run.settings_fingerprints[chain.model],
                input_sha256=sha,
                input_extension=extension,
                seed_base=self.run.suite.seed,
                attempt=attempt,
            )


def walk_all(run: RunPlan, photos: Dataset, finished: Mapping[str, pl.DataFrame]) -> History:
    """Follow every chain through the finished steps of its model, each of which is there once."""
    chosen = [photos.by_id[name] for name in run.photos]
    steps: list[pl.DataFrame] = []
    left: list[pl.DataFrame] = []
    for number, card in enumerate(run.cards):
        first = number * len(chosen) * len(run.sessions)
        found = finished.get(card.id)
        index = pl.DataFrame(schema={name: SCHEMA[name] for name in NEEDED}) if found is None else found
        fingerprint = run.settings_fingerprints[card.id]
        index = index.filter(pl.col("settings_fingerprint") == fingerprint).drop("settings_fingerprint")
        done, going = _walk_model(run, card, chosen, index)
        steps += [frame.with_columns(chain=pl.col("chain") + first) for frame in done]
        left += [frame.with_columns(chain=pl.col("chain") + first) for frame in going]
    return History(
        run,
        photos,
        pl.concat(steps, how="diagonal").sort("chain", "step") if steps else _no_steps(),
        pl.concat(left).sort("chain").select(OPEN.names()) if left else pl.DataFrame(schema=OPEN),
    )


OPEN = pl.Schema(
    {
        "chain": pl.UInt32,
        "step": pl.Int64,
        "attempt": pl.Int64,
        "input_sha256": pl.String,
        "input_extension": pl.String,
    }
)


def _no_steps() -> pl.DataFrame:
    columns = {name: SCHEMA[name] for name in NEEDED if name not in ("settings_fingerprint", *CARRIED)}
    return pl.DataFrame(schema={"chain": pl.UInt32, "step": pl.Int64} | columns)


def _walk_model(
    run: RunPlan, card: ModelCard, photos: list[Photo], index: pl.DataFrame
) -> tuple[list[pl.DataFrame], list[pl.DataFrame]]:
    """Finished and next steps of one model's chains, numbered from 0."""
    done: list[pl.DataFrame] = []
    left: list[pl.DataFrame] = []
    going = _all_chains(photos, len(run.sessions))
    for step in range(1, max((len(s.steps) for s in run.sessions), default=0) + 1):
        prompts = [s.steps[step - 1].prompt if len(s.steps) >= step else None for s in run.sessions]
        seeds = [
            step_seed(run.suite.seed, card.id, photo.id, step, FIRST_ATTEMPT) if card.seed_support else None
            for photo in photos
        ]
        asked = going.with_columns(
            step=pl.lit(step, pl.Int64),
            prompt=pl.Series(prompts, dtype=pl.String).gather(going["session"]),
            seed=pl.Series(seeds, dtype=pl.Int64).gather(going["photo"]),
            attempt=pl.lit(FIRST_ATTEMPT, pl.Int64),
        ).filter(pl.col("prompt").is_not_null())  # a chain with fewer steps is over
        on = [name for name in IDENTITY if name != "settings_fingerprint"]
        found = asked.join(index, on=on, how="left", nulls_equal=True)
        is_done = pl.col("key").is_not_null()
        left.append(found.filter(~is_done).select(OPEN.names()))
        done.append(found.filter(is_done).drop(*CARRIED))
        going = found.filter(is_done & GOES_ON).select(
            "chain",
            "photo",
            "session",
            pl.col("image_sha256").alias("input_sha256"),
            pl.col("image_extension").alias("input_extension"),
        )
    return done, left


def _all_chains(photos: list[Photo], sessions: int) -> pl.DataFrame:
    at = np.repeat(np.arange(len(photos), dtype=np.uint32), sessions)
    own = {
        "input_sha256": [photo.image_sha256 for photo in photos],
        "input_extension": [photo.extension for photo in photos],
    }
    return pl.DataFrame(
        {
            "chain": np.arange(len(at), dtype=np.uint32),
            "photo": at,
            "session": np.tile(np.arange(sessions, dtype=np.uint32), len(photos)),
            **{name: pl.Series(values, dtype=pl.String).gather(at) for name, values in own.items()},
        }
    )
