"""Exit code 0 while the Prefect services read their events from Redis: the health check of that container.

A service that hangs or has died still leaves its process there; what it does not do is ask Redis for more.
"""

from __future__ import annotations

import sys

from prefect_redis.client import RedisMessagingSettings
from redis import Redis

STREAM = "events"
GROUPS = ("event-persister", "reactive-triggers", "task-run-recorder")
LONGEST_SILENCE_MS = 60_000


def problems(redis: Redis) -> list[str]:
    """What is wrong, a sentence each."""
    found: list[str] = []
    for group in GROUPS:
        idle = [consumer["idle"] for consumer in redis.xinfo_consumers(STREAM, group)]
        if not idle or min(idle) > LONGEST_SILENCE_MS:
            found.append(f"{group} does not read {STREAM}")
    return found


if __name__ == "__main__":
    settings = RedisMessagingSettings()
    server = Redis(settings.host, settings.port, settings.db, socket_timeout=5, decode_responses=True)
    sys.exit("; ".join(problems(server)) or 0)
