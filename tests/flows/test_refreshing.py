"""A refresh with nothing new is known as such, at once and without a trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import editors

from domain import keys
from domain.plan import Chain
from domain.runs import RunRequest, RunSummary
from tasks import planning, step_tables, wiring
from tasks.planning import _plan_run, preview
from tasks.refreshing import unchanged

pytestmark = pytest.mark.flow

Run = Callable[..., tuple[RunSummary, bool]]
SESSIONS = ["hair_001", "hair_002"]


def test_a_run_that_would_do_nothing_is_known_and_leaves_no_trace(
    home: Path, run_tiny: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    editors.write_definitions(home, sessions=SESSIONS)
    request = RunRequest(suite="tiny", images=2, approve_above_usd=None)
    first, complete = run_tiny()
    assert complete
    store, dataset = wiring.store(), wiring.run_plan(first.run_id).dataset
    before = _files(home / "store")
    assert unchanged(request, dataset) == first
    other_pace = {"concurrency": 9, "max_cost_usd": 3.0, "approve_above_usd": 2.0}
    assert unchanged(request.model_copy(update=other_pace), dataset) == first
    assert unchanged(request.model_copy(update={"images": 1}), dataset) is None
    assert unchanged(request.model_copy(update={"sessions": ("hair_001",)}), dataset) is None
    monkeypatch.setattr(planning, "code_version", lambda: "another")
    assert unchanged(request, dataset) is None
    monkeypatch.undo()
    monkeypatch.setenv("FACEDRIFT_STORE", str(home / "store"))
    monkeypatch.setenv("FACEDRIFT_DEFINITIONS", str(home))
    assert _files(home / "store") == before

    run = wiring.run_plan(first.run_id)
    photo = wiring.dataset(dataset).by_id[run.photos[0]]
    gone = [
        keys.state(keys.fingerprint(run.tracker), photo.image_sha256),
        keys.report("tiny", first.snapshot.digest, "steps.parquet"),
        keys.report("tiny", first.snapshot.digest, "index.html"),
        keys.run_summary(run.id),
        keys.newest_run("tiny"),
        keys.report_pointer("tiny"),
    ]
    for key in gone:
        data = store.get(key) or b""
        assert data
        store.delete(key)
        assert unchanged(request, dataset) is None, key
        store.put(key, data)
    assert unchanged(request, dataset) == first

    for key in list(store.list("tables/measured")):
        store.delete(key)  # the records say the same
    assert unchanged(request, dataset) == first
    for key in list(store.list("tables/steps")):
        store.delete(key)
    assert unchanged(request, dataset) is None, "the table is to be written anew"


def test_a_run_with_problems_is_no_end(home: Path, run_tiny: Run) -> None:
    log, script = editors.write_definitions(home, sessions=SESSIONS)
    script.write_text(json.dumps({"Add pin-straight hair.": "crash"}))
    first, complete = run_tiny()
    assert not complete
    dataset = wiring.run_plan(first.run_id).dataset
    request = RunRequest(suite="tiny", images=2, approve_above_usd=None)
    assert unchanged(request, dataset) is None
    failed, made = first.edits.failures, len(editors.calls(log))
    only = (failed[0].chain, Chain(model="scripted", photo="nobody", session="hair_001"))
    planned = _plan_run(request, dataset, only)
    assert len(planned.shards) == 1
    assert (planned.missing.chains, planned.missing.unfinished) == (2, 1), "of the chains that are named"
    assert wiring.run_plan(planned.run_id).photos == wiring.run_plan(first.run_id).photos, "of all photos"
    part = json.loads(wiring.store().get(keys.shard(planned.run_id, 1)) or b"")
    assert [step["chain"] for step in part["steps"]] == [failed[0].chain.model_dump()]
    assert len(editors.calls(log)) == made
    assert preview(request)[1].unfinished == 2
    left = step_tables.manifest("tiny", "packaged-faces", wiring.store())
    assert left is not None
    assert left.open == {first.run_id: (1,), planned.run_id: (1,)}, "the other chain is in no new shard"


def _files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
