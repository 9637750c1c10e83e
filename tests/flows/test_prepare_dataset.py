"""The flow: the same manifest as in one process, embedding only what is new, and what a person is shown."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey

from adapters.datasets.source import SourcePhoto
from domain.requests import PrepareRequest
from domain.suites import Suite
from flows.prepare_dataset import prepare_dataset
from tasks import wiring
from tasks.definitions import load_suite
from tasks.preparing import prepare_suite

pytestmark = pytest.mark.flow


@pytest.fixture
def suite(tmp_path: Path, faces: list[SourcePhoto]) -> Suite:
    """The quickstart on a folder of two people."""
    for name, data in {"anna.png": faces[0].data, "bea.png": faces[1].data, "note.txt": b"no"}.items():
        (tmp_path / "photos").mkdir(exist_ok=True)
        (tmp_path / "photos" / name).write_bytes(data)
    mine = {"id": "mine.1", "adapter": "folder", "path": str(tmp_path / "photos")}
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


def test_the_flow_prepares_what_one_process_prepares(
    home: Path, suite: Suite, faces: list[SourcePhoto], monkeypatch: pytest.MonkeyPatch
):
    key = asyncio.run(prepare_dataset(PrepareRequest(suite="mine")))
    before = stored(home)
    assert len(wiring.dataset(key).photos) == 4
    assert prepare_suite(suite) == key
    assert asyncio.run(prepare_dataset(PrepareRequest(suite="mine"))) == key
    assert {name: time for name, time in stored(home).items() if name in before} == before
    new = set(stored(home)) - set(before)
    assert not any("datasets" in name or "/store/faces/" in name or "photos/2" in name for name in new)

    [summary, *_] = asyncio.run(artifacts("photos-mine-1"))
    assert "2 base photos, which are edited, and 2 reference photos of 2 people; 1 files left out." in summary
    [sheet, *_] = asyncio.run(artifacts("contact-sheet-mine-1"))
    assert sheet.startswith("![contact sheet](data:image/jpeg;base64,")

    (home / "photos" / "carla.png").write_bytes(faces[2].data)
    more = asyncio.run(prepare_dataset(PrepareRequest(suite="mine")))
    assert more != key
    assert [photo.subject for photo in wiring.dataset(more).base] == ["anna", "bea", "carla"]
    read = [name for name in set(stored(home)) - set(before) if "/store/faces/" in name]
    assert len(read) == 2  # her photo and its mirror image
