"""What each dataset adapter can be told, besides where its files are."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from domain.photos import Role, Screening

DatasetAdapter = Literal[
    "packaged_faces", "folder", "manifest", "celeba", "imdb_wiki", "celebset", "london",
    "everyday_photos", "packaged_everyday",
]  # fmt: skip
PACKAGED: tuple[DatasetAdapter, ...] = ("packaged_faces", "packaged_everyday")
"""Adapters whose photos are in installed packages, so that they take no path."""


def _group_name(name: str) -> str:
    if not name or "=" in name or name == "all":
        raise ValueError(f"{name!r} cannot name a column of groups: no equals sign, not `all`, not empty")
    return name


def _text(value: object) -> object:
    """A value as people write it in a table; YAML reads `1` as a number and `no` as false."""
    if isinstance(value, bool):
        words = "yes, on or true" if value else "no, off or false"
        raise ValueError(f"{words} was read as a truth value; put the word in quotes")
    return f"{value:.12g}" if isinstance(value, float) else str(value) if isinstance(value, int) else value


RawValue = Annotated[str, BeforeValidator(_text)]
"""A value as it is in the data; a number may stand without quotes."""
ColumnName = Annotated[str, BeforeValidator(_text), AfterValidator(_group_name)]
"""What a column of groups is called; `all` stands for all photos in tables."""

UNKNOWN = ("", "na", "n/a", "nan", "none", "null", "unknown", "?")
"""Spellings, in lower case, of what is not known."""


class DatasetOptions(BaseModel):
    """The options of an adapter that has none; those of the others are below."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TwoValues(BaseModel):
    """A group out of a yes-or-no attribute."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    attribute: str
    present: RawValue
    absent: RawValue

    @model_validator(mode="after")
    def _are_told_apart(self) -> Self:
        if self.present.strip().casefold() == self.absent.strip().casefold():
            raise ValueError(f"`present` and `absent` are both {self.present!r}; give each a name of its own")
        return self


class CelebaOptions(DatasetOptions):
    """Which photos of CelebA, and which of its attributes become groups."""

    partition: Literal["all", "train", "valid", "test"] = "all"
    images: Literal["aligned", "wild"] = "aligned"
    """`aligned`: img_align_celeba, 178 × 218; `wild`: img_celeba."""
    people: Literal["identities", "one_per_photo"] = "identities"
    """`one_per_photo` is for copies without identity_CelebA.txt: each photo is a person of its own."""
    conflicts: Literal["per_image", "majority"] = "per_image"
    """Of a person whose photos differ in a group: each as labelled, or what most say (a tie is unknown)."""
    zero_boxes: Literal["leave_out", "keep"] = "leave_out"
    """Photos whose face box has no size."""
    groups: dict[ColumnName, TwoValues] = Field(
        default_factory=lambda: {
            "gender": TwoValues(attribute="Male", present="male", absent="female"),
            "age": TwoValues(attribute="Young", present="young", absent="old"),
        }
    )


class ImdbWikiOptions(DatasetOptions):
    """Which part of IMDB-WIKI, and which of its photos."""

    part: Literal["imdb", "wiki"] = "imdb"
    images: Literal["crop", "full"] = "crop"
    faces: Literal["single", "any"] = "single"
    """`single` leaves out photos in which a second face was found: whose face is which is not known."""
    min_face_score: FiniteFloat | None = None
    """Photos whose face score is lower are left out; those without a face always are."""


class TableOptions(DatasetOptions):
    """What a table of photos calls its columns and values."""

    columns: dict[RawValue, RawValue] = Field(default_factory=dict[str, str])
    """What we call a column (`image`, `person`, `role`, `licence`, `source`, or a group) to what it does."""
    spellings: dict[RawValue, dict[RawValue, RawValue]] = Field(default_factory=dict[str, dict[str, str]])
    """Column, as we call it, to its values and what they mean, such as `gender: {M: male}`; case is ignored.

    A column that is here may hold these values (either side), or nothing.
    """
    unknown: tuple[RawValue, ...] = UNKNOWN
    """Values that stand for nothing known; case is ignored."""
    licence: str | None = None
    """Of photos whose row states none."""

    usual: ClassVar[frozenset[str]] = frozenset()
    """Columns whose spellings are known beforehand; a table may lack them."""

    @field_validator("columns")
    @classmethod
    def _a_column_has_one_name(cls, given: dict[str, str]) -> dict[str, str]:
        named: dict[str, str] = {}
        for name, column in given.items():
            if named.setdefault(column, name) != name:
                raise ValueError(f"the column {column!r} is called both {named[column]!r} and {name!r}")
        return given

    @model_validator(mode="after")
    def _roles_are_roles(self) -> Self:
        strange = sorted(set(self.spellings.get("role", {}).values()) - set(get_args(Role)))
        if strange:
            raise ValueError(f"no role is called {', '.join(strange)}; allowed: {', '.join(get_args(Role))}")
        return self


class ManifestOptions(TableOptions):
    """How a table of any photos is read."""

    groups: tuple[ColumnName, ...] | None = None
    """Columns that are groups, as we call them; by default all further ones."""


CELEBSET_SPELLINGS = {
    "gender": {"M": "male", "F": "female"},
    "skin": {"L": "light", "D": "dark"},
    "smile": {"1": "yes", "0": "no", "true": "yes", "false": "no"},
}


class CelebsetOptions(TableOptions):
    """How a list of CelebSET's photos is read; it lies over the files of IMDB-WIKI.

    `columns` and `spellings` add to these, or overrule them: the person is in `identity`, and
    `CELEBSET_SPELLINGS`.
    """

    model_config = ConfigDict(validate_default=True)
    usual: ClassVar[frozenset[str]] = frozenset(CELEBSET_SPELLINGS)

    manifest: str = "celebset.csv"
    """The list, in the dataset's folder."""
    images: str = "."
    """The folder, in the dataset's, that the list's paths are relative to, such as `imdb_crop`."""

    @field_validator("columns")
    @classmethod
    def _columns_have_defaults(cls, given: dict[str, str]) -> dict[str, str]:
        return {"person": "identity", **given}

    @field_validator("spellings")
    @classmethod
    def _spellings_have_defaults(cls, given: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
        return {name: held | given.get(name, {}) for name, held in CELEBSET_SPELLINGS.items()} | {
            name: held for name, held in given.items() if name not in CELEBSET_SPELLINGS
        }


View = Literal[
    "neutral_front", "smiling_front",
    "neutral_left_three_quarter", "neutral_right_three_quarter",
    "neutral_left_profile", "neutral_right_profile",
    "smiling_left_three_quarter", "smiling_right_three_quarter",
    "smiling_left_profile", "smiling_right_profile",
]  # fmt: skip


class LondonOptions(DatasetOptions):
    """Which views of the London set are edited, and which are references."""

    base: View = "neutral_front"
    references: tuple[View, ...] = Field(default=("smiling_front",))

    @model_validator(mode="after")
    def _a_view_has_one_role(self) -> Self:
        if self.base in self.references or len(set(self.references)) < len(self.references):
            raise ValueError("a view is named twice; each has one role")
        return self


class ScreenedOptions(DatasetOptions):
    """Of an adapter whose photos are cropped to one of three shapes and screened."""

    licences: tuple[str, ...] = ()
    """Admitted besides CC0, CC BY and CC BY-SA, spelled as in the table; case is ignored."""
    screening: Screening = Screening()


class EverydayOptions(ScreenedOptions):
    """How a folder of everyday photos is read."""

    table: str = "photos.csv"
    """In the folder: CSV, TSV, JSONL, Parquet or YAML."""


T1_LICENCE = "not stated; shipped by insightface for its own examples, used in place only"
ASTRONAUT_LICENCE = "public domain (NASA)"


class PackagedEverydayOptions(ScreenedOptions):
    """The same of the photos in installed packages, whose licences are admitted."""

    licences: tuple[str, ...] = (T1_LICENCE, ASTRONAUT_LICENCE)


OPTIONS: dict[DatasetAdapter, type[DatasetOptions]] = {
    "packaged_faces": DatasetOptions,
    "folder": DatasetOptions,
    "manifest": ManifestOptions,
    "celeba": CelebaOptions,
    "imdb_wiki": ImdbWikiOptions,
    "celebset": CelebsetOptions,
    "london": LondonOptions,
    "everyday_photos": EverydayOptions,
    "packaged_everyday": PackagedEverydayOptions,
}


def dataset_options(adapter: DatasetAdapter, given: object) -> DatasetOptions:
    """The options of an adapter.

    Raises:
        ValidationError: one is unknown (the message says which there are) or has a value that is not allowed.
    """
    kind = OPTIONS[adapter]
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise ValidationError.from_exception_data(
            error.title,
            [_explained(dict(problem), adapter, tuple(kind.model_fields)) for problem in error.errors()],
        ) from error


def _explained(problem: dict[str, Any], adapter: str, allowed: tuple[str, ...]) -> InitErrorDetails:
    """The same problem; of an unknown option, the ones there are."""
    loc, value, kind = problem["loc"], problem["input"], problem["type"]
    if kind == "extra_forbidden" and len(loc) == 1:
        names = f"it has: {', '.join(allowed)}" if allowed else "it has none"
        said = PydanticCustomError("unknown_option", "no option of the adapter {adapter}; {names}",
                                   {"adapter": repr(adapter), "names": names})  # fmt: skip
        return InitErrorDetails(type=said, loc=loc, input=value)
    if kind == "value_error":
        said = PydanticCustomError("value_error", "{error}", {"error": str(problem["ctx"]["error"])})
        return InitErrorDetails(type=said, loc=loc, input=value)
    return InitErrorDetails(type=kind, loc=loc, input=value, ctx=problem.get("ctx", {}))
