"""The voting page in a real browser: by mouse, by keyboard, on a phone, without scripts, and by cheats."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from urllib.parse import urlsplit

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.voting.conftest import Visit
from matches import SECRET_NAMES
from playwright.sync_api import Route
from servers.voting_site import Site

pytestmark = [pytest.mark.integration]

Open = Callable[..., Visit]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
_NUMBERS = count()


@pytest.fixture
def name() -> str:
    """Of a voter nobody else is."""
    return f"voter-{next(_NUMBERS)}"


def of(site: Site, name: str) -> list[tuple[str | None, str]]:
    """A voter's votes: which model was left, and the choice."""
    return [(vote.left, vote.choice) for vote in site.votes() if vote.annotator == name]


def model_at(side: str, left: str | None) -> str:
    return str(left) if side == "left" else {"a": "b", "b": "a"}[str(left)]


def test_votes_by_mouse(site: Site, visit: Open, name: str) -> None:
    anna = visit()
    anna.open(site.invite(name))
    for number, side in enumerate(("left", "right", "tie")):
        anna.ready(number)
        anna.page.click(f'button[value="{side}"]')
    anna.ready(3)
    [first, second, third] = of(site, name)
    assert first[1] == model_at("left", first[0])
    assert second[1] == model_at("right", second[0])
    assert third[1] == "tie"
    assert anna.page.inner_text("#said") == "Stored. Pair 4 of 40."
    assert anna.troubles == []


def test_votes_by_keyboard(site: Site, visit: Open, name: str) -> None:
    anna = visit()
    anna.open(site.invite(name))
    pressed = ["ArrowLeft", "ArrowRight", "ArrowDown", "1", "2", "3"]
    for number, key in enumerate(pressed):
        anna.ready(number)
        anna.page.keyboard.press(key)
    anna.ready(6)
    anna.page.keyboard.press("Tab")  # to the left face
    assert anna.page.evaluate("document.activeElement.value") == "left"
    outline = anna.page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert outline == "3px"
    anna.page.keyboard.press("Tab")
    anna.page.keyboard.press("Enter")
    anna.ready(7)
    assert anna.page.evaluate("document.activeElement.value") == "right"
    anna.page.keyboard.press("Tab")
    anna.page.keyboard.press("Space")
    anna.ready(8)
    sides = ["left", "right", "tie", "left", "right", "tie", "right", "tie"]
    votes = of(site, name)
    assert [choice for _, choice in votes] == [
        side if side == "tie" else model_at(side, left) for side, (left, _) in zip(sides, votes, strict=True)
    ]
    assert anna.troubles == []


def test_keys_can_be_turned_off_and_others_do_nothing(site: Site, visit: Open, name: str) -> None:
    anna = visit()
    link = site.invite(name)
    anna.open(link)
    anna.ready(0)
    for key in ("a", "4", "Escape", "Control+ArrowLeft", "Alt+1", "Meta+2", "Shift+ArrowRight"):
        anna.page.keyboard.press(key)
    anna.page.click("summary")
    anna.page.uncheck("#keys")
    anna.page.keyboard.press("ArrowLeft")
    anna.page.reload()
    anna.ready(0)
    anna.page.keyboard.press("1")
    anna.page.click('button[value="tie"]')
    anna.ready(1)
    assert of(site, name) == [(of(site, name)[0][0], "tie")]


def test_a_reload_shows_the_same_pair_on_the_same_sides(site: Site, visit: Open, name: str) -> None:
    anna = visit()
    link = site.invite(name)
    anna.open(link)
    anna.ready(0)
    anna.page.keyboard.press("1")
    anna.ready(1)
    before = [*anna.serving()]
    anna.page.reload()
    anna.ready(1)
    assert [*anna.serving()] == before
    other = visit()  # another device of hers
    other.open(link)
    other.ready(1)
    assert [*other.serving()] == before


def test_two_voters_at_once_have_different_pairs_and_do_not_disturb_each_other(
    site: Site, visit: Open, name: str
) -> None:
    anna, ben = visit(), visit()
    anna.open(site.invite(f"{name}-anna"))
    ben.open(site.invite(f"{name}-ben"))
    for number in range(3):
        for person in (anna, ben):
            person.ready(number)
        anna.page.keyboard.press("1")
        ben.page.keyboard.press("2")
    for person in (anna, ben):
        person.ready(3)
    seen = {
        who: [vote.match for vote in site.votes() if vote.annotator == f"{name}-{who}"]
        for who in ("anna", "ben")
    }
    assert len(set(seen["anna"])) == len(set(seen["ben"])) == 3
    assert not set(seen["anna"][1:]) & set(
        seen["ben"][1:]
    )  # the first of both is the one with a known answer
    assert seen["anna"][0] == seen["ben"][0]


def test_an_impatient_voter_votes_once_on_each_pair(site: Site, visit: Open, name: str) -> None:
    anna = visit()
    anna.open(site.invite(name))
    anna.ready(0)
    anna.page.dblclick('button[value="left"]')
    anna.ready(1)
    anna.page.evaluate(
        "() => { for (let n = 0; n < 5; n += 1) document.querySelector('button[value=right]').click(); }"
    )
    anna.ready(2)
    assert len(of(site, name)) == 2


def test_a_tab_that_is_behind_catches_up(site: Site, visit: Open, name: str) -> None:
    anna, old = visit(), visit()
    link = site.invite(name)
    for tab in (anna, old):
        tab.open(link)
        tab.ready(0)
    anna.page.keyboard.press("1")
    anna.ready(1)
    old.page.keyboard.press("2")
    old.ready(1)
    assert "stored before; it counts once" in old.page.inner_text("#said")
    assert [*old.serving()] == [*anna.serving()]
    assert len(of(site, name)) == 1


def test_a_vote_that_did_not_arrive_is_given_again(site: Site, visit: Open, name: str) -> None:
    anna = visit()
    anna.open(site.invite(name))
    anna.ready(0)

    def cut(route: Route) -> None:
        route.abort("connectionreset")

    anna.page.route("**/cast", cut)
    anna.page.keyboard.press("1")
    anna.page.wait_for_selector("#said.trouble")
    assert anna.page.inner_text("#said") == "No connection. Choose again; a vote counts once."
    anna.page.unroute("**/cast")
    anna.page.keyboard.press("1")
    anna.ready(1)
    assert len(of(site, name)) == 1


def test_an_answer_that_was_lost_leaves_one_vote(site: Site, visit: Open, name: str) -> None:
    anna = visit()
    anna.open(site.invite(name))
    anna.ready(0)

    def lose_the_answer(route: Route) -> None:
        route.fetch()
        route.abort("connectionreset")

    anna.page.route("**/cast", lose_the_answer, times=1)
    anna.page.keyboard.press("1")
    anna.page.wait_for_selector("#said.trouble")
    anna.ready()
    anna.page.keyboard.press("2")
    anna.ready(1)
    [(left, choice)] = of(site, name)
    assert choice == model_at("left", left)


def test_it_works_without_scripts(site: Site, visit: Open, name: str) -> None:
    anna = visit(java_script_enabled=False)
    link = site.invite(name, wanted=3)
    anna.open(link)
    for number, side in enumerate(("left", "right", "tie")):
        assert anna.page.inner_text("#count") == f"{number} of 3"
        anna.page.click(f'button[value="{side}"]')
        assert anna.page.url == link
    assert anna.page.inner_text("h1") == "Thank you"
    votes = of(site, name)
    assert [choice for _, choice in votes] == [
        model_at("left", votes[0][0]),
        model_at("right", votes[1][0]),
        "tie",
    ]
    anna.page.go_back()
    assert anna.page.inner_text("h1") == "Thank you"
    assert len(of(site, name)) == 3


def test_cheats_are_refused_and_leave_no_vote(site: Site, visit: Open, name: str) -> None:
    anna, ben = visit(), visit()
    anna_link, ben_link = site.invite(f"{name}-anna"), site.invite(f"{name}-ben")
    anna.open(anna_link)
    ben.open(ben_link)
    anna.ready(0)
    ben.ready(0)
    form, ours = anna.form() | {"choice": "left"}, {"Origin": site.base}
    before = len(site.votes())

    def post(link: str, headers: dict[str, str] = ours, **fields: str) -> int:
        return httpx.post(f"{link}/cast", data=form | fields, headers=headers).status_code

    assert post(ben_link) == 403
    assert post(anna_link, nonce="A" * 24) == 403
    assert post(anna_link, serving="A" * 24) == 403
    assert post(f"{site.base}/vote/{'A' * 32}") == 404
    assert post(anna_link, {"Origin": "https://elsewhere.example"}) == 403
    assert post(anna_link, {}) == 403
    assert httpx.get(f"{anna_link}/cast", params=form).status_code == 405
    assert len(site.votes()) == before
    assert post(anna_link) == 303
    assert post(anna_link, choice="right") == 409
    assert len(site.votes()) == before + 1


def test_another_site_cannot_vote_with_a_voters_browser(site: Site, visit: Open, name: str) -> None:
    anna = visit()
    link = site.invite(name)
    anna.open(link)
    anna.ready(0)
    form = anna.form() | {"choice": "left"}
    fields = "".join(f'<input name="{key}" value="{value}">' for key, value in form.items())
    page = (
        f'<form method="post" action="{link}/cast">{fields}</form><script>document.forms[0].submit()</script>'
    )
    evil = f"http://localhost:{site.port}/elsewhere"  # another origin than 127.0.0.1
    anna.page.route(evil, lambda route: route.fulfill(body=page, content_type="text/html"))
    with anna.page.expect_response(lambda answer: answer.url.endswith("/cast")) as answer:
        anna.page.goto(evil)
    assert answer.value.status == 403
    assert of(site, name) == []


def test_it_asks_nobody_else_and_names_no_model(site: Site, visit: Open, name: str) -> None:
    anna = visit()
    anna.open(site.invite(name))
    anna.ready(0)
    anna.page.keyboard.press("1")
    anna.ready(1)
    anna.page.wait_for_load_state("networkidle")
    assert {urlsplit(url).netloc for url in anna.requests} == {urlsplit(site.base).netloc}
    pictures = [url for url in anna.requests if "/pictures/" in url]
    assert len(pictures) == len(set(pictures)) == 9  # open, ahead, and one more ahead: each fetched once
    assert not [
        secret for secret in (*SECRET_NAMES, name) if secret in anna.page.content() + "".join(pictures)
    ]
    assert anna.page.evaluate("document.cookie") == ""
    assert anna.troubles == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", ["desktop", "phone"])
def test_it_has_no_barriers(site: Site, visit: Open, name: str, scheme: str, device: str) -> None:
    anna = visit(color_scheme=scheme, reduced_motion="reduce", **(PHONE if device == "phone" else {}))
    anna.open(site.invite(name, wanted=2))
    anna.ready(0)
    anna.page.click("summary")
    assert Axe().run(anna.page).response["violations"] == []
    for answer in ("left", "tie"):
        anna.ready()
        anna.page.click(f'button[value="{answer}"]')
    anna.page.wait_for_selector("text=Thank you")
    assert Axe().run(anna.page).response["violations"] == []
    anna.open(f"{site.base}/vote/nobody")
    assert Axe().run(anna.page).response["violations"] == []


@pytest.mark.parametrize(("width", "height"), [(390, 844), (360, 740), (320, 568), (844, 390), (1280, 800)])
def test_everything_to_vote_fits_on_a_screen_and_under_a_thumb(
    site: Site, visit: Open, name: str, width: int, height: int
) -> None:
    anna = visit(viewport={"width": width, "height": height})
    anna.open(site.invite(name))
    anna.ready(0)
    boxes = [button.bounding_box() for button in anna.page.query_selector_all("button, summary")]
    assert len(boxes) == 4
    assert all(box and box["width"] >= 44 and box["height"] >= 44 for box in boxes)
    lowest = max(box["y"] + box["height"] for box in boxes[:3] if box)
    assert lowest <= height
    assert anna.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_revoked_link_ends_at_the_next_vote(site: Site, visit: Open, name: str) -> None:
    anna = visit()
    anna.open(site.invite(name))
    anna.ready(0)
    site.revoke(name)
    anna.page.keyboard.press("1")
    anna.page.wait_for_selector("text=This address shows nothing")
    assert of(site, name) == []


def test_no_token_is_printed(site: Site, visit: Open, name: str) -> None:
    anna = visit()
    link = site.invite(name)
    anna.open(link)
    anna.ready(0)
    httpx.get(f"{link}/no/such/path")
    assert link.rpartition("/")[2] not in site.log.read_text()
