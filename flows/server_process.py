"""The process of a run's own Prefect server; it ends when its standard input closes, as with its parent."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

STOPS_WITHIN_S = 5.0

ENVIRONMENT = {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_EPHEMERAL": "1", "PREFECT__SERVER_FINAL": "1"}
"""As Prefect starts its own temporary server."""


def stop_with_parent() -> None:
    """End this process, by force if need be, once its standard input closes."""
    threading.Thread(target=_wait_for_the_end, daemon=True).start()


def _wait_for_the_end() -> None:
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(STOPS_WITHIN_S)
    os._exit(0)


def serve(port: int) -> None:
    """Answer on a loopback port until the parent is gone."""
    import uvicorn

    stop_with_parent()
    uvicorn.run(
        "prefect.server.api.server:create_app",
        factory=True,
        host="127.0.0.1",
        port=port,
        log_level="error",
        lifespan="on",
    )


if __name__ == "__main__":
    for name, value in ENVIRONMENT.items():
        os.environ[name] = value
    serve(int(sys.argv[1]))
