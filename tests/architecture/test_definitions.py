"""Every definition file that is shipped is read and agrees with the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, cast

import pytest

import domain
from adapters.base import EditorContext, JudgeContext
from adapters.judges.questions import PLACEHOLDERS, rendered
from adapters.registry import EDITORS, IN_PROCESS, JUDGES, editor_class, judge_class
from domain.chains import ChainSet
from domain.errors import DefinitionError
from domain.groups import GroupDefinitions
from domain.judge_cards import JudgeCard
from domain.keys import fingerprint
from domain.loading import load, load_suite, names, prompt
from domain.model_cards import ModelCard
from domain.printed import printed_paper
from domain.provider_cards import ProviderCard
from domain.runs import choose
from domain.sessions import SessionSet, sessions_of_chains
from domain.suites import FacePack, Suite
from domain.taxonomy import Taxonomy
from tasks.group_tables import axes_of
from tasks.resolving import sessions_of

DEFINITIONS = Path(domain.__file__).parent / "definitions"
KINDS = {
    "taxonomies": Taxonomy,
    "sessions": SessionSet,
    "chains": ChainSet,
    "models": ModelCard,
    "judges": JudgeCard,
    "providers": ProviderCard,
    "suites": Suite,
    "packs": FacePack,
    "groups": GroupDefinitions,
}
PROMPTS = sorted((DEFINITIONS / "prompts").iterdir())
PRINTED = sorted(path for path in (DEFINITIONS / "printed").rglob("*") if path.is_file())
FILES = sorted(p for p in DEFINITIONS.rglob("*") if p.is_file() and p not in (*PROMPTS, *PRINTED))
CARDS: dict[str, ModelCard | JudgeCard] = {
    f"{folder}/{name}": load(kind, name)
    for folder, kind in (("models", ModelCard), ("judges", JudgeCard))
    for name in names(kind)
}
KEY = "key-of-this-test"
HOW_A_RESULT_IS_READ = {"result_field", "image_is_list"}
"""Settings of queues that are sent to nobody."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(DEFINITIONS)))
def test_the_file_loads(file: Path):
    assert file.suffix == ".yaml"
    assert load(cast(Any, KINDS[file.parent.name]), file.stem).id == file.stem


def test_no_kind_is_empty():
    assert all(names(kind) for kind in KINDS.values())
    assert {file.parent.name for file in FILES} == set(KINDS)


@pytest.mark.parametrize("name", names(SessionSet))
def test_sessions_agree_with_their_taxonomy(name: str):
    sessions = load(SessionSet, name)
    taxonomy = load(Taxonomy, sessions.taxonomy)
    sessions.check(taxonomy)
    asked = [step.attribute.casefold() for session in sessions.sessions for step in session.steps]
    assert set(asked) <= set(taxonomy.attributes)


@pytest.mark.parametrize("name", names(Suite))
def test_a_suite_names_what_exists(name: str):
    suite = load_suite(name)
    if suite.chain_set and suite.chain_set not in names(ChainSet):
        with pytest.raises(DefinitionError, match="chains draft") as caught:
            sessions_of(suite)
        assert (suite.chain_set, suite.dataset.path) == (suite.id, suite.id), "all of it is a person's own"
        assert f"photos prepare {name}" in caught.value.message
        known: tuple[str, ...] = ("any",)
    elif suite.chain_set:
        known = tuple(session.id for session in sessions_of_chains(load(ChainSet, suite.chain_set)))
    else:
        sessions = load(SessionSet, suite.session_set or "")
        assert sessions.taxonomy == suite.taxonomy
        known = tuple(sessions.by_id)
    assert choose(suite.sessions, known, "sessions")
    assert all(load(ModelCard, model) for model in suite.models)
    assert load(FacePack, suite.embedder.pack).files
    judges = [suite.judges.consistency, suite.judges.tracker, suite.steps.checker]
    assert all(load(JudgeCard, judge) for judge in judges if judge)
    assert any(judges)


@pytest.mark.parametrize(("name", "dataset", "short"), [("celeba", "CelebA", 5), ("celebset", "CelebSET", 6)])
def test_the_suites_of_the_paper_are_whole(name: str, dataset: str, short: int):
    suite, paper = load_suite(f"face-edit-{name}"), printed_paper("2608.28802")
    printed = {cell.model for cell in paper.cells if cell.dataset == name and cell.metric == "mean_drop_fss"}
    assert len(suite.models) == short
    assert {paper.cards[model] for model in printed if model in paper.cards} == set(suite.models)
    assert not suite.sessions
    assert len(load(SessionSet, suite.session_set).by_id) == 35
    assert suite.dataset.min_fss0 == {"celeba": 0.95, "celebset": 0.85}[name]
    assert suite.dataset.path
    assert not Path(suite.dataset.path).is_absolute()
    assert suite.embedder.pack == "buffalo_l"
    assert dataset in suite.title
    labels = {axis.name: [axis.labels[group] for group in axes_of([axis])[0].groups] for axis in suite.axes}
    expected = {"gender": ["M", "F"], "age": ["Y", "O"]}
    if name == "celebset":
        expected |= {"skin": ["L", "D"], "gender_skin": ["ML", "MD", "FL", "FD"]}
    assert labels == expected


def test_the_suite_of_the_leaderboard_is_as_published():
    """The multi-step identity-drift leaderboard, sections 4 and 5."""
    suite = load_suite("identity-drift")
    assert (suite.steps.attempts, suite.steps.max_aspect_change) == (3, 0.01)
    assert suite.steps.checker == "gpt-6.1-sol"
    assert load(JudgeCard, suite.steps.checker).settings["reasoning_effort"] == "medium"
    assert suite.votes
    assert (suite.votes.min_completion, suite.votes.votes_per_match) == (0.8, round(322_417 / 60_800))
    assert (suite.embedder.pack, suite.standin_editor) == ("buffalo_l", "scene-mild")
    cards = {model: load(ModelCard, model) for model in suite.models}
    assert not [card for card in cards.values() if card.is_control or card.provider in IN_PROCESS]
    hosted = [card for card in cards.values() if card.provider == "fal"]
    arguments = {card.id: cast(dict[str, Any], card.settings["arguments"]) for card in hosted}
    for model, sent in arguments.items():  # the reseller's own checker and speed-up are off
        assert sent.get("enable_safety_checker", False) is False, model
        assert sent.get("acceleration", "none") == "none", model
    exact = {card.id for card in hosted if card.settings.get("size_field") == "image_size"}
    assert {"wan-2.7-pro", "qwen-image-edit-2511", "qwen-image-2-pro", "qwen-image-3"} <= exact
    assert cards["grok-imagine-image-2.0"].settings["quality"] == "medium", "the highest that there is"
    assert cards["gpt-image-2"].settings["quality"] == "high"
    assert cards["gpt-image-2"].settings["moderation"] == "low"
    assert cards["nano-banana-2.1"].settings["thinking_level"] == "high"
    assert {cards[name].settings["safety"] for name in ("nano-banana-2.1", "nano-banana-pro")} == {"OFF"}
    assert {cards[name].settings["watermark"] for name in ("seedream-5-pro", "seedream-5-lite")} == {False}
    formats = {"seedream-5-pro": "jpeg", "seedream-5-lite": "jpeg", "gpt-image-2": "png"}
    assert {name: cards[name].settings["output_format"] for name in formats} == formats
    assert {arguments[model].get("output_format") for model in arguments} == {"png", "webp"}
    assert arguments["muse-image"]["output_format"] == "webp"


@pytest.mark.parametrize("card", CARDS.values(), ids=list(CARDS))
def test_a_card_states_every_setting_that_its_adapter_sends(
    card: ModelCard | JudgeCard, monkeypatch: pytest.MonkeyPatch
):
    """A default of an adapter that no card states would be sent and be on no page."""
    if card.provider in IN_PROCESS:
        return
    settings = vars(built(card, monkeypatch))["_settings"]
    sent = {name for name, value in settings if value is not None}
    assert sent - set(card.settings) - HOW_A_RESULT_IS_READ == set()


@pytest.mark.parametrize("card", CARDS.values(), ids=list(CARDS))
def test_a_card_is_reached_by_a_registered_adapter_and_its_dates_are_sane(card: ModelCard | JudgeCard):
    assert card.provider in (EDITORS if isinstance(card, ModelCard) else JUDGES)
    assert card.released <= card.checked_on
    assert card.retired_on is None or card.retired_on > card.released


@pytest.mark.parametrize("card", CARDS.values(), ids=list(CARDS))
def test_a_card_that_costs_says_where_that_was_read(card: ModelCard | JudgeCard):
    if card.provider in IN_PROCESS:
        assert card.price_usd == 0
        return
    assert card.price_usd > 0
    assert card.typical_latency_s > 0
    assert load(ProviderCard, card.provider).key_variable
    assert len(card.source) > 20
    assert card.note


@pytest.mark.parametrize("card", CARDS.values(), ids=list(CARDS))
def test_what_its_adapter_needs_is_in_the_card(card: ModelCard | JudgeCard, monkeypatch: pytest.MonkeyPatch):
    """An adapter refuses settings that it does not know; building one contacts nobody."""
    assert built(card, monkeypatch)


def built(card: ModelCard | JudgeCard, monkeypatch: pytest.MonkeyPatch) -> object:
    if card.provider not in IN_PROCESS:
        monkeypatch.setenv(load(ProviderCard, card.provider).key_variable, KEY)
    taxonomy = load(Taxonomy, "face-edit-attributes")
    no_models = cast(Callable[[], Any], lambda: None)
    if isinstance(card, ModelCard):
        context = EditorContext(taxonomy, pool=(), load_photo=_never, face_models=no_models)
        return editor_class(card.provider).build(card, context)
    prompts = {role: prompt(name) for role, name in card.prompts.items()}
    return judge_class(card.provider).build(card, JudgeContext(taxonomy, prompts, no_models))


def _never(*_: object) -> NoReturn:
    raise AssertionError("no photo is read to build an adapter")


@pytest.mark.parametrize("kind", [ModelCard, JudgeCard], ids=["models", "judges"])
def test_no_two_cards_reach_the_same_model_in_the_same_way(kind: type[ModelCard | JudgeCard]):
    ways: dict[str, str] = {}
    for card in (card for card in CARDS.values() if isinstance(card, kind)):
        way = fingerprint({"to": f"{card.provider} {card.endpoint}", "settings": card.settings})
        assert ways.setdefault(way, card.id) == card.id


@pytest.mark.parametrize("name", names(JudgeCard))
def test_the_prompts_of_a_judge_exist_and_leave_room_for_what_they_are_about(name: str):
    card = load(JudgeCard, name)
    assert bool(card.prompts) == (card.provider not in IN_PROCESS)
    for role, prompt_name in card.prompts.items():
        values = dict.fromkeys(PLACEHOLDERS[role], "what is asked")
        assert "what is asked" in rendered(prompt(prompt_name), values)


@pytest.mark.parametrize("file", PROMPTS, ids=lambda file: file.name)
def test_a_prompt_is_versioned_and_used(file: Path):
    stem, _, version = file.name.removesuffix(".md").rpartition(".")
    assert file.suffix == ".md"
    assert stem
    assert version.startswith("v")
    assert version[1:].isdigit()
    used = {name for card in CARDS.values() if isinstance(card, JudgeCard) for name in card.prompts.values()}
    assert file.name.removesuffix(".md") in used


@pytest.mark.parametrize("name", names(FacePack))
def test_a_pack_has_one_file_a_task(name: str):
    pack = load(FacePack, name)
    assert sorted(file.task for file in pack.files) == ["detection", "landmark_2d_106", "recognition"]
    assert len({file.sha256 for file in pack.files}) == 3
    assert pack.different_person_below <= pack.same_person_above
    assert pack.licence
    assert pack.install


def test_every_adapter_has_a_card():
    assert {card.provider for card in CARDS.values() if isinstance(card, ModelCard)} == set(EDITORS)
    assert {card.provider for card in CARDS.values() if isinstance(card, JudgeCard)} == set(JUDGES)


def test_the_printed_tables_are_read_whole_and_their_models_have_cards():
    [folder] = {path.parent for path in PRINTED}
    paper = printed_paper(folder.name)
    assert {path.stem for path in PRINTED if path.suffix == ".csv"} == {
        "cells", "patterns", "attribute_bias", "models", "slips",
    }  # fmt: skip
    assert f"arXiv {paper.id}" in (folder / "README.md").read_text()
    assert set(paper.cards.values()) <= set(names(ModelCard))
    named = {cell.model for cell in (*paper.cells, *paper.patterns, *paper.attribute_bias)}
    assert set(paper.cards) <= named
    assert len(paper.cells) == 1327
    assert {slip.id for slip in paper.slips} == set(range(1, 28))
    missed = [slip for slip in paper.slips if slip.table and not any(map(slip.is_about, paper.cells))]
    assert missed == []
