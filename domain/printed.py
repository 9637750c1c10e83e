"""What a paper prints in its tables: numbers to lay ours beside, with their digits and known slips."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from domain.errors import DefinitionError

FACIAL_EDITING = "2608.28802"
"""arXiv number of the paper whose tables are packaged."""


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PrintedCell(_Row):
    """One printed number."""

    table: str = Field(min_length=1)
    dataset: str = Field(min_length=1)
    model: str = Field(min_length=1)
    test_set: str = Field(min_length=1)
    group: str = Field(min_length=1)
    metric: str = Field(min_length=1)
    value: str = Field(pattern=r"^-?\d+(\.\d+)?$")
    """As printed: its last digit says how exact it is."""
    ci: str | None = Field(default=None, pattern=r"^\d+(\.\d+)?$")
    """Half the 95 % interval."""
    significant: Literal["yes", "no"] | None = None
    rank: int | None = Field(default=None, ge=1)
    """Its place among the groups of its cell, 1 = left."""
    unit: float | None = Field(default=None, gt=0)
    """Of rounding, where it is coarser than the last digit."""

    @property
    def number(self) -> float:
        """The value as a number."""
        return float(self.value)

    @property
    def half_unit(self) -> float:
        """Half a unit of the last printed digit: how far the true value may be off."""
        if self.unit is not None:
            return 0.5 * self.unit
        digits = len(self.value.partition(".")[2])
        return 0.5 * 10.0**-digits


class PrintedPattern(_Row):
    """A model with a frequent overedit pattern."""

    dataset: str
    intended: str
    found: str
    model: str


class PrintedBias(_Row):
    """A model that shares a category which brings out differences between groups."""

    dataset: str
    axis: str
    category: str
    n_models: int
    directions: str
    model: str


class PrintedModel(_Row):
    """How a model of the paper is called, and our card of it."""

    model: str
    card: str
    name: str
    short: str


class Slip(_Row):
    """Something printed that the paper's own numbers contradict; null columns stand for any."""

    id: int
    table: str | None = None
    dataset: str | None = None
    model: str | None = None
    test_set: str | None = None
    group: str | None = None
    metric: str | None = None
    where: str
    printed: str
    numbers_say: str
    severity: Literal["low", "medium", "high"]

    def is_about(self, cell: PrintedCell) -> bool:
        """Whether the cell is among those named; a slip of no table is about no cell."""
        names = ("table", "dataset", "model", "test_set", "group", "metric")
        return self.table is not None and all(
            wanted is None or wanted == getattr(cell, name)
            for name in names
            for wanted in (getattr(self, name),)
        )


@dataclass(frozen=True)
class PrintedPaper:
    """The printed tables of one paper."""

    id: str
    cells: tuple[PrintedCell, ...]
    patterns: tuple[PrintedPattern, ...]
    attribute_bias: tuple[PrintedBias, ...]
    models: tuple[PrintedModel, ...]
    slips: tuple[Slip, ...]

    def slips_of(self, cell: PrintedCell) -> tuple[int, ...]:
        """Ids of the known slips about a cell."""
        return tuple(sorted({slip.id for slip in self.slips if slip.is_about(cell)}))

    @property
    def cards(self) -> Mapping[str, str]:
        """Our model card of each of the paper's models."""
        return {model.model: model.card for model in self.models}


_Kind = TypeVar("_Kind", bound=_Row)


def read_rows(text: str, kind: type[_Kind], file: str) -> tuple[_Kind, ...]:
    """The rows of one CSV file; an empty field is null.

    Raises:
        DefinitionError: naming the file, the line and the field.

    """
    reader = csv.DictReader(io.StringIO(text), restkey="", strict=True)
    rows: list[_Kind] = []
    try:
        for fields in reader:
            held: dict[str, Any] = {name: value for name, value in fields.items() if value not in ("", None)}
            rows.append(kind.model_validate(held))
    except csv.Error as error:
        raise DefinitionError(f"not CSV: {error}", file=file, line=reader.line_num) from error
    except ValidationError as error:
        problem = error.errors()[0]
        field = ".".join(map(str, problem["loc"])) or None
        raise DefinitionError(problem["msg"], file=file, line=reader.line_num, field=field) from error
    if not rows:
        raise DefinitionError("no row", file=file, line=1)
    return tuple(rows)


@cache
def printed_paper(paper: str = FACIAL_EDITING) -> PrintedPaper:
    """The packaged tables of a paper, by its arXiv number; raises DefinitionError."""
    folder = resources.files("domain") / "definitions" / "printed" / paper
    if not folder.is_dir():
        raise DefinitionError(f"no printed tables of {paper!r}", allowed=(FACIAL_EDITING,))

    def rows(name: str, kind: type[_Kind]) -> tuple[_Kind, ...]:
        return read_rows((folder / name).read_text(encoding="utf-8"), kind, f"printed/{paper}/{name}")

    return PrintedPaper(
        id=paper,
        cells=rows("cells.csv", PrintedCell),
        patterns=rows("patterns.csv", PrintedPattern),
        attribute_bias=rows("attribute_bias.csv", PrintedBias),
        models=rows("models.csv", PrintedModel),
        slips=rows("slips.csv", Slip),
    )
