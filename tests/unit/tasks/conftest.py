from __future__ import annotations

import pytest

from domain.judge_cards import JudgeCard
from domain.loading import load, load_suite
from domain.model_cards import ModelCard
from domain.runs import RunPlan, RunRequest
from domain.taxonomy import Taxonomy
from tasks import wiring


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
