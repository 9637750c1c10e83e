from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes.remembering import RememberingEmbedder

from adapters.datasets.source import DatasetSource
from adapters.embedders.insightface import InsightFaceEmbedder, identity_of
from adapters.stores.local import LocalStore
from domain.judge_cards import JudgeCard
from domain.loading import load, load_suite
from domain.model_cards import ModelCard
from domain.photos import Dataset
from domain.records import FaceReading
from domain.runs import RunPlan, RunRequest
from domain.suites import DatasetChoice, FacePack
from domain.taxonomy import Taxonomy
from tasks import wiring
from tasks.preparing import prepare


@pytest.fixture
def a_run() -> RunPlan:
    """A resolved run of one remote model, judged by a remote judge."""
    suite, taxonomy = load_suite("rehearsal"), load(Taxonomy, "face-edit-attributes")
    judge, card = load(JudgeCard, "gemini-2.5-flash"), load(ModelCard, "gemini-2.5-flash-image")
    return RunPlan(
        id="20261130T000000-abcdef",
        created_at="2026-11-30T00:00:00+00:00",
        request=RunRequest(suite=suite.id),
        suite=suite,
        sessions=(),
        cards=(card,),
        settings_fingerprints={card.id: "f"},
        dataset="datasets/x/0.json",
        photos=(),
        embedder=wiring.embedder_identity("mobile"),
        judge=wiring.judge_identity(judge, "consistency", suite, taxonomy),
        judge_card=judge,
        tracker=wiring.judge_identity(judge, "state", suite, taxonomy),
        tracker_card=judge,
        definitions_digest="d",
        code_version="0",
        packages={},
    )


@pytest.fixture(scope="session")
def known_readings() -> dict[str, FaceReading]:
    """What the real embedder has found so far, by content."""
    return {}


@pytest.fixture
def remembering(embedder: InsightFaceEmbedder, known_readings: dict[str, FaceReading]) -> RememberingEmbedder:
    """The real embedder; notes what it is asked for, and does not work it out twice."""
    return RememberingEmbedder(embedder, known_readings)


@pytest.fixture
def photo_store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store", fsync=False)


@pytest.fixture
def run_prepare(
    remembering: RememberingEmbedder, face_pack: FacePack, photo_store: LocalStore
) -> Callable[..., Dataset]:
    """Prepares a source; further arguments are those of the suite's dataset."""

    def run(source: DatasetSource, **options: Any) -> Dataset:
        choice = DatasetChoice(id="mine", adapter="packaged_faces", **options)
        return prepare(choice, source, remembering, identity_of(face_pack), photo_store)

    return run
