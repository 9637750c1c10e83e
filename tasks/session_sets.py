"""Sets of sessions as files: written, versioned, exported and listed.

A set under one id never changes: the sessions that a run used can always be read again. Other sessions under
the same name become its next version, an id of its own, `<id>-v2`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import yaml
from prefect import task

from adapters.base import ObjectStore
from domain import keys
from domain.errors import DefinitionError
from domain.loading import parse
from domain.requests import WriteSessionsRequest
from domain.session_writing import SessionsWritten, WrittenSet
from domain.sessions import Session, SessionSet
from domain.taxonomy import Taxonomy
from tasks import policies, wiring
from tasks.definitions import DefinitionSettings, load, names
from tasks.session_writing import Writing, resolve
from tasks.threads import in_thread
from tasks.written_sets import export_file, keep_version

_ROOM = "sessions"


@task(task_run_name="keep set {request.set_id}", **policies.ONCE)
async def keep_set(request: WriteSessionsRequest, sessions: tuple[Session, ...]) -> WrittenSet:
    """Store written sessions as a set, as the next version where the name is taken by others."""
    return await in_thread(_keep_set, request, sessions)


def _keep_set(request: WriteSessionsRequest, sessions: tuple[Session, ...]) -> WrittenSet:
    writing = resolve(request)
    return store_set(request.set_id, sessions, writing.taxonomy, source_of(writing), wiring.store())


def store_set(
    name: str, sessions: tuple[Session, ...], taxonomy: Taxonomy, source: str, store: ObjectStore
) -> WrittenSet:
    """Store sessions under the first version of a name that is free or holds the very same ones."""

    def holds_the_same(key: str, set_id: str) -> bool | None:
        there = _stored(store, key) or _defined(set_id)
        return None if there is None else _same(there, sessions, taxonomy)

    def text(set_id: str, version: int) -> str:
        made = _defined(set_id) or SessionSet(
            id=set_id, version=version, taxonomy=taxonomy.id, source=source, sessions=sessions
        )
        return text_of(made)

    kept = keep_version(name, keys.session_set, holds_the_same, text, store)
    return WrittenSet(
        id=kept.id, version=kept.version, key=kept.key, sessions=len(sessions), is_new=kept.is_new
    )


def source_of(writing: Writing) -> str:
    """Who wrote a set, from what, by which seed and when."""
    who, request = writing.writer, writing.request
    return (
        f"drawn from {who.taxonomy} with seed {request.seed} and keep share {request.keep_share:g}; phrased "
        f"by {writing.card.id} ({who.adapter}: {who.version}), prompt {who.prompt_version}; "
        f"{datetime.now(UTC).date()}"
    )


def text_of(made: SessionSet) -> str:
    """A set as a definition file."""
    plain = made.model_dump(mode="json", exclude_defaults=True)
    body = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=10_000)
    return (
        "# Written by `facedrift sessions write`. A set that was used in a run is never changed in place.\n"
        f"{body}"
    )


def export(written: WrittenSet, out: Path) -> Path:
    """Copy a set out of the store, to a file or into a folder; raises as `export_file`."""
    return export_file(written.id, written.key, out, wiring.store())


@dataclass(frozen=True)
class Listed:
    """One set as `facedrift sessions list` shows it."""

    id: str
    version: int
    taxonomy: str
    test_sets: str
    where: str
    source: str


def listed() -> tuple[list[Listed], list[DefinitionError]]:
    """Every set that a suite can name, those that are in the store only, and what is wrong with others."""
    own = {path.stem for folder in DefinitionSettings().folders() for path in (folder / _ROOM).glob("*.yaml")}
    found: dict[str, SessionSet] = {}
    wrong: list[DefinitionError] = []
    for name in names(SessionSet):
        try:
            found[name] = load(SessionSet, name)
        except DefinitionError as error:
            wrong.append(error)
    rows = [_row(made, "your definitions" if name in own else "packaged") for name, made in found.items()]
    store = wiring.store()
    for key in store.list(keys.session_sets()):
        made = _stored(store, key)
        if made is not None and made.id not in found:
            rows.append(_row(made, "store only"))
        elif made is not None and found[made.id].sessions != made.sessions:
            rows.append(_row(made, "store; the definition was changed"))
    return rows, wrong


def _row(made: SessionSet, where: str) -> Listed:
    counts = Counter(session.test_set for session in made.sessions)
    text = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    return Listed(made.id, made.version, made.taxonomy, text, where, made.source)


def _stored(store: ObjectStore, key: str) -> SessionSet | None:
    data = store.get(key)
    return None if data is None else parse(data.decode(), SessionSet, key)


def _defined(set_id: str) -> SessionSet | None:
    return load(SessionSet, set_id) if set_id in names(SessionSet) else None


def _same(there: SessionSet, sessions: tuple[Session, ...], taxonomy: Taxonomy) -> bool:
    return there.taxonomy == taxonomy.id and there.sessions == sessions


def rows_of(written: SessionsWritten) -> list[dict[str, str]]:
    """Sessions as a table: one row each, unwritten ones with their reason."""
    rows = [
        {
            "session": session.id,
            "test set": session.test_set,
            **{str(number): step.prompt for number, step in enumerate(session.steps, 1)},
        }
        for session in written.sessions
    ]
    rows += [
        {"session": failed.session, "problem": f"step {failed.step}: {failed.problem}"}
        for failed in written.unwritten
    ]
    return rows
