"""What the S3 servers of the tests share: ports, starting, killing, and the settings that lead to them."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from adapters.stores.settings import BucketPlace, S3Settings

LOOPBACK = "127.0.0.1"
ACCESS_KEY, SECRET_KEY = "TESTACCESSKEY", "test-secret-that-nobody-may-read"
BUCKET = "facedrift-tests"
STARTS_WITHIN_S = 60.0
GRPC_ABOVE_HTTP = 10_000
HIGHEST_HTTP = 55_535


@dataclass
class S3Server:
    """A running server, that can be killed and started again on the same ports and data."""

    command: Sequence[str]
    environment: Mapping[str, str]
    port: int
    log: Path
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def start(self) -> None:
        """Start it and wait until it answers to a bucket."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                list(self.command), env=os.environ | dict(self.environment), stdout=log, stderr=log
            )
        deadline = time.monotonic() + STARTS_WITHIN_S
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                said = self.log.read_text(errors="replace")[-3000:]
                self.kill()
                raise RuntimeError(f"{self.command[0]} did not start: {said}")
            time.sleep(0.1)

    def kill(self) -> None:
        """End it as a crash would."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def place(self, prefix: str = "", bucket: str = BUCKET, **settings: object) -> BucketPlace:
        """A place on this server."""
        given = {"endpoint_url": self.url, "region": "us-east-1", "access_key_id": ACCESS_KEY}
        given |= {"secret_access_key": SECRET_KEY, "connect_timeout_s": 2.0, **settings}
        return BucketPlace(bucket, prefix, S3Settings.model_validate(given))

    def variables(self, prefix: str, bucket: str = BUCKET) -> dict[str, str]:
        """What a user sets to keep everything there."""
        return {
            "FACEDRIFT_STORE": f"s3://{bucket}/{prefix}",
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_REGION": "us-east-1",
        }

    def _answers(self) -> bool:
        from adapters.stores.s3_client import open_client

        settings = self.place(max_attempts=1).settings
        client, _ = open_client(settings)
        with contextlib.suppress(Exception):
            client.head_bucket(Bucket=BUCKET)
            return True
        with contextlib.suppress(Exception):
            client.create_bucket(Bucket=BUCKET)
        return False


@contextlib.contextmanager
def running(server: S3Server) -> Iterator[S3Server]:
    """Started, and killed at the end."""
    server.start()
    try:
        yield server
    finally:
        server.kill()


def binary(name: str) -> str:
    """A program that a wheel installed beside this Python; skips where there is none for this platform."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"no {name} here: its wheel is not made for this platform")
    return found


def free_ports(count: int) -> list[int]:
    """Ports nobody listens on, each with its neighbour 10,000 above, which SeaweedFS takes for gRPC."""
    found: list[int] = []
    with contextlib.ExitStack() as held:
        while len(found) < count:
            try:
                port = _bound(held, 0)
                if port <= HIGHEST_HTTP:
                    _bound(held, port + GRPC_ABOVE_HTTP)
                    found.append(port)
            except OSError:
                continue
    return found


def _bound(held: contextlib.ExitStack, port: int) -> int:
    taken = held.enter_context(socket.socket())
    taken.bind((LOOPBACK, port))
    return taken.getsockname()[1]
