"""A snapshot becomes a site: once, its page last, then the pointers; a folder gets what the page shows."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl
import pytest
from people_tables import MODELS, people_tables
from synthetic_site import EVIL, SUITE, Site, make_ranked, make_site, publish_site, write_images

from adapters.base import ObjectStore
from adapters.pages.site.data import read_history
from domain import keys
from domain.errors import DefinitionError, StoreError
from domain.requests import RunRequest
from tasks import ledger, site_copy, wiring
from tasks.pointers import current
from tasks.published import find_snapshot
from tasks.publishing import board_before
from tasks.scoring import read_table
from tasks.site_board import score_board
from tasks.site_compare import reasoning, shown_pairs
from tasks.site_copy import copy_site
from tasks.site_drift import attempts_by_step, attempts_of, chain_counts, failed_steps
from tasks.site_licences import licence_warning
from tasks.site_people import NOTES, rating_board
from tasks.site_source import SiteSource
from tasks.site_tables import coverage_tables, drift_series
from tasks.site_votes import matchups_of
from tasks.vote_notices import vote_notices

PAIRS = (("celeba", "flux-dev"), ("celeba", "qwen-edit"), ("celebset", "qwen-edit"))
EVERY = 250


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "store"))
    return wiring.store()


@pytest.fixture
def site(store: ObjectStore) -> Site:
    return make_site(store, every=EVERY, pairs=PAIRS)


def files(root: Path) -> dict[str, tuple[bytes, int]]:
    found = (path for path in root.rglob("*") if path.is_file())
    return {str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mtime_ns) for path in found}


class Links(HTMLParser):
    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("href", "src")]


def broken_links(folder: Path) -> Iterator[str]:
    for page in folder.rglob("*.html"):
        for link in Links(page).found:
            place = unquote(link.partition("#")[0])
            if place and not place.startswith("data:") and not (page.parent / place).is_file():
                yield f"{page}: {link}"


def test_publishing_again_changes_no_file(site: Site, store: ObjectStore, tmp_path: Path):
    publish_site(site, store)
    before = files(tmp_path / "store")
    publish_site(site, store)
    assert files(tmp_path / "store") == before
    assert {"reports/synthetic/index.html", "reports/synthetic/history.js"} <= set(before)
    assert list(broken_links(tmp_path / "store")) == []


class Stops(RuntimeError):
    pass


class StopsAfter:
    """A store that fails at its so manyth write."""

    def __init__(self, store: ObjectStore, writes: int) -> None:
        self._store, self.left = store, writes
        self.written: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def put_new(self, key: str, data: bytes) -> bool:
        self._count(key)
        return self._store.put_new(key, data)

    def put(self, key: str, data: bytes) -> None:
        self._count(key)
        self._store.put(key, data)

    def _count(self, key: str) -> None:
        if self.left == 0:
            raise Stops(key)
        self.left -= 1
        self.written.append(key)


def test_an_interrupted_publish_leaves_the_previous_page_whole(
    site: Site, store: ObjectStore, tmp_path: Path
):
    publish_site(site, store)
    root = tmp_path / "store"
    old_page = keys.report(SUITE, site.snapshot.digest, "index.html")
    before = files(root)
    second = make_site(store, 2, every=EVERY, pairs=PAIRS)
    whole = StopsAfter(store, 10**6)
    new_page = keys.report(SUITE, second.snapshot.digest, "index.html")
    for writes in (0, 1, 5, 30):
        with pytest.raises(Stops):
            publish_site(second, StopsAfter(store, writes))
        now = files(root)
        assert {name: now[name] for name in before} == before
        assert new_page not in now
        assert (current(SUITE, store) or site).snapshot == site.snapshot.digest
        assert [link for link in broken_links(root) if old_page in link] == []
    publish_site(second, whole)
    pointers = [
        keys.report_pointer(SUITE),
        keys.report_index(SUITE, "history.js"),
        keys.report_index(SUITE, "index.html"),
    ]
    assert whole.written[-4:] == [new_page, *pointers]
    assert list(broken_links(root)) == []
    assert second.snapshot.digest[:16] in (root / "reports/synthetic/index.html").read_text()
    alike = tmp_path / "alike"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FACEDRIFT_STORE", str(alike))
        for number in (1, 2):
            publish_site(make_site(wiring.store(), number, every=EVERY, pairs=PAIRS), wiring.store())
    assert {n: d for n, (d, _) in files(alike).items()} == {n: d for n, (d, _) in files(root).items()}


def test_the_change_is_against_the_board_before(site: Site, store: ObjectStore):
    publish_site(site, store)
    second = make_site(store, 2, every=EVERY, pairs=PAIRS)
    before = board_before(second.snapshot, second.run, store)
    assert before is not None
    board = score_board(SiteSource(second.snapshot, second.run, store), before)
    assert site.snapshot.digest[:16] in board.change_note
    assert "other photos and sessions" in board.change_note
    key = (pl.col("dataset") == "celeba") & (pl.col("test_set") == "all") & (pl.col("model") == "flux-dev")
    [old], [new] = (
        read_table(store, s.snapshot, "leaderboard").filter(key).to_dicts() for s in (site, second)
    )
    where = {"dataset": "celeba", "test_set": "all", "group": "all"}
    [line] = [line for line in board.lines if line.model == "flux-dev" and dict(line.where) == where]
    figure = line.figures["drop_fss"]
    assert figure.change == pytest.approx(new["drop_fss"] - old["drop_fss"])
    assert figure.is_apart == (
        new["drop_fss_low"] > old["drop_fss_high"] or new["drop_fss_high"] < old["drop_fss_low"]
    )
    assert line.figures["price_per_100"].value == pytest.approx(100 * second.run.card["flux-dev"].price_usd)


def test_an_older_run_that_is_published_later_is_compared_with_nothing_and_is_no_board(store: ObjectStore):
    first, second = (make_site(store, number, every=EVERY, pairs=PAIRS) for number in (1, 2))
    publish_site(second, store)
    assert board_before(first.snapshot, first.run, store) is None
    publish_site(first, store)
    assert (current(SUITE, store) or first).snapshot == second.snapshot.digest
    entries = read_history(store.get(keys.report_index(SUITE, "history.js")) or b"")
    assert [entry["snapshot"] for entry in entries] == [s.snapshot.digest[:16] for s in (second, first)]


def test_a_damaged_history_is_found_anew(site: Site, store: ObjectStore):
    publish_site(site, store)
    key = keys.report_index(SUITE, "history.js")
    whole = store.get(key)
    for damage in (b"nonsense", b"window.facedriftHistory={};\n"):
        store.put(key, damage)
        publish_site(site, store)
        assert store.get(key) == whole


def test_a_later_run_with_the_same_numbers_changes_no_file(site: Site, store: ObjectStore, tmp_path: Path):
    publish_site(site, store)
    before = files(tmp_path / "store/reports")
    run = site.run.model_copy(
        update={"id": "20261109T000000-later", "created_at": "2026-11-09T00:00:00+00:00"}
    )
    ledger.write_new(store, keys.run(run.id), run)
    publish_site(replace(site, snapshot=site.snapshot.model_copy(update={"run_id": run.id})), store)
    assert files(tmp_path / "store/reports") == before


def test_a_part_of_the_suite_has_a_page_and_does_not_replace_the_board(site: Site, store: ObjectStore):
    publish_site(site, store)
    part = make_site(store, 2, every=EVERY, pairs=PAIRS)
    run = part.run.model_copy(
        update={"id": "20261105T000000-part", "request": RunRequest(suite=SUITE, sessions=("hair_00",))}
    )
    ledger.write_new(store, keys.run(run.id), run)
    publish_site(replace(part, run=run, snapshot=part.snapshot.model_copy(update={"run_id": run.id})), store)
    assert (current(SUITE, store) or part).snapshot == site.snapshot.digest
    entries = {
        e["snapshot"]: e["whole"]
        for e in read_history(store.get(keys.report_index(SUITE, "history.js")) or b"")
    }
    assert entries == {site.snapshot.digest[:16]: True, part.snapshot.digest[:16]: False}
    page = store.get(keys.report(SUITE, part.snapshot.digest, "index.html")) or b""
    assert b"this is a part of the suite" in page


def test_json_of_a_table_is_the_table(site: Site, store: ObjectStore):
    publish_site(site, store)
    for name in ("leaderboard", "progression", "group_means", "disparities", "overediting", "coverage"):
        data = store.get(keys.report(SUITE, site.snapshot.digest, f"{name}.json"))
        table = read_table(store, site.snapshot, name)
        assert pl.read_json(io.BytesIO(data or b""), schema=table.schema).equals(table), name
    assert store.head(keys.report(SUITE, site.snapshot.digest, "leaderboard.csv"))


def test_a_copy_is_byte_equal_whole_and_the_second_writes_nothing(
    site: Site, store: ObjectStore, tmp_path: Path
):
    publish_site(site, store)
    out = tmp_path / "out"
    page, written = copy_site(SUITE, None, out)
    copied = files(out)
    assert page == out / "index.html"
    assert written == len(copied) > 100
    own = files(tmp_path / "store")
    different = [name for name, (data, _) in copied.items() if name not in own or own[name][0] != data]
    assert different == ["index.html"]
    assert list(broken_links(out)) == []
    assert not [
        name for name in copied if name.split("/")[0] not in ("index.html", "reports", "images", "thumbnails")
    ]
    assert copy_site(SUITE, None, out)[1] == 0
    assert files(out) == copied

    second = make_site(store, 2, every=EVERY, pairs=PAIRS)
    publish_site(second, store)
    (out / "mine.txt").write_text("stays")
    copy_site(SUITE, None, out)
    assert set(copied) < set(files(out))
    assert list(broken_links(out)) == []
    names = [e["snapshot"] for e in read_history((out / "reports/synthetic/history.js").read_bytes())]
    assert names == [second.snapshot.digest[:16], site.snapshot.digest[:16]]
    alone = tmp_path / "alone"
    copy_site(SUITE, site.snapshot.digest[:6], alone)
    assert site.snapshot.digest[:16] in (alone / "reports/synthetic/index.html").read_text()


def test_a_folder_of_several_suites_lists_them(site: Site, store: ObjectStore, tmp_path: Path):
    publish_site(site, store)
    out = tmp_path / "out"
    copy_site(SUITE, None, out)
    other = out / "reports/another"
    other.mkdir()
    (other / "index.html").write_text("<title>Another &amp; suite</title>")
    copy_site(SUITE, None, out)
    listed = (out / "index.html").read_text()
    assert "Another &amp; suite" in listed
    assert EVIL not in listed
    assert [link for link in Links(out / "index.html").found if link.startswith("reports/")] == [
        "reports/another/index.html",
        "reports/synthetic/index.html",
    ]


def test_a_snapshot_that_is_not_there_is_named_with_those_that_are(site: Site, store: ObjectStore):
    with pytest.raises(StoreError, match="no report in this store"):
        find_snapshot(SUITE, None, store)
    publish_site(site, store)
    with pytest.raises(DefinitionError, match="no snapshot of 'synthetic' is called 'ffff'") as caught:
        find_snapshot(SUITE, "ffff", store)
    assert site.snapshot.digest[:16] in str(caught.value)
    with pytest.raises(DefinitionError, match="no snapshot"):
        find_snapshot(SUITE, "", store)
    assert find_snapshot(SUITE, site.snapshot.digest[:5], store).run_id == site.run.id


def test_what_a_page_needs_and_the_store_lost_is_named(site: Site, store: ObjectStore, tmp_path: Path):
    publish_site(site, store)
    needs = json.loads(store.get(keys.report(SUITE, site.snapshot.digest, site_copy.NEEDS)) or b"")
    store.delete(needs[0])
    with pytest.raises(StoreError, match=needs[0]):
        copy_site(SUITE, None, tmp_path / "out")


def test_a_thumbnail_that_is_gone_is_made_again(site: Site, store: ObjectStore, tmp_path: Path):
    publish_site(site, store)
    needs = json.loads(store.get(keys.report(SUITE, site.snapshot.digest, site_copy.NEEDS)) or b"")
    lost = next(key for key in needs if key.startswith("thumbnails/"))
    data = store.get(lost)
    store.delete(lost)
    copy_site(SUITE, None, tmp_path / "out")
    assert store.get(lost) == data
    assert (tmp_path / "out" / lost).read_bytes() == data


def test_what_can_be_written_anew_names_the_page_to_delete(site: Site, store: ObjectStore, tmp_path: Path):
    publish_site(site, store)
    store.delete(keys.report(SUITE, site.snapshot.digest, site_copy.NEEDS))
    page = keys.report(SUITE, site.snapshot.digest, "index.html")
    with pytest.raises(StoreError, match=rf"delete '{page}' from the store and publish again"):
        copy_site(SUITE, None, tmp_path / "out")


@pytest.mark.parametrize("inside", ["", "deeper"])
def test_a_file_in_place_of_the_folder_is_named_as_what_was_asked(
    store: ObjectStore, tmp_path: Path, inside: str
):
    (tmp_path / "a.txt").write_text("mine")
    out = tmp_path / "a.txt" / inside
    with pytest.raises(DefinitionError, match=rf"--out {out}: {tmp_path / 'a.txt'} is a file") as caught:
        copy_site(SUITE, None, out)
    assert "FACEDRIFT_STORE" not in str(caught.value)


def test_pictures_under_no_free_licence_are_counted_by_licence(
    site: Site, store: ObjectStore, monkeypatch: pytest.MonkeyPatch
):
    publish_site(site, store)
    assert licence_warning(SUITE, None) is None
    held = wiring.dataset(site.run.dataset)
    needs = store.get(keys.report(SUITE, site.snapshot.digest, site_copy.NEEDS)) or b""
    assert all(photo.image_sha256.encode() in needs for photo in held.photos[:4])
    licences = ("all rights reserved", "all rights reserved", "", "public domain (NASA)")
    own = [p.model_copy(update={"licence": text}) for p, text in zip(held.photos, licences, strict=False)]
    monkeypatch.setattr(
        wiring, "dataset", lambda _: held.model_copy(update={"photos": (*own, *held.photos[4:])})
    )
    assert licence_warning(SUITE, None) == (
        "warning: the copy holds pictures of 3 photos whose licence is not a free one: “all rights reserved” "
        "(2); “none stated” (1); put it only where these allow it"
    )


def test_pairs_take_every_session_and_photo_before_one_twice(site: Site):
    pairs, total = shown_pairs(site.run)
    n_photos, n_sessions = len(site.run.photos), len(site.run.sessions)
    assert total == n_photos * n_sessions
    assert len(pairs) == len({(photo, session.id) for photo, session in pairs}) == min(60, total)
    assert {session.id for _, session in pairs[:n_sessions]} == {s.id for s in site.run.sessions}
    assert {photo for photo, _ in pairs[:n_photos]} == set(site.run.photos)
    bound = tuple(s.model_copy(update={"photo": site.run.photos[0]}) for s in site.run.sessions[:2])
    pairs, total = shown_pairs(site.run.model_copy(update={"sessions": bound}))
    assert (total, [photo for photo, _ in pairs]) == (2, [site.run.photos[0]] * 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"reasoning": "fine", "editing_success": 1}', "fine"),
        ('```json\n{"reasoning": "fenced"}\n```', "fenced"),
        ('{"editing_success": 1}', ""),
        ('{"reasoning": 4}', ""),
        ("[1]", "[1]"),
        ("no json at all", "no json at all"),
    ],
)
def test_what_a_judge_wrote(text: str, said: str):
    assert reasoning(text) == said


@pytest.fixture
def ranked(site: Site, store: ObjectStore) -> SiteSource:
    crops = [sha for sha, _ in write_images(store)]
    made = make_ranked(store, site, people_tables(crops, site.run.photos[:4]))
    run = made.run.model_copy(update={"cards": tuple(card for card in (*made.run.cards, _third(made)))})
    return SiteSource(made.snapshot, run, store, made.find_pictures)


def _third(site: Site) -> Any:
    return site.run.cards[0].model_copy(update={"id": MODELS[0], "name": "Bagel"})


def test_a_ranking_is_shown_as_its_tables_say(ranked: SiteSource):
    board = rating_board(ranked, None)
    assert board.has_ranks
    assert [value for value, _ in board.switches[0].options] == [
        "all",
        "photo_shape=landscape",
        "photo_shape=portrait",
    ]
    best, second = [line for line in board.lines if line.where["dimension"] == "all"]
    assert (best.model, best.ranks, best.figures["rating"].value) == (MODELS[0], (1, 1, 2), 1040.0)
    assert second.figures["fss"].value == 0.6
    assert board.columns[0].meaning == "strength by the votes of a simulated crowd (Bradley–Terry)"
    unknown = [line for line in board.lines if line.where["dimension"] == "photo_shape=portrait"][1]
    assert (unknown.ranks, unknown.figures["rating"].value, unknown.note) == (None, None, NOTES["winless"])
    assert (second.figures["rating"].low, second.figures["rating"].high) == (None, 990.0)
    names = [name for _, name in board.switches[0].options]
    assert names == [
        "everything",
        "photo shape: landscape (2 photos, few)",
        "photo shape: portrait (2 photos, few)",
    ]
    [said] = board.notices
    assert said.startswith(
        "With so few photos (2) the votes leave ranks open: in 9 of 200 resamples of the photos"
    )
    told = "too few chains complete: 4 of 10 chains complete (40%); ranked from 80% on"
    assert board.unranked == [("Qwen-Edit", told)]


def test_attempts_are_counted_over_steps(ranked: SiteSource):
    found = attempts_of(ranked)
    assert found is not None
    lines = {line.model.split()[0].lower(): line for line in found.lines}
    parts = [(part.kind, part.n, part.start, part.width) for part in lines["flux-dev"].parts]
    assert parts == [
        ("made1", 4, 0.0, 40.0),
        ("made2", 3, 40.0, 30.0),
        ("made3", 2, 70.0, 20.0),
        ("failed", 1, 90.0, 10.0),
    ]
    assert lines["flux-dev"].failed_attempts == [
        ("not made", 5),
        ("refused", 4),
        ("no image", 0),
        ("off shape", 1),
    ]
    assert lines["qwen-edit"].n_tried == 0


def test_a_model_is_called_alike_on_every_tab(ranked: SiteSource):
    called = {line.model: line.name for _, series in drift_series(ranked) for line in series}
    assert called == {card.id: card.name for card in ranked.run.cards if card.id in MODELS}
    tables = {table.title: table for table in coverage_tables(ranked)}
    assert [row[0] for row in tables["Completion"].rows] == [called[model] for model in MODELS]
    assert tables["Completion"].columns[:3] == ["model", "chains", "complete"]
    assert tables["Completion"].rows[2][5:9] == ["40.0 %", "80.0 %", "no", "too few chains complete"]
    ended, by_step = failed_steps(ranked), attempts_by_step(ranked)
    assert ended is not None
    assert by_step is not None
    assert ended.rows[0][0] == called[MODELS[1]]
    assert {row[0] for row in by_step.rows} == {called[MODELS[0]], called[MODELS[1]]}


def test_where_chains_ended_is_told_attempt_by_attempt(ranked: SiteSource):
    found = failed_steps(ranked)
    assert found is not None
    [row] = found.rows
    assert row[3] == f"1. refused: {EVIL}; 2. checks failed: right place, framing; 3. off shape"


def test_chains_are_counted_by_dimension(ranked: SiteSource):
    found = chain_counts(ranked)
    assert found is not None
    counts = {(row[0], row[1]): row[2:] for row in found.rows}
    n_models = len(ranked.run.cards)
    assert counts["photo shape", "portrait"] == ["2", f"4 of {2 * n_models}"]
    assert counts["edit target", "text"] == ["0", "0 of 0"]


def test_simulated_votes_are_said_first(ranked: SiteSource):
    [said] = vote_notices(ranked.snapshot, ranked.store)
    assert said.startswith("SIMULATED VOTES: all 40 votes")


def test_a_win_matrix_has_both_directions(ranked: SiteSource):
    found = matchups_of(ranked)
    assert found is not None
    assert found.models == ["Bagel", f"flux-dev {EVIL}"]
    texts = [[cell.text if cell else None for cell in row] for row in found.cells]
    assert texts == [[None, "65%"], ["35%", None]]
    assert found.examples[0].result == "Bagel won: 3 : 1 votes"
    assert found.examples[0].caption_b == f"flux-dev {EVIL}"
