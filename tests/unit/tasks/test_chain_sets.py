"""Drafted sets keep their name and content, and leave open what nobody measured."""

from __future__ import annotations

from pathlib import Path

import pytest
from chain_photos import GROUPS

from domain import keys
from domain.chain_drafting import Draft, DraftChain, Undrafted, chain_of
from domain.chains import ChainSet
from domain.errors import DefinitionError
from domain.loading import parse
from domain.requests import DraftChainsRequest
from tasks import wiring
from tasks.chain_files import lint_chain_file
from tasks.chain_sets import export, store_chains
from tasks.definitions import load

REQUEST = DraftChainsRequest(set_id="city", writer="local", dataset="everyday")
PROMPTS = (
    "Change the man's jacket to green.",
    "Add a blue mug on the table.",
    "Move the basket to the right edge of the counter.",
    "Replace the apple with a yellow pear.",
    'Change the words on the blue sign to "SALE: 5" in white letters.',
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("FACEDRIFT_DEFINITIONS", str(tmp_path))
    return tmp_path


def a_chain(photo: str = "market-1", prompts: tuple[str, ...] = PROMPTS, **groups: str) -> DraftChain:
    return chain_of(photo, Draft(edit_target="mixed", prompts=prompts), groups or GROUPS)


def kept(*chains: DraftChain, source: str = "a test", out: tuple[Undrafted, ...] = ()):
    return store_chains(REQUEST, chains, out, source, wiring.store())


def test_what_is_measured_is_filled_in_and_nothing_else():
    whole = a_chain()
    assert whole.model_dump() == {
        "photo": "market-1", "edit_target": "mixed", "people": "2", "face_size": "medium",
        "photo_shape": "landscape", "view": "half", "prompts": PROMPTS,
    }  # fmt: skip
    part = a_chain(people="7", face_size="large", edit_target="text", gender="female")
    assert (part.people, part.face_size, part.edit_target) == (None, "large", "mixed")
    assert part.not_measured == ("people", "photo_shape", "view")


def test_a_whole_draft_loads_as_it_is_and_has_no_finding(home: Path):
    made = kept(a_chain(), a_chain("bench-2"))
    assert (made.id, made.version, made.chains, made.is_new, made.to_give) == ("city", 1, 2, True, {})
    assert made.key == keys.chain_set("city", 1)
    file = export(made, home / "chains")
    found, median = lint_chain_file(file)
    assert [one.code for one in found] == ["same_prompts"]
    assert median == 7
    assert load(ChainSet, "city").by_photo["bench-2"].prompts == PROMPTS


def test_what_was_not_measured_is_left_open_with_its_choices_and_found(home: Path):
    out = (Undrafted(photo="stairs-3", problem="none of 3 answers\ncan be used"),)
    made = kept(a_chain(people="2", photo_shape="square"), out=out)
    assert made.to_give == {"face_size": 1, "view": 1}
    file = export(made, home)
    text = file.read_text()
    assert "  view:  # give one of: close, half, full\n" in text
    assert "# Kept out: stairs-3: none of 3 answers can be used\n" in text
    found, _ = lint_chain_file(file)
    lines = text.splitlines()
    assert [(lines[one.line - 1].split(":")[0].strip(), one.code) for one in found] == [
        ("face_size", "bad_value"), ("view", "bad_value"),
    ]  # fmt: skip
    assert found[1].allowed == ("close", "half", "full")
    with pytest.raises(DefinitionError):
        parse(text, ChainSet, "")
    given = text.replace("view:  # give one of: close, half, full", "view: close").replace(
        "face_size:  # give one of: small, medium, large", "face_size: small"
    )
    assert parse(given, ChainSet, "").chains[0].view == "close"


def test_equal_chains_are_one_set_and_others_its_next_version(home: Path):
    first = kept(a_chain())
    again = kept(a_chain(), source="another day")
    assert (again.id, again.is_new) == ("city", False)
    second = kept(a_chain(prompts=(*PROMPTS[:4], "Remove the scarf.")))
    assert (second.id, second.version, second.is_new) == ("city-v2", 2, True)
    assert export(second, home / "city.yaml") == home / "city-v2.yaml"
    data = wiring.store().get(first.key)
    assert data is not None
    assert b"another day" not in data
    found, _ = lint_chain_file(home / "city-v2.yaml")
    assert found == []


def test_an_edited_file_is_told_and_never_overwritten(home: Path):
    made = kept(a_chain())
    file = export(made, home)
    assert export(made, home) == file
    file.write_text(file.read_text().replace("a blue mug", "a red mug"))
    [found] = lint_chain_file(file)[0]
    assert (found.code, found.is_error) == ("changed", False)
    with pytest.raises(DefinitionError, match="other content"):
        export(made, home)
    assert "a red mug" in file.read_text()
