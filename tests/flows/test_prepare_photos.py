"""The flow: the same manifest as in one process and by the flow of all suites, and what a person is shown."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey

from domain.requests import PrepareRequest
from domain.suites import Suite
from flows.prepare_dataset import prepare_dataset
from flows.prepare_photos import prepare_photos
from tasks import wiring
from tasks.definitions import load_suite
from tasks.preparing import prepare_suite

pytestmark = pytest.mark.flow


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    """The quickstart on the packaged everyday photos; with them only its dataset is looked at."""
    mine = {"id": "demo.1", "adapter": "packaged_everyday"}
    found = Suite.model_validate(load_suite("quickstart").model_dump() | {"id": "mine", "dataset": mine})
    (tmp_path / "suites").mkdir(exist_ok=True)
    (tmp_path / "suites" / "mine.yaml").write_text(found.model_dump_json())
    return found


def stored(home: Path) -> dict[str, int]:
    found = (Path(top, name) for top, _, names in os.walk(home / "store") for name in names)
    return {str(path): path.stat().st_mtime_ns for path in found}


async def artifacts(key: str) -> list[str]:
    async with get_client() as client:
        found = await client.read_artifacts(artifact_filter=ArtifactFilter(key=ArtifactFilterKey(any_=[key])))
    return [str(artifact.data) for artifact in found]


def test_all_ways_to_prepare_give_one_manifest(home: Path, suite: Suite):
    key = asyncio.run(prepare_photos(PrepareRequest(suite="mine")))
    before = stored(home)
    assert [photo.id for photo in wiring.dataset(key).base][:2] == ["astronaut", "group-left"]
    assert prepare_suite(suite) == key
    assert asyncio.run(prepare_dataset(PrepareRequest(suite="mine"))) == key
    after = stored(home)
    assert {name: time for name, time in after.items() if name in before} == before
    new = set(after) - set(before)
    assert not any(part in name for name in new for part in ("datasets", "/faces/", "/photos/", "/images/"))

    [summary, *_] = asyncio.run(artifacts("photos-demo-1"))
    assert (
        "6 photos, which are edited and are their own references (6 enlarged); 0 files left out." in summary
    )
    [sheet, *_] = asyncio.run(artifacts("contact-sheet-demo-1"))
    assert sheet.startswith("![contact sheet](data:image/jpeg;base64,")
