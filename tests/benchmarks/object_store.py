"""Our store in a bucket against bare boto3, 16 threads each, on SeaweedFS on this machine.

    PYTHONPATH=tests python -m tests.benchmarks.object_store

Both write the same bytes under new keys with `If-None-Match: *` and read them back, by turns in rounds, so
that a busy minute meets both. Prints the figures that docs/benchmarks.md records.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import boto3
from botocore.config import Config
from servers.s3_endpoint import ACCESS_KEY, BUCKET, SECRET_KEY, S3Server
from servers.seaweedfs import seaweedfs

from adapters.stores.s3 import S3Store

THREADS = 16
ROUNDS = 7
SIZES = {"4 KiB": (4 << 10, 400), "2 MiB": (2 << 20, 64)}
"""Bytes of an object, and how many a round moves each way."""


@dataclass(frozen=True)
class Pace:
    """Of one round one way."""

    per_s: float
    cpu_ms: float


Put = Callable[[str, bytes], object]
Get = Callable[[str], bytes | None]


def main() -> None:
    """Measure, print."""
    with tempfile.TemporaryDirectory() as folder, seaweedfs(Path(folder)) as server:
        say("| | bare boto3, per s | our store, per s | ratio | bare CPU ms | our CPU ms |")
        say("|---|---|---|---|---|---|")
        for name, (size, count) in SIZES.items():
            for way, (bare, ours) in _measure(server, size, count).items():
                ratio = statistics.median(o.per_s / b.per_s for b, o in zip(bare, ours, strict=True))
                say(
                    f"| {way} {name} | {_median(bare, 'per_s'):.0f} | {_median(ours, 'per_s'):.0f} | "
                    f"**{ratio:.2f}** | {_median(bare, 'cpu_ms'):.2f} | {_median(ours, 'cpu_ms'):.2f} |"
                )


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _measure(server: S3Server, size: int, count: int) -> dict[str, tuple[list[Pace], list[Pace]]]:
    found: dict[str, tuple[list[Pace], list[Pace]]] = {"put": ([], []), "get": ([], [])}
    sides = (_bare(server), _ours(server))
    for number in range(ROUNDS + 1):
        data = os.urandom(size)
        order = (0, 1) if number % 2 else (1, 0)
        for side in order:
            put, get = sides[side]
            keys = [f"bench/{uuid.uuid4().hex}" for _ in range(count)]
            paces = (_pace(lambda key: put(key, data), keys), _pace(get, keys))  # noqa: B023 - called at once
            if number:  # the first round warms up
                found["put"][side].append(paces[0])
                found["get"][side].append(paces[1])
    return found


def _pace(call: Callable[[str], object], keys: Sequence[str]) -> Pace:
    with ThreadPoolExecutor(THREADS) as pool:
        wall, cpu = time.perf_counter(), time.process_time()
        for answer in pool.map(call, keys):
            assert answer is not None
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return Pace(len(keys) / wall, 1000 * cpu / len(keys))


def _bare(server: S3Server) -> tuple[Put, Get]:
    config = Config(
        signature_version="s3v4",
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        max_pool_connections=64,
        s3={"addressing_style": "path"},
    )
    client = cast(Any, boto3).client(
        "s3", endpoint_url=server.url, region_name="us-east-1", aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY, config=config,
    )  # fmt: skip

    def put(key: str, data: bytes) -> object:
        return client.put_object(Bucket=BUCKET, Key=key, Body=data, IfNoneMatch="*")

    return put, lambda key: client.get_object(Bucket=BUCKET, Key=key)["Body"].read()


def _ours(server: S3Server) -> tuple[Put, Get]:
    store = S3Store(server.place("ours"))
    return store.put_new, store.get


def _median(paces: Sequence[Pace], field: str) -> float:
    return statistics.median(getattr(pace, field) for pace in paces)


if __name__ == "__main__":
    main()
