"""rclone's S3 server on loopback: it ignores the condition of a conditional write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from servers.s3_endpoint import (
    ACCESS_KEY,
    BUCKET,
    LOOPBACK,
    SECRET_KEY,
    S3Server,
    binary,
    free_ports,
    running,
)


@contextmanager
def rclone(folder: Path) -> Iterator[S3Server]:
    """A server over a folder, with an empty bucket."""
    [port] = free_ports(1)
    (folder / "data" / BUCKET).mkdir(parents=True, exist_ok=True)
    command = [
        binary("rclone"), "serve", "s3", str(folder / "data"), "--addr", f"{LOOPBACK}:{port}",
        "--auth-key", f"{ACCESS_KEY},{SECRET_KEY}", "--config", str(folder / "rclone.conf"),
        "--cache-dir", str(folder / "cache"),
    ]  # fmt: skip
    with running(S3Server(command, {}, port, folder / "rclone.log")) as server:
        yield server
