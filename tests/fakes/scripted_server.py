"""A server on this machine that answers exactly what a test set down, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """One answer; `fault` is how it fails to arrive."""

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: Literal["drop", "hang", "cut"] | None = None

    def encoded(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


class ScriptedServer:
    """The answers to come, in order, and the requests so far."""

    def __init__(self) -> None:
        self.coming: deque[Answer] = deque()
        self.asked: list[Asked] = []
        self.url = ""
        self.closing = threading.Event()

    def will(self, *answers: Answer) -> None:
        """Answer so next; what was left over is forgotten."""
        self.coming.clear()
        self.asked.clear()
        self.coming.extend(answers)


@contextmanager
def scripted_server() -> Iterator[ScriptedServer]:
    """A running server."""
    script = ScriptedServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            script.asked.append(Asked(self.command, self.path, headers, body))
            answer = script.coming.popleft() if script.coming else Answer({"detail": "unscripted"}, 418)
            self.close_connection = answer.fault is not None
            if answer.fault == "drop":
                return
            if answer.fault == "hang":
                script.closing.wait(30)
                return
            data = answer.encoded()
            self.send_response(answer.status)
            for name, value in {"content-type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data) + (100 if answer.fault == "cut" else 0)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = _answer

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield script
    finally:
        script.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()
