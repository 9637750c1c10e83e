"""Every definition file that is shipped is read and agrees with the others."""

from __future__ import annotations

from pathlib import Path

import pytest

import domain
from adapters.registry import EDITORS
from domain.loading import load, load_suite, names
from domain.model_cards import ModelCard
from domain.runs import choose
from domain.sessions import SessionSet
from domain.suites import FacePack, Suite
from domain.taxonomy import Taxonomy

DEFINITIONS = Path(domain.__file__).parent / "definitions"
KINDS = {
    "taxonomies": Taxonomy,
    "sessions": SessionSet,
    "models": ModelCard,
    "suites": Suite,
    "packs": FacePack,
}
FILES = sorted(path for path in DEFINITIONS.rglob("*") if path.is_file())


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(DEFINITIONS)))
def test_the_file_loads(file: Path):
    assert file.suffix == ".yaml"
    assert load(KINDS[file.parent.name], file.stem).id == file.stem


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
    sessions = load(SessionSet, suite.session_set)
    assert sessions.taxonomy == suite.taxonomy
    assert choose(suite.sessions, tuple(sessions.by_id), "sessions")
    assert all(load(ModelCard, model) for model in suite.models)
    assert load(FacePack, suite.embedder.pack).files


@pytest.mark.parametrize("name", names(ModelCard))
def test_a_card_is_reached_by_a_registered_editor(name: str):
    card = load(ModelCard, name)
    assert card.provider in EDITORS
    assert card.released <= card.checked_on
    assert card.retired_on is None or card.retired_on > card.released


@pytest.mark.parametrize("name", names(FacePack))
def test_a_pack_has_one_file_a_task(name: str):
    pack = load(FacePack, name)
    assert sorted(file.task for file in pack.files) == ["detection", "landmark_2d_106", "recognition"]
    assert len({file.sha256 for file in pack.files}) == 3
    assert pack.different_person_below <= pack.same_person_above
    assert pack.licence
    assert pack.install


def test_every_editor_has_a_card():
    assert {load(ModelCard, name).provider for name in names(ModelCard)} == set(EDITORS)
