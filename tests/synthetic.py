"""Synthetic runs at the paper's size whose true scores and group gaps are known by construction.

Every effect is bounded so that nothing is ever clipped: the expected score of a group is then exactly its
cell's mean plus the group's gap. People and photos have effects of their own, so sessions of one person are
alike. What is missing (refusals, unparsable answers) is missing at random. Overedits are written into the
states one by one, so every session's true OER is known, not only its expectation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray
from synthetic_states import walked_states

from domain.taxonomy import Taxonomy
from metrics.coded_steps import coded_steps_schema
from metrics.frames import photos_schema, state_column
from metrics.masks import LAST_BIT, mask_column

N_STEPS = 4
TEST_SETS = {"hair": 10, "accessories": 10, "pose": 5, "multi": 10}
MODELS = ("flux-dev", "flux-kontext-pro", "nano-banana", "bagel-edit", "qwen-edit", "seededit-3.0")
PAIRS = (*(("celeba", name) for name in MODELS[:-1]), *(("celebset", name) for name in MODELS))
"""Eleven model-dataset pairs."""

GROUPS: Mapping[str, Sequence[tuple[str, int, int]]] = {
    "celeba": (("gender=male", 244, 208), ("gender=female", 305, 280)),
    "celebset": (
        ("gender=male skin=light", 222, 20), ("gender=male skin=dark", 95, 16),
        ("gender=female skin=light", 161, 17), ("gender=female skin=dark", 39, 15),
    ),
}  # fmt: skip
"""Groups of each dataset with their photos and people (arXiv 2608.28802, section 2.2)."""

AGES = {"celeba": (("age=young", 413), ("age=old", 136)), "celebset": (("age=young", 98), ("age=old", 41))}
"""Photos of each age; the others' age is unknown."""

SCORES = ("drop_fss", "sc", "oer")
GAPS = {
    "drop_fss": {"gender=female": 6.0, "age=old": -3.0},
    "sc": {"gender=female": -0.06},
    "oer": {"gender=male": 0.08},
}
"""What membership of a group adds to a score."""

SPREAD = {"drop_fss": (6.0, 4.0, 10.0), "sc": (0.05, 0.03, 0.05), "oer": (0.05, 0.03, 0.05)}
"""Largest effect of a person, of a photo and of a session."""


@dataclass(frozen=True)
class Rates:
    """How often something is not there, each independent of everything else."""

    no_face: float = 0.02
    """Of images."""
    refused: float = 0.004
    """Of steps; it ends the session."""
    unparsable: float = 0.003
    """Of judgements, and of trackings."""
    missed: float = 0.2
    """Of asked edits."""


@dataclass(frozen=True)
class Run:
    """A run and its truth."""

    steps: pl.DataFrame
    """The compact form."""
    photos: pl.DataFrame
    sessions: pl.DataFrame
    """Key of each session with its true `overedits` (of all steps), in the order of the plan."""
    means: Mapping[tuple[str, str, str], Mapping[str, float]]
    """Dataset, model and test set to the expected scores of somebody in no group with a gap."""
    rates: Rates

    def expected(
        self, score: str, dataset: str, model: str, test_set: str, group: str | None = None
    ) -> float:
        """The expected score of a cell, over all its photos or those of a group."""
        photos = self.photos.filter(pl.col("dataset") == dataset)
        if group is not None:
            photos = photos.filter(pl.col("groups").list.contains(group))
        gap = sum(
            size * float(photos["groups"].list.contains(name).mean() or 0)
            for name, size in GAPS[score].items()
        )
        value = self.means[dataset, model, test_set][score] + gap
        if score == "drop_fss":
            # An image without a face counts as a drop of 100 %.
            value = value * (1 - self.rates.no_face) + 100 * self.rates.no_face
        return value


@dataclass(frozen=True)
class Plan:
    """What is run."""

    pairs: Sequence[tuple[str, str]] = PAIRS
    test_sets: Mapping[str, int] = field(default_factory=lambda: TEST_SETS)
    every: int = 1
    """Only every so manyth photo."""


def synthetic_run(taxonomy: Taxonomy, seed: int, plan: Plan | None = None, rates: Rates | None = None) -> Run:
    """Draw a run; the same for the same seed."""
    plan, rates = plan or Plan(), rates or Rates()
    rng = np.random.default_rng(seed)
    photos = {name: _photos(name, taxonomy, rng, plan.every) for name in sorted({d for d, _ in plan.pairs})}
    asked = {
        (test_set, number): rng.integers(len(taxonomy.sub_axis_of), size=N_STEPS)
        for test_set, count in plan.test_sets.items()
        for number in range(count)
    }
    means: dict[tuple[str, str, str], dict[str, float]] = {}
    steps: list[pl.DataFrame] = []
    sessions: list[pl.DataFrame] = []
    for dataset, model in plan.pairs:
        for test_set, count in plan.test_sets.items():
            cell = {
                "drop_fss": rng.uniform(30, 60),
                "sc": rng.uniform(0.35, 0.65),
                "oer": rng.uniform(0.2, 0.6),
            }
            means[dataset, model, test_set] = cell
            prompts = np.stack([asked[test_set, number] for number in range(count)])
            part, truth = _cell(
                taxonomy, rng, photos[dataset], (dataset, model, test_set), cell, prompts, rates
            )
            steps.append(part)
            sessions.append(truth)
    return Run(
        steps=pl.concat(steps),
        photos=pl.concat([held.frame for held in photos.values()]),
        sessions=pl.concat(sessions),
        means=means,
        rates=rates,
    )


@dataclass(frozen=True)
class _Photos:
    frame: pl.DataFrame
    states: NDArray[np.uint16]
    effects: Mapping[str, NDArray[np.float64]]
    """Gap, person and photo effect of each score, shape `(photos,)`."""


def _photos(dataset: str, taxonomy: Taxonomy, rng: np.random.Generator, every: int) -> _Photos:
    groups, people = _members(dataset, rng)
    kept = np.arange(0, len(groups), every)
    n = len(kept)
    states = np.stack(
        [1 << rng.integers(len(names), size=n) for names in taxonomy.categories.values()], axis=1
    )
    lists = {
        state_column(sub_axis): [[names[int(mask).bit_length() - 1]] for mask in states[:, number]]
        for number, (sub_axis, names) in enumerate(taxonomy.categories.items())
    }
    frame = pl.DataFrame(
        {
            "dataset": [dataset] * n,
            "photo": [f"{dataset}-{number:04d}" for number in kept],
            "subject": [f"person-{people[number]:04d}" for number in kept],
            "fss0": rng.uniform(0.6, 0.95, size=n),
            "n_references": [20] * n,
            "near_duplicate": [False] * n,
            "groups": [groups[number] for number in kept],
            **lists,
        },
        schema=photos_schema(taxonomy),
    )
    effects: dict[str, NDArray[np.float64]] = {}
    for score, (of_person, of_photo, _) in SPREAD.items():
        person = rng.uniform(-of_person, of_person, size=max(people) + 1)
        gap = [sum(GAPS[score].get(name, 0.0) for name in held) for held in frame["groups"].to_list()]
        effects[score] = (
            np.array(gap) + person[np.array(people)[kept]] + rng.uniform(-of_photo, of_photo, size=n)
        )
    return _Photos(frame=frame, states=states.astype(np.uint16), effects=effects)


def _members(dataset: str, rng: np.random.Generator) -> tuple[list[list[str]], list[int]]:
    """Groups and person of each photo: the counts of the paper."""
    groups: list[list[str]] = []
    people: list[int] = []
    for names, n_photos, n_people in GROUPS[dataset]:
        first = max(people, default=-1) + 1
        # Everybody has one photo, and the others are spread at random.
        extra = rng.integers(n_people, size=n_photos - n_people)
        people += [first + int(number) for number in (*range(n_people), *extra)]
        groups += [names.split() for _ in range(n_photos)]
    order = iter(rng.permutation(len(groups)))
    for age, count in AGES[dataset]:
        for _ in range(count):
            groups[next(order)].append(age)
    return groups, people


def _cell(
    taxonomy: Taxonomy,
    rng: np.random.Generator,
    photos: _Photos,
    names: tuple[str, str, str],
    means: Mapping[str, float],
    prompts: NDArray[np.int64],
    rates: Rates,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Every photo with every session of a model and test set."""
    dataset, model, test_set = names
    n_photos, n_sessions = photos.frame.height, len(prompts)
    photo = np.repeat(np.arange(n_photos), n_sessions)
    asked = np.tile(prompts, (n_photos, 1))
    shape = asked.shape
    level = {
        score: means[score]
        + photos.effects[score][photo]
        + rng.uniform(-of_session, of_session, size=len(photo))
        for score, (_, _, of_session) in SPREAD.items()
    }
    drops = level["drop_fss"][:, np.newaxis] + rng.uniform(-5, 5, size=shape)
    fss0 = photos.frame["fss0"].to_numpy()[photo]
    fss = fss0[:, np.newaxis] * (1 - drops / 100)
    worse = rng.binomial(10, np.broadcast_to(level["sc"][:, np.newaxis], shape)).astype(np.float64)
    masks, overedits = walked_states(taxonomy, rng, photos.states[photo], asked, level["oer"], rates.missed)

    stops = rng.random(shape) < rates.refused
    stopped = np.cumsum(stops, axis=1)
    outcome = np.where(stopped == 0, "edited", np.where(stops & (stopped == 1), "refused", "not_run"))
    edited = outcome == "edited"
    found = edited & (rng.random(shape) >= rates.no_face)
    scored = edited & (rng.random(shape) >= rates.unparsable)
    tracked = edited & (rng.random(shape) >= rates.unparsable)
    keys = {
        "suite": ["synthetic"] * len(photo),
        "dataset": [dataset] * len(photo),
        "model": [model] * len(photo),
        "photo": photos.frame["photo"].gather(pl.Series(photo)),
        "session": [f"{test_set}-{number:02d}" for number in range(n_sessions)] * n_photos,
        "subject": photos.frame["subject"].gather(pl.Series(photo)),
        "test_set": [test_set] * len(photo),
    }
    sessions = pl.DataFrame(keys)
    columns = {
        "step": np.tile(np.arange(1, N_STEPS + 1), len(photo)),
        "asked_category": np.array(list(taxonomy.sub_axis_of))[asked],
        "outcome": outcome,
        "reason": np.where(outcome == "refused", "policy", ""),
        "face": np.where(found, "found", np.where(edited, "no_face", "")),
        "fss": np.where(found, fss, np.nan),
        "judgement": np.where(scored, "scored", np.where(edited, "unparsable", "")),
        "success": np.where(scored, worse, np.nan),
        "overediting": np.where(scored, np.minimum(10, worse + rng.integers(0, 4, size=shape)), np.nan),
        "tracked": np.where(tracked, "tracked", np.where(edited, "unparsable", "")),
    }
    known = np.where(tracked[..., np.newaxis], masks, LAST_BIT)
    return _rows(taxonomy, sessions, columns, known), sessions.with_columns(pl.Series("overedits", overedits))


def _rows(
    taxonomy: Taxonomy,
    sessions: pl.DataFrame,
    columns: Mapping[str, NDArray[np.generic]],
    masks: NDArray[np.uint16],
) -> pl.DataFrame:
    """The compact form of the steps of some sessions; empty strings are nulls."""
    steps = sessions[np.repeat(np.arange(sessions.height), N_STEPS)].with_columns(
        pl.Series(name, values.ravel(), nan_to_null=True) for name, values in columns.items()
    )
    steps = steps.with_columns(
        *(pl.col(name).replace("", None) for name in ("reason", "face", "judgement", "tracked")),
        pl.lit(value=False).alias("keep"),
        *(
            pl.Series(mask_column(sub_axis), masks[..., number].ravel())
            for number, sub_axis in enumerate(taxonomy.sub_axes)
        ),
    )
    return steps.select(pl.col(name).cast(kind) for name, kind in coded_steps_schema(taxonomy).items())
