"""SeaweedFS in one process on loopback: a real, persistent S3 server with conditional writes."""

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
def seaweedfs(folder: Path) -> Iterator[S3Server]:
    """A server that keeps its data in a folder, with an empty bucket."""
    s3, master, volume, filer, admin = free_ports(5)
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    command = [
        binary("weed"), "-logtostderr=true", "mini", f"-dir={data}",
        f"-ip={LOOPBACK}", f"-ip.bind={LOOPBACK}",
        f"-s3.port={s3}", "-s3.port.iceberg=0", "-s3.port.lance=0", f"-master.port={master}",
        f"-volume.port={volume}", f"-filer.port={filer}", "-webdav=false", "-admin.ui=false",
        f"-admin.port={admin}", "-master.telemetry=false", f"-bucket={BUCKET}",
    ]  # fmt: skip
    environment = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
    with running(S3Server(command, environment, s3, folder / "seaweedfs.log")) as server:
        yield server
