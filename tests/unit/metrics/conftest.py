"""The taxonomy and small tables that the metrics' tests share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from domain.taxonomy import Taxonomy
from metrics.frames import photos_schema, state_column, steps_schema

_DEFINITION = Path(__file__).parents[3] / "domain/definitions/taxonomies/face-edit-attributes.yaml"

BASE = {
    "hair color": ("black hair",),
    "hair type": ("straight hair",),
    "beard": ("clean shaven",),
    "head position": ("looking straight ahead",),
}

StateOf = Callable[..., dict[str, Any]]
Table = Callable[[Sequence[Mapping[str, Any]]], pl.DataFrame]


@pytest.fixture(scope="session")
def taxonomy() -> Taxonomy:
    return Taxonomy.model_validate(yaml.safe_load(_DEFINITION.read_text()))


@pytest.fixture(scope="session")
def state_of(taxonomy: Taxonomy) -> StateOf:
    """A state: black, straight, clean shaven, looking ahead, nothing else, but for the changes."""

    def build(changes: Mapping[str, Sequence[str] | None] | None = None) -> dict[str, Any]:
        merged = {**BASE, **(changes or {})}
        found = {name: merged.get(name, ()) for name in taxonomy.sub_axes}
        return {name: None if held is None else tuple(held) for name, held in found.items()}

    return build


@pytest.fixture(scope="session")
def a_photo(state_of: StateOf) -> Callable[..., dict[str, Any]]:
    """A row of the photos: p1 of s1 with FSS 0.8; `state` holds changes to the base state."""

    def build(state: Mapping[str, Sequence[str] | None] | None = None, **fields: Any) -> dict[str, Any]:
        row: dict[str, Any] = {
            "dataset": "celeba",
            "photo": "p1",
            "subject": "s1",
            "fss0": 0.8,
            "n_references": 3,
            "near_duplicate": False,
            "groups": ["gender=male"],
        }
        return row | _state_fields(state_of(state)) | fields

    return build


@pytest.fixture(scope="session")
def a_step(taxonomy: Taxonomy, state_of: StateOf) -> Callable[..., dict[str, Any]]:
    """A row of the steps: the asked category is made and nothing else, FSS 0.6, scores 8 and 9."""

    def build(
        step: int,
        category: str = "round glasses",
        state: Mapping[str, Sequence[str] | None] | None = None,
        **fields: Any,
    ) -> dict[str, Any]:
        sub_axis = taxonomy.sub_axis_of[category]
        row: dict[str, Any] = {
            "suite": "face-edit",
            "dataset": "celeba",
            "model": "m1",
            "photo": "p1",
            "subject": "s1",
            "session": "hair_001",
            "test_set": "hair",
            "step": step,
            "prompt": f"Make it {category}",
            "asked_sub_axis": sub_axis,
            "asked_category": category,
            "keep": False,
            "outcome": "edited",
            "reason": None,
            "face": "found",
            "n_faces": 1,
            "fss": 0.6,
            "judgement": "scored",
            "success": 8.0,
            "overediting": 9.0,
            "tracked": "tracked",
        }
        return row | _state_fields(state_of({sub_axis: [category], **(state or {})})) | fields

    return build


@pytest.fixture(scope="session")
def not_run() -> dict[str, Any]:
    """Fields of a step that was never reached."""
    empty = ("face", "n_faces", "fss", "judgement", "success", "overediting", "tracked")
    return {"outcome": "not_run", **dict.fromkeys(empty)}


@pytest.fixture(scope="session")
def photos(taxonomy: Taxonomy) -> Table:
    return lambda rows: pl.DataFrame(rows, schema=photos_schema(taxonomy))


@pytest.fixture(scope="session")
def steps(taxonomy: Taxonomy) -> Table:
    return lambda rows: pl.DataFrame(rows, schema=steps_schema(taxonomy))


def _state_fields(state: Mapping[str, Sequence[str] | None]) -> dict[str, list[str] | None]:
    return {state_column(name): None if held is None else list(held) for name, held in state.items()}
