"""From a table of photos with ages and Fitzpatrick types to tables of groups: no code, only definitions."""

from __future__ import annotations

import asyncio
import csv
from pathlib import Path

import pytest
from fakes import editors

from adapters.datasets.source import SourcePhoto
from domain.runs import RunRequest
from flows.run_suite import run_suite
from tasks import wiring
from tasks.scoring import read_table

pytestmark = pytest.mark.flow

KNOWN = {  # made up: what the tables must tell apart, not what anybody is
    "group-1": ("20", "I", "2"), "group-2": ("30", "III", "5"), "group-3": ("50", "VI", "9"),
    "group-4": ("60", "V", "10"), "group-5": ("40", "IV", "7"), "group-6": ("", "", ""),
    "astronaut": ("55", "ii", "1"),
}  # fmt: skip
SUITE = """
demographics_file: skin-tones
demographics:
  age: {column: age, ranges: {young: [20, 30], old: [50, 60]}}
  tone: {column: monk, ranges: {one: [1, 5], other: [6, 10]}}
  typo: {column: fitzpatrik, values: [I, II]}
axes:
  - {name: age, values: {age: [young, old]}, labels: {young: "Y", old: O}}
  - {name: skin, values: {fitzpatrick_skin: [light, dark]}}
  - {name: age_skin, values: {age: [young, old], fitzpatrick_skin: [light, dark]}}
rules: {permutations: 19, resamples: 100}
"""


def test_group_tables_of_a_table_with_numbers(home: Path, faces: list[SourcePhoto]) -> None:
    with (home / "photos.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("image", "person", "age", "fitzpatrick", "monk"))
        for photo in faces:
            (home / f"{photo.id}.png").write_bytes(photo.data)
            rows.writerow((f"{photo.id}.png", photo.subject, *KNOWN[photo.id]))
    editors.write_definitions(home, sessions=["poses_003"])
    path = home / "suites" / "tiny.yaml"
    dataset = "{id: mine, adapter: manifest, path: photos.csv, options: {licence: see the packages}}"
    lines = [line for line in path.read_text().splitlines() if not line.startswith(("dataset:", "models:"))]
    path.write_text("\n".join([*lines, f"dataset: {dataset}", "models: [control-unchanged]", SUITE]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FACEDRIFT_DATA", str(home))
        summary = asyncio.run(run_suite(RunRequest(suite="tiny", approve_above_usd=None)))

    store = wiring.store()
    tables = {
        name: read_table(store, summary.snapshot, name)
        for name in (
            "photo_counts",
            "group_means",
            "disparities",
            "coverage",
            "coverage_by_group",
            "refusals",
        )
    }
    counted = {
        (row["axis"], row["group"]): row["n_photos"] for row in tables["photo_counts"].iter_rows(named=True)
    }
    assert counted == {
        ("age", "young"): 2, ("age", "old"): 3, ("age", None): 2,
        ("skin", "light"): 3, ("skin", "dark"): 3, ("skin", None): 1,
        ("age_skin", "young-light"): 2, ("age_skin", "young-dark"): 0, ("age_skin", "old-light"): 1,
        ("age_skin", "old-dark"): 2, ("age_skin", None): 2,
    }  # fmt: skip
    assert set(tables["group_means"]["group"].drop_nulls()) >= {"young", "old", "light", "dark"}
    assert tables["disparities"].filter(axis="skin").height > 0
    unknown = tables["coverage"].filter(reason="unknown_group", test_set="all")
    assert dict(unknown.select("what", "n").iter_rows()) == {
        "axis age": 2, "axis skin": 1, "axis age_skin": 2,
    }  # fmt: skip
    held = {*tables["coverage_by_group"]["group"].drop_nulls(), *tables["refusals"]["group"]}
    assert not [group for group in held if group.rpartition("=")[2].isdecimal()], (
        "no age is a group of its own"
    )
    assert "age=young" in held
    assert (
        "typo: no photo has the column 'fitzpatrik'; the photos have age, fitzpatrick, monk"
        in summary.notices
    )
