"""As much of Rapidata's API as a comparison needs, on this machine: it remembers what it was given."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

NOW = "2026-11-30T12:00:00Z"


@dataclass
class Rapidata:
    """The service behind the server."""

    url: str = ""
    state: str = "Completed"
    results: Any = field(default_factory=lambda: {"info": {"type": "Compare"}, "results": []})
    fail: dict[str, int] = field(default_factory=dict)
    """Status with which a call is answered, by `METHOD /path`."""
    lose: set[str] = field(default_factory=set)
    """Calls that are done and whose answer never arrives, once each."""
    asked: list[str] = field(default_factory=list)
    tokens: int = 0
    uploads: dict[str, bytes] = field(default_factory=dict)
    queries: list[dict[str, list[str]]] = field(default_factory=list)
    """Of the uploads."""
    datapoints: list[dict[str, Any]] = field(default_factory=list)
    definitions: list[dict[str, Any]] = field(default_factory=list)
    jobs: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, method: str, path: str, body: bytes, query: dict[str, list[str]]) -> tuple[int, Any]:
        """Status and JSON of a call."""
        named = f"{method} {re.sub(r'(?<=/)[a-z]+-?[0-9]+(?=/|$)', '*', path)}"
        self.asked.append(named)
        if named in self.fail:
            return self.fail[named], {"title": "no", "status": self.fail[named]}
        routes: dict[str, Callable[[], tuple[int, Any]]] = {
            "POST /connect/token": self._token,
            "GET /audience/global": lambda: (200, self._audience()),
            "GET /audience/global/user-metrics": lambda: (200, {"usersPerState": {"Graduated": 9}}),
            "POST /dataset": lambda: (200, {"datasetId": "dataset1"}),
            "POST /asset/file": lambda: self._upload(body, query),
            "POST /dataset/*/datapoint": lambda: self._datapoint(json.loads(body)),
            "POST /job/definition": lambda: self._definition(json.loads(body)),
            "POST /job": lambda: self._job(json.loads(body)),
            "GET /jobs": lambda: self._find(query),
            "GET /job/*": lambda: (200, self._about(path.rpartition("/")[2])),
            "GET /job/*/download-results": lambda: (200, self.results),
        }
        return routes.get(named, lambda: (404, {"title": f"no {named}", "status": 404}))()

    def _token(self) -> tuple[int, Any]:
        self.tokens += 1
        return 200, {"access_token": f"token{self.tokens}", "token_type": "Bearer", "expires_in": 3600}

    def _audience(self) -> dict[str, Any]:
        return {"id": "global", "name": "Global", "filters": [], "status": "Ready", "createdAt": NOW}

    def _upload(self, body: bytes, query: dict[str, list[str]]) -> tuple[int, Any]:
        head, _, rest = body.partition(b"\r\n\r\n")
        found = re.search(rb'filename="([^"]+)"', head)
        name = found[1].decode() if found else ""
        self.uploads[name] = rest.rpartition(b"\r\n--")[0]
        self.queries.append(query)
        return 200, {"fileName": f"stored-{name}", "warnings": [], "wasCompressed": False}

    def _datapoint(self, held: dict[str, Any]) -> tuple[int, Any]:
        self.datapoints.append(held)
        return 200, {"datapointId": f"datapoint{len(self.datapoints)}"}

    def _definition(self, held: dict[str, Any]) -> tuple[int, Any]:
        self.definitions.append(held)
        return 200, {"definitionId": f"definition{len(self.definitions)}", "pipelineId": "pipeline1"}

    def _job(self, held: dict[str, Any]) -> tuple[int, Any]:
        name = self.definitions[-1]["definitionName"] if self.definitions else "none"
        self.jobs.append({**held, "id": f"job{len(self.jobs) + 1}", "name": name})
        return 200, {"jobId": self.jobs[-1]["id"], "recruitingStarted": True}

    def _about(self, job_id: str) -> dict[str, Any]:
        job = next((one for one in self.jobs if one["id"] == job_id), {"name": "none"})
        return {
            "jobId": job_id,
            "id": job_id,
            "name": job["name"],
            "audienceId": "global",
            "createdAt": NOW,
            "definitionId": "definition1",
            "jobDefinitionId": "definition1",
            "pipelineId": "pipeline1",
            "state": self.state,
            "status": self.state,
            "ownerId": "00000000-0000-0000-0000-000000000001",
            "organizationId": "organization1",
            "audienceDeleted": False,
            "ownerMail": "ann@example.org",
            "customerId": "customer1",
            "revisionNumber": 1,
            "definitionRevisionNumber": 1,
            "isShared": False,
            "isPublic": False,
            "isPinned": False,
            "failureMessage": None,
        }

    def _find(self, query: dict[str, list[str]]) -> tuple[int, Any]:
        wanted = next((value[0] for name, value in query.items() if "name" in name.lower()), "")
        found = [self._about(job["id"]) for job in reversed(self.jobs) if wanted in job["name"]]
        return 200, {"items": found, "total": len(found), "page": 1, "pageSize": 10, "totalPages": 1}


@contextmanager
def rapidata_server() -> Iterator[Rapidata]:
    """A running server."""
    service, lock = Rapidata(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            url = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            with lock:
                status, answer = service.answer(self.command, url.path, body, parse_qs(url.query))
                named = service.asked[-1]
                lost = named in service.lose
                service.lose.discard(named)
            if lost:
                self.close_connection = True
                self.connection.close()
                return
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _serve

        def log_message(self, format: str, *args: Any) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        service.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield service
        server.shutdown()
        thread.join()
