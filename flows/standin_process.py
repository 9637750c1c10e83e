"""The process of a rehearsal's stand-in; it ends when its standard input closes, as with its parent."""

from __future__ import annotations

import sys
from pathlib import Path

from flows.server_process import stop_with_parent
from tasks.rehearsing import serve_standin

if __name__ == "__main__":
    port, suite, state = sys.argv[1:]
    stop_with_parent()
    serve_standin(suite, int(port), Path(state))
