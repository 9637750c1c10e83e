"""A suite of prompt chains over real providers' SDKs, rehearsed: attempts, checks and faults, end to end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from adapters.standin.serving import running
from domain.requests import RunRequest
from domain.runs import RunSummary
from flows.run_suite import run_suite
from tasks import wiring
from tasks.definitions import load_suite
from tasks.rehearsing import rehearsal_environment, standin_counts
from tasks.scoring import read_table
from tasks.standin_wiring import standin

pytestmark = pytest.mark.flow

MODELS = ("nano-banana-pro", "qwen-image-edit-2511", "gpt-image-2")
PROVIDERS = ("google", "fal", "openai")
FAULTS = {
    "seed": 1, "rate_limited": 0.1, "retry_after_s": 0.05, "server_error": 0.05, "truncated": 0.05,
    "refused": 0.1, "no_image": 0.04, "other_shape": 0.1, "bad_json": 0.1,
}  # fmt: skip
OWN_WORDS = (
    "Replace the helmet under her arm with a white football.",
    "Paint the model of the shuttle in red and white stripes.",
    'Change the words on the badge to "MOON" in silver letters on black.',
)

Rehearse = Callable[[], tuple[RunSummary, dict[str, dict[str, Any]]]]


@pytest.fixture
def rehearse(home: Path, monkeypatch: pytest.MonkeyPatch) -> Rehearse:
    monkeypatch.setenv("FACEDRIFT_STORE", str(home / "store-rehearsal"))

    @contextmanager
    def playing() -> Iterator[str]:
        suite = load_suite("small")
        with running(standin(suite, home / "standin")) as url:
            for name, value in rehearsal_environment(suite, url).items():
                monkeypatch.setenv(name, value)
            yield url

    def run() -> tuple[RunSummary, dict[str, dict[str, Any]]]:
        with playing() as url:
            request = RunRequest(suite="small", rehearse=True, approve_above_usd=None)
            return asyncio.run(run_suite(request)), standin_counts(url)

    return run


def write_suite(home: Path, models: tuple[str, ...], chain_set: str, **more: Any) -> None:
    definition = {
        "id": "small",
        "title": "small",
        "dataset": {"id": "packaged-everyday", "adapter": "packaged_everyday"},
        "chain_set": chain_set,
        "models": models,
        "embedder": {"pack": "mobile"},
        "judges": {"consistency": None, "tracker": None},
        "steps": {"attempts": 3, "checker": "gpt-6.1-sol", "max_asks": 5, "max_aspect_change": 0.01},
        "votes": {},
        "calls": {"max_resends": 5, "history_wait_s": 1},
        **more,
    }
    (home / "suites").mkdir(exist_ok=True)
    (home / "suites" / "small.yaml").write_text(json.dumps(definition))


def test_attempts_checks_and_faults_over_the_sdks(home: Path, rehearse: Rehearse) -> None:
    write_suite(
        home, MODELS, "everyday-demo", sessions=["astronaut", "group_left"],
        rehearsal={"editor": "scene-mild", "faults": FAULTS, "timeout_s": 30},
    )  # fmt: skip
    summary, counts = rehearse()
    edits, store, snapshot = summary.edits, wiring.store(), summary.snapshot
    assert edits.failed == 0

    def total(name: str) -> int:
        return sum(counts[provider][name] for provider in PROVIDERS)

    assert total("accepted") == edits.edited + edits.refused + edits.no_image + edits.ambiguous
    assert edits.ambiguous == sum(counts[name]["truncated"] for name in ("google", "openai"))
    assert total("refused") == edits.refused > 0
    assert total("no_image") == edits.no_image
    assert total("rate_limited") > 0
    assert edits.off_shape > 0
    assert edits.checked == edits.edited - edits.off_shape, "what has another shape is not checked"
    assert counts["openai"]["judge_calls"] == edits.checked + counts["openai"]["bad_json"]
    assert counts["openai"]["bad_json"] > 0, "and asked for again"

    steps = read_table(store, snapshot, "steps")
    assert set(steps["model"]) == set(MODELS)
    verdicts = dict(steps.group_by("verdict").len().iter_rows())
    assert verdicts["refused"] == edits.refused
    assert verdicts["off_shape"] == edits.off_shape
    assert verdicts["made"] == edits.checked - edits.not_made
    attempts = read_table(store, snapshot, "attempts")
    made_at = [sum(column) for column in zip(*attempts["made_at"].to_list(), strict=True)]
    assert sum(made_at) == verdicts["made"]
    assert made_at[0] > made_at[1] > 0, "a failed attempt is followed by another one"
    completion = {row["model"]: row for row in read_table(store, snapshot, "completion").to_dicts()}
    assert set(completion) == set(MODELS)
    assert sum(row["n_complete"] for row in completion.values()) > 0
    assert all(row["n_unfinished"] == 0 for row in completion.values())
    served = read_table(store, snapshot, "served").filter(pl.col("role") == "checker")
    assert served.select("served", "n", "is_the_model").rows() == [("gpt-6.1-sol", edits.checked, True)]

    again, later = rehearse()
    assert (again.edits.edited, again.edits.checked) == (0, 0)
    assert again.snapshot.digest == snapshot.digest
    for provider in PROVIDERS:
        assert later[provider]["accepted"] == counts[provider]["accepted"], "nothing is paid again"


def test_prompts_in_a_persons_own_words_get_through(home: Path, rehearse: Rehearse) -> None:
    (home / "chains").mkdir()
    chain = {
        "photo": "astronaut", "edit_target": "mixed", "people": "1", "face_size": "medium",
        "photo_shape": "square", "view": "half", "prompts": OWN_WORDS,
    }  # fmt: skip
    chains = {"id": "own", "version": 1, "source": "tests", "steps": len(OWN_WORDS), "chains": [chain]}
    (home / "chains" / "own.yaml").write_text(json.dumps(chains))
    write_suite(home, ("qwen-image-edit-2511",), "own")
    summary, counts = rehearse()
    [row] = read_table(wiring.store(), summary.snapshot, "completion").to_dicts()
    assert (row["n_chains"], row["n_complete"]) == (1, 1)
    assert (summary.edits.edited, summary.edits.checked, summary.edits.not_made) == (3, 3, 0)
    assert counts["openai"]["judge_calls"] == 3
    drift = read_table(wiring.store(), summary.snapshot, "progression")["fss"].to_list()
    assert drift[0] == 1
    assert all(0.5 < value < 1 for value in drift[1:]), "each came back as another picture"
