"""`facedrift vote` as people meet it, up to the votes in the store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from matches import some_matches
from servers.voting_site import SUITE, Site, voting_site
from typer.testing import CliRunner, Result

from domain.vote_requests import CollectRequest
from flows import cli
from tasks import vote_store, wiring
from tasks.vote_collecting import _collect_from

pytestmark = pytest.mark.integration


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    found = voting_site(tmp_path, *some_matches(8, gold={2: "b"}))
    for name, value in (*cli.PREFECT_DEFAULTS.items(), *found.environment.items()):
        monkeypatch.setenv(name, value)
    yield found
    found.close()


def say(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["vote", *arguments])


def test_from_invitation_to_votes_in_the_store(site: Site) -> None:
    assert "nobody is invited yet" in say("status", SUITE).stdout
    invited = say("invite", SUITE, "--name", "anna", "--count", "2", "--votes", "3")
    assert invited.exit_code == 0
    links = dict(line.split("\t") for line in invited.stdout.splitlines())
    assert list(links) == ["anna-1", "anna-2"]
    assert all(re.fullmatch(rf"{site.base}/vote/[\w-]{{32}}", link) for link in links.values())

    site.start()
    headers = {"Origin": site.base, "Accept": "application/json"}
    for link in links.values():
        table = httpx.get(link, headers=headers).json()
        while (serving := table["serving"]) is not None:
            form = {"serving": serving["id"], "nonce": serving["nonce"], "choice": "left"}
            table = httpx.post(f"{link}/cast", data=form, headers=headers).raise_for_status().json()
    assert say("revoke", SUITE, "--name", "anna-2").stdout == "anna-2: 1 link ended\n"
    assert httpx.get(links["anna-2"]).status_code == 404
    status = say("status", SUITE).stdout
    assert re.search(r"anna-1 +3 +3 +valid", status)
    assert re.search(r"anna-2 +3 +3 +revoked", status)
    assert "6 votes by 2 of 2 voters" in status
    assert site.stop() == 0

    request = CollectRequest(suite=SUITE, source="page")
    done = _collect_from(request, None)
    assert (done.read, done.new, done.n_rejected, done.where) == (6, 6, 0, SUITE)
    again = _collect_from(request, None)
    assert (again.read, again.new, again.known) == (6, 0, 6)
    stored = vote_store.stored(SUITE, wiring.store())
    assert sorted(stored["id"].to_list()) == sorted(vote.id for vote in site.votes())
    gold = some_matches(8, gold={2: "b"})[0][2].id
    assert stored.filter(stored["match"] == gold)["annotator"].sort().to_list() == ["anna-1", "anna-2"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("invite", "quickstart", "--name", "anna"), "the suite 'quickstart' is not voted on"),
        (("invite", "nothing", "--name", "anna"), "no definition 'nothing'"),
        (("invite", SUITE, "--name", "a b"), "'a b' cannot name a voter"),
        (("revoke", SUITE, "--name", "zoe"), "nobody named 'zoe' votes here"),
        (("serve", "quickstart"), "the suite 'quickstart' has no run in this store"),
        (("serve", SUITE, "--run", "none"), "no run 'none'"),
        (("serve", SUITE, "--host", "192.0.2.1"), "port 8791 of '192.0.2.1' cannot be used"),
    ],
)
def test_a_slip_is_told_in_a_line(site: Site, arguments: tuple[str, ...], said: str) -> None:
    found = say(*arguments)
    assert found.exit_code == 1
    assert said in found.stderr
    assert "Traceback" not in found.stderr
