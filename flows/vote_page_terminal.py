"""What `facedrift vote` shows in a terminal."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

from rich.table import Table

from domain.errors import StoreError
from flows.consoles import out
from tasks import vote_page

SHOWN_EVERY_S = 10.0


def serve(suite: str, run: str | None, host: str, port: int) -> None:
    """Serve the page until it is interrupted; says where it answers, and how many votes there are."""
    over = threading.Event()
    shower = threading.Thread(target=_show_votes, args=(suite, over), name="votes", daemon=True)

    def ready(url: str) -> None:
        out.print(
            f"the voting page answers at {url}; make links with: facedrift vote invite {suite} --name NAME",
            markup=False,
            soft_wrap=True,
        )
        shower.start()

    try:
        vote_page.serve_page(suite, run, host, port, ready)
    finally:
        over.set()
    if shower.ident is not None:
        shower.join()
    out.print(f"stopped with {_votes(suite)}", markup=False)


def _show_votes(suite: str, over: threading.Event) -> None:
    shown = ""
    while not over.is_set():
        try:
            now = _votes(suite)
        except StoreError as error:
            now = str(error)
        if now != shown:
            out.print(f"{datetime.now().astimezone():%H:%M:%S} {now}", markup=False, soft_wrap=True)
            shown = now
        over.wait(SHOWN_EVERY_S)


def _votes(suite: str) -> str:
    voters = vote_page.standings(suite)
    votes = sum(voter.votes for voter in voters)
    return f"{votes} votes by {sum(voter.votes > 0 for voter in voters)} of {len(voters)} voters"


def show_status(suite: str) -> None:
    """Print every voter."""
    voters = vote_page.standings(suite)
    if not voters:
        out.print(f"nobody is invited yet: facedrift vote invite {suite} --name NAME", markup=False)
        return
    table = Table("voter", "votes", "of", "link", "newest vote", box=None, pad_edge=False)
    for voter in voters:
        newest = (
            "" if voter.last_ms is None else f"{datetime.fromtimestamp(voter.last_ms / 1000, UTC):%F %T} UTC"
        )
        table.add_row(voter.name, str(voter.votes), str(voter.wanted), voter.link, newest)
    out.print(table)
    out.print(_votes(suite), markup=False)
