"""Which process holds a call, and whether it is still there."""

from __future__ import annotations

import os
import socket
from functools import cache
from pathlib import Path

import psutil

from domain.records import Owner


@cache
def _me(pid: int) -> Owner:
    space = Path("/proc/self/ns/pid")
    return Owner(
        host=socket.gethostname(),
        space=str(space.stat().st_ino) if space.exists() else "",
        pid=pid,
        started=psutil.Process(pid).create_time(),
    )


def this_process() -> Owner:
    """The process that asks."""
    return _me(os.getpid())


def may_live(owner: Owner) -> bool:
    """False when the process is certainly gone; one of another machine or container may live."""
    me = this_process()
    if (owner.host, owner.space) != (me.host, me.space):
        return True
    try:
        # Two readings of the same start differ when the clock was set in between.
        process = psutil.Process(owner.pid)
        same = abs(process.create_time() - owner.started) < 2
        return same and process.status() != psutil.STATUS_ZOMBIE  # killed, and nobody has asked how it ended
    except psutil.NoSuchProcess:
        return False
