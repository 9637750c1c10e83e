"""Queued jobs and the files that they are made of."""

from __future__ import annotations

import json
import sqlite3
import time
import uuid
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, cast

from adapters.standin.faults import FaultName, Provider
from adapters.standin.wire import Json, Object, a_list, an_object, from_data_url, to_data_url
from adapters.standin.work import Ending
from domain import keys

State = Literal["pending", "running", "done", "canceled"]
_FOLDED = "$file"


@dataclass(frozen=True)
class Result:
    """How a job ended."""

    kind: Ending
    file: str | None = None
    """Id of the picture; a refused job may have one too, which is black."""
    width: int = 0
    height: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Job:
    """One accepted edit of a provider that has a queue."""

    id: str
    provider: Provider
    endpoint: str
    identity: str
    arguments: str
    """JSON as sent, with pictures folded to references."""
    prompt: str
    image_sha256: str
    seed: int | None
    fault: FaultName | None
    form: int
    sent_at: float
    ready_at: float
    """It does not end before."""
    deadline: float | None
    state: State = "pending"
    started_at: float | None = None
    ended_at: float | None = None
    result: Result | None = None

    def argument(self, name: str) -> Json:
        """One argument that is no picture."""
        return an_object(json.loads(self.arguments)).get(name)

    def ended(self) -> bool:
        """Whether the client can see that it has ended."""
        return self.ended_at is not None and self.ended_at <= time.time()


@dataclass(frozen=True)
class StoredFile:
    """One picture with an address."""

    id: str
    sha256: str
    size: int
    content_type: str
    """As declared."""
    name: str
    fault: Literal["truncated", "short_body"] | None
    """What is wrong with its first download."""
    created_at: float
    downloads: int


_COLUMNS = tuple(field.name for field in fields(Job))


class Blobs:
    """Bytes by their sha256, as files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, data: bytes) -> str:
        """Keep bytes; returns their name."""
        name = keys.sha256(data)
        path = self._path(name)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh = path.with_suffix(f".{uuid.uuid4().hex}")
            fresh.write_bytes(data)
            fresh.replace(path)
        return name

    def get(self, name: str) -> bytes:
        """Bytes that were kept."""
        return self._path(name).read_bytes()

    def fold(self, arguments: Object) -> str:
        """Arguments as JSON in which pictures are references, so that many jobs with one take no room."""
        return json.dumps({name: self._folded(value) for name, value in arguments.items()})

    def unfold(self, arguments: str) -> Object:
        """The arguments as they were sent."""
        return {name: self._unfolded(value) for name, value in an_object(json.loads(arguments)).items()}

    def _folded(self, value: object) -> Any:
        if isinstance(value, list):
            return [self._folded(item) for item in a_list(cast(object, value))]
        found = from_data_url(value) if isinstance(value, str) else None
        if found is None or to_data_url(*found) != value:
            return value
        return {_FOLDED: [self.put(found[0]), found[1]]}

    def _unfolded(self, value: object) -> Any:
        if isinstance(value, list):
            return [self._unfolded(item) for item in a_list(cast(object, value))]
        folded = a_list(an_object(value).get(_FOLDED))
        if not folded:
            return value
        name, content_type = folded
        return to_data_url(self.get(str(name)), str(content_type))

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / name


class Jobs:
    """The queue and the addresses of files; all access is from the event loop's thread."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._database.execute("UPDATE jobs SET state = 'pending' WHERE state = 'running'")

    def add(self, job: Job) -> None:
        """Queue a job that has no result yet."""
        values = tuple(getattr(job, name) for name in _COLUMNS)
        self._database.execute(f"INSERT INTO jobs VALUES ({', '.join('?' * len(values))})", values)

    def claim(self) -> Job | None:
        """The job that waits longest, now running, or None."""
        row = self._database.execute(
            "UPDATE jobs SET state = 'running', started_at = ? WHERE id = "
            "(SELECT id FROM jobs WHERE state = 'pending' ORDER BY sent_at, rowid LIMIT 1) RETURNING *",
            (time.time(),),
        ).fetchone()
        return None if row is None else _job(row)

    def end(self, job: Job, result: Result) -> bool:
        """Note how a running job ended; False for one that was cancelled meanwhile, which stays so."""
        ended_at = max(time.time(), job.ready_at)
        ended = self._database.execute(
            "UPDATE jobs SET state = 'done', ended_at = ?, result = ? WHERE id = ? AND state = 'running'",
            (ended_at, json.dumps(result.__dict__), job.id),
        )
        return ended.rowcount == 1

    def cancel(self, job: Job) -> bool:
        """Stop a job; False when it has ended already."""
        if job.ended():
            return False
        self._database.execute(
            "UPDATE jobs SET state = 'canceled', ended_at = ?, result = NULL WHERE id = ?",
            (time.time(), job.id),
        )
        return True

    def get(self, provider: Provider, job_id: str) -> Job | None:
        """One job, or None."""
        row = self._database.execute(
            "SELECT * FROM jobs WHERE provider = ? AND id = ?", (provider, job_id)
        ).fetchone()
        return None if row is None else _job(row)

    def select(self, where: str, values: tuple[object, ...], order: str, limit: int) -> list[Job]:
        """Jobs by a condition that this package spells."""
        rows = self._database.execute(
            f"SELECT * FROM jobs WHERE {where} ORDER BY {order} LIMIT {limit}", values
        )
        return [_job(row) for row in rows]

    def add_file(
        self,
        data: bytes,
        sha256: str,
        content_type: str,
        name: str,
        fault: Literal["truncated", "short_body"] | None = None,
    ) -> StoredFile:
        """Give a picture an address."""
        file = StoredFile(uuid.uuid4().hex, sha256, len(data), content_type, name, fault, time.time(), 0)
        self._database.execute(
            "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?)", tuple(file.__dict__.values())
        )
        return file

    def fill_file(self, file_id: str, sha256: str, size: int) -> bool:
        """Give an address that was announced its bytes; False when there is none."""
        return (
            self._database.execute(
                "UPDATE files SET sha256 = ?, size = ? WHERE id = ?", (sha256, size, file_id)
            ).rowcount
            == 1
        )

    def file(self, file_id: str) -> StoredFile | None:
        """One file, or None."""
        row = self._database.execute("SELECT * FROM files WHERE id = ?", (file_id,)).fetchone()
        return None if row is None else StoredFile(*row)

    def note_download(self, file: StoredFile) -> None:
        """Count one download of a file."""
        self._database.execute("UPDATE files SET downloads = downloads + 1 WHERE id = ?", (file.id,))


def _job(row: tuple[Any, ...]) -> Job:
    values = dict(zip(_COLUMNS, row, strict=True))
    if values["result"] is not None:
        values["result"] = Result(**json.loads(values["result"]))
    return Job(**values)
