"""Suites: a benchmark definition names its dataset, sessions, models, embedder, judges and rules."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    model_validator,
)

from domain.dataset_choice import DatasetChoice
from domain.dataset_options import ColumnName, RawValue
from domain.errors import DefinitionError
from domain.groups import Demographic, groups_of
from domain.photos import Slug
from domain.running import CallRules, Rehearsal, StepRules
from domain.votes import VoteRules


class EmbedderChoice(BaseModel):
    """The face pack; its file hashes are checked and are part of every reading."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    adapter: Literal["insightface"] = "insightface"
    pack: str = Field(default="buffalo_l", pattern=Slug)
    """A definition in `definitions/packs/`."""


class JudgeChoice(BaseModel):
    """Who scores the edits and who tracks the states: judge cards."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    consistency: str | None = Field(default="local", pattern=Slug)
    """None: semantic consistency is not measured."""
    tracker: str | None = Field(default="local", pattern=Slug)
    """None: states are not tracked, and so no overedits are known."""
    max_asks: int = Field(default=3, ge=1, le=10)
    """How often an answer that does not parse is asked for."""


class Rules(BaseModel):
    """Choices that change numbers; printed with every table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    no_face: Literal["zero", "skip", "exclude"] = "zero"
    change: Literal["new", "resolve", "strict", "disjoint"] = "new"
    occlusion: Literal["carry", "count"] = "carry"
    interval: Literal["bootstrap", "normal", "paper"] = "bootstrap"
    """`bootstrap` resamples people; `normal` takes sessions for independent; `paper` as its tables do."""
    resamples: int = Field(default=2000, ge=100, le=100_000)
    seed: int = Field(default=0, ge=0)
    """Of the bootstrap."""
    unit: Literal["person", "session"] = "person"
    """What a permutation test relabels; `session` is the paper's, and finds too much."""
    permutations: int = Field(default=9_999, ge=1, le=1_000_000)
    permutation_seed: int = Field(default=0, ge=0)


class AxisDefinition(BaseModel):
    """One way to compare groups of people: a demographic, or an intersection of several."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    values: dict[RawValue, tuple[RawValue, ...]] = Field(min_length=1)
    """Demographic of the photos to the values that count, in the order of the tables.

    A photo with another value, or none, is in no group of this axis. Several demographics are an
    intersection, whose groups are named by their values, joined by hyphens: `male-light`.
    """
    labels: dict[RawValue, RawValue] = Field(default_factory=dict[str, str])
    """How tables print a group, such as `male: M`; its name where it is not here."""

    @model_validator(mode="after")
    def _groups_are_told_apart(self) -> Self:
        if self.name == "all":
            raise ValueError("no axis can be called `all`, which stands for all photos in tables")
        for demographic, values in self.values.items():
            if len(values) < 2 or len(set(values)) < len(values):
                raise ValueError(f"{demographic} needs two values or more, each once")
        groups = ["-".join(held) for held in product(*self.values.values())]
        strange = sorted(set(self.labels) - set(groups))
        if strange:
            raise ValueError(f"label of no group: {', '.join(strange)}; groups: {', '.join(groups)}")
        if len(set(self.labels.values())) < len(self.labels):
            raise ValueError("two groups have the same label")
        return self

    @property
    def is_intersection(self) -> bool:
        """Whether it crosses demographics: then it has means, and the tests are those of its parts."""
        return len(self.values) > 1


class Suite(BaseModel):
    """A benchmark definition."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=Slug)
    title: str
    dataset: DatasetChoice
    taxonomy: str | None = None
    session_set: str | None = None
    chain_set: str | None = Field(default=None, pattern=Slug)
    """In place of taxonomy and session set: a definition in `definitions/chains/`, whose every chain is for
    one photo."""
    sessions: tuple[str, ...] = ()
    """Ids of the sessions to run; empty for all of the set."""
    models: tuple[str, ...] = Field(min_length=1)
    embedder: EmbedderChoice
    judges: JudgeChoice = JudgeChoice()
    rules: Rules = Rules()
    demographics_file: str | None = Field(default=None, pattern=Slug)
    """A definition in `definitions/groups/`; `demographics` adds to it, or overrules it."""
    demographics: dict[ColumnName, Demographic] = Field(default_factory=dict[str, Demographic])
    """How columns of the photos become groups; a column that is not here is taken as it is."""
    axes: tuple[AxisDefinition, ...] = ()
    """Along which groups of people are compared; without any, nothing is compared."""
    calls: CallRules = CallRules()
    rehearsal: Rehearsal = Rehearsal()
    seed: int = 0
    """Base of the seeds sent to models that accept one."""
    steps: StepRules = StepRules()
    votes: VoteRules | None = None
    """How people judge the last faces of its chains; None where they do not."""
    shard_chains: int = Field(default=400, ge=1, le=2000)
    """Chains in one shard of `edit_chains`."""

    @property
    def standin_editor(self) -> str:
        """Model card of the editor behind the stand-in of a rehearsal: one that can read the prompts."""
        return self.rehearsal.editor or ("procedural" if self.chain_set is None else "scene-mild")

    @property
    def listed(self) -> dict[str, tuple[str, ...]]:
        """Demographic to the values that the axes compare."""
        held: dict[str, tuple[str, ...]] = {}
        for axis in self.axes:
            for name, values in axis.values.items():
                held[name] = tuple(dict.fromkeys((*held.get(name, ()), *values)))
        return held

    def groups_of(self, labels: Mapping[str, str]) -> list[str]:
        """The groups of a photo with these labels, each as "name=value"; see `domain.groups.groups_of`."""
        return groups_of(labels, self.demographics, self.listed)

    def with_demographics(self, shared: Mapping[str, Demographic]) -> Self:
        """The suite with those of its file filled in; its own overrule them.

        Raises:
            DefinitionError: an axis compares what is no group of its demographic.
        """
        filled = self.model_copy(update={"demographics": {**shared, **self.demographics}})
        for number, axis in enumerate(self.axes):
            for name, values in axis.values.items():
                known = filled.demographics.get(name)
                strange = [value for value in values if known and value not in known.groups]
                if known and strange:
                    raise DefinitionError(
                        f"the axis {axis.name!r} compares {', '.join(strange)}, no group of {name!r}",
                        field=f"axes.{number}.values.{name}",
                        allowed=known.groups,
                    )
        return filled

    @model_validator(mode="after")
    def _names_one_set(self) -> Self:
        of_sessions = (self.taxonomy is not None, self.session_set is not None)
        if self.chain_set is None:
            if not all(of_sessions):
                raise ValueError("name a `session_set` with its `taxonomy`, or a `chain_set`")
            if self.steps.checker is not None or self.steps.max_aspect_change is not None:
                raise ValueError("`steps.checker` and `steps.max_aspect_change` need a `chain_set`")
            return self
        if any(of_sessions):
            raise ValueError("name a `session_set` with its `taxonomy`, or a `chain_set`, not both")
        if self.judges.consistency is not None or self.judges.tracker is not None:
            raise ValueError("with a `chain_set`, `judges.consistency` and `judges.tracker` must be null")
        return self

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        axes = tuple(axis.name for axis in self.axes)
        for what, names in (("model", self.models), ("session", self.sessions), ("axis", axes)):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"{what} named twice: {', '.join(twice)}")
        return self


class PackFile(BaseModel):
    """One file of a face pack."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    task: Literal["detection", "recognition", "landmark_2d_106"]
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class FacePack(BaseModel):
    """A set of face-model weights: where it is found, which files, under which licence."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=Slug)
    files: tuple[PackFile, ...]
    python_package: str | None = None
    """An installed package whose folder `package_folder` holds the files."""
    package_folder: str | None = None
    install: str
    """What to do when files are missing."""
    licence: str
    same_person_above: float = Field(ge=-1, le=1)
    """Cosine above which two photos are of one person, measured."""
    different_person_below: float = Field(ge=-1, le=1)
