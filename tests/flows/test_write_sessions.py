"""Writing a set from end to end: with the local writer, and with a model that the stand-in plays."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from fakes.writers import SaysWriter

from adapters.standin.app import build_app
from adapters.standin.faults import Faults
from adapters.standin.serving import running
from adapters.standin.work import StandinWork
from domain.errors import FatalError, IncompleteError
from domain.requests import RunRequest, WriteSessionsRequest
from domain.session_writing import SessionsMissing, WrittenSet
from domain.sessions import SessionSet
from flows.run_suite import run_suite
from flows.write_sessions import write_sessions
from tasks.definitions import load
from tasks.session_files import lint_file
from tasks.session_sets import export
from tasks.session_writing import resolve

pytestmark = pytest.mark.flow


def a_request(**fields: object) -> WriteSessionsRequest:
    base = {"set_id": "city", "writer": "local", "test_sets": {"accessories": 1, "pose": 1}, "steps": 2}
    return WriteSessionsRequest.model_validate({**base, "approve_above_usd": None, **fields})


def write(**fields: object) -> WrittenSet:
    return cast(WrittenSet, asyncio.run(write_sessions(a_request(**fields))))


@pytest.fixture
def behind(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SaysWriter]:
    """Who writes behind a stand-in of this process."""
    writer, nobody = SaysWriter(), cast(Any, None)
    with running(build_app(StandinWork(nobody, nobody, nobody, writer), Faults())) as url:
        monkeypatch.setenv("FACEDRIFT_STANDIN_URL", url)
        yield writer


def test_a_written_set_runs_in_a_suite(home: Path) -> None:
    written = write()
    assert (written.id, written.asked, written.cost_usd, written.is_new) == ("city", 4, 0.0, True)
    file = export(written, home / "sessions")
    assert [one for one in lint_file(file) if one.is_error] == []
    again = write()
    assert (again.asked, again.is_new, again.key) == (0, False, written.key)
    (home / "suites").mkdir()
    suite = {
        "id": "new",
        "title": "written sessions",
        "dataset": {"id": "packaged-faces", "adapter": "packaged_faces"},
        "taxonomy": "face-edit-attributes",
        "session_set": "city",
        "models": ["control-unchanged", "procedural"],
        "embedder": {"pack": "mobile"},
    }
    (home / "suites" / "new.yaml").write_text(yaml.safe_dump(suite))
    summary = asyncio.run(run_suite(RunRequest(suite="new", images=1, approve_above_usd=None)))
    assert summary.planned.chains == 4
    assert summary.problems == ()
    assert summary.edits.edited >= 4
    assert load(SessionSet, "city").by_id.keys() == {"accessories_001", "pose_001"}


GEMINI = {"writer": "gemini-3.8-flash", "rehearse": True}


def test_nothing_is_asked_twice_after_a_run_that_the_cap_cut_short(behind: SaysWriter) -> None:
    with pytest.raises(IncompleteError, match="raise max_cost_usd"):
        write(**GEMINI, max_cost_usd=0.03)
    assert len(behind.asked) == 3
    plan = cast(SessionsMissing, asyncio.run(write_sessions(a_request(**GEMINI, dry_run=True))))
    assert (plan.missing, plan.instructions, plan.cost_usd) == (1, 4, pytest.approx(0.01))
    written = write(**GEMINI)
    assert len(behind.asked) == 4
    assert (written.asked, written.cost_usd) == (1, pytest.approx(0.01))
    assert write(**GEMINI).asked == 0
    assert len(behind.asked) == 4


def test_one_session_that_fails_keeps_the_others_and_makes_no_set(behind: SaysWriter, home: Path) -> None:
    drawn = resolve(a_request(**GEMINI)).drawn
    behind.instead[drawn[1].steps[1].attribute.replace(" ", "_")] = ['{"instruction": "no"}'] * 2
    with pytest.raises(IncompleteError, match=r"pose_001, step 2: none of 2 answers") as caught:
        write(**GEMINI, max_asks=2)
    assert caught.value.done == 5
    assert not list((home / "store").glob("sessions/sets/**/*.yaml"))
    assert len(list((home / "store").glob("sessions/answers/**/*.json"))) == 5
    written = write(**GEMINI, max_asks=3)
    assert (written.asked, len(behind.asked)) == (1, 6)


def test_a_wrong_model_is_found_before_anybody_is_asked(
    behind: SaysWriter, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = cast(Any, None)
    app = build_app(StandinWork(nobody, nobody, nobody, behind), Faults(missing_models=("gemini-3.8-flash",)))
    with running(app) as url:
        monkeypatch.setenv("FACEDRIFT_STANDIN_URL", url)
        with pytest.raises(FatalError, match=r"gemini-3\.8-flash"):
            write(**GEMINI)
    assert behind.asked == []
