from __future__ import annotations

import json
from pathlib import Path

import pytest

from adapters.stores.local import LocalStore
from domain import keys
from domain.edits import JudgeReply
from domain.judging import parse_scores
from domain.loading import load
from domain.records import JudgeIdentity
from domain.taxonomy import Taxonomy
from tasks import ledger
from tasks.embedding import ImageKey
from tasks.judging import EditKey, ask, judge_edit, track_state

GOOD = '{"editing_success": 8, "overediting": 6.5}'
IDENTITY = JudgeIdentity(adapter="fake", version="1", prompt_version="1", taxonomy="t@1")


class Says:
    def __init__(self, *texts: str) -> None:
        self._texts = list(texts)
        self.asked = 0

    def _next(self) -> JudgeReply:
        self.asked += 1
        return JudgeReply(self._texts.pop(0), served_version="v")

    def score(self, before: bytes, after: bytes, prompt: str) -> JudgeReply:
        return self._next()

    def track(self, image: bytes) -> JudgeReply:
        return self._next()


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path, fsync=False)


def stored_image(store: LocalStore, data: bytes) -> ImageKey:
    store.put_new(keys.image(keys.sha256(data), "png"), data)
    return ImageKey(sha256=keys.sha256(data), extension="png")


@pytest.fixture
def edit(store: LocalStore) -> EditKey:
    return EditKey(before=stored_image(store, b"1"), after=stored_image(store, b"2"), prompt="Add a beret.")


def test_an_answer_is_asked_for_again_only_within_the_bound() -> None:
    judge = Says("no", "{}", GOOD, GOOD)
    scores, replies, problem = ask(lambda: judge.score(b"", b"", ""), parse_scores, 3)
    assert scores is not None
    assert (scores.success, scores.overediting, len(replies), problem) == (8.0, 6.5, 3, None)
    judge = Says("no", "no", GOOD)
    scores, replies, problem = ask(lambda: judge.score(b"", b"", ""), parse_scores, 2)
    assert (scores, len(replies), judge.asked) == (None, 2, 2)
    assert problem


def test_a_judgement_is_kept_and_not_asked_for_twice(store: LocalStore, edit: EditKey) -> None:
    judge = Says(GOOD)
    assert judge_edit(edit, judge, IDENTITY, store, 3)
    assert not judge_edit(edit, judge, IDENTITY, store, 3)
    record = ledger.judgement(store, keys.fingerprint(IDENTITY), edit.key)
    assert record is not None
    assert (record.status, record.success, record.overediting, record.asks) == ("scored", 8.0, 6.5, 1)
    assert (record.raw_texts, record.prompt, record.served_version) == ((GOOD,), "Add a beret.", "v")


def test_an_unparsable_judgement_keeps_every_text_and_no_number(store: LocalStore, edit: EditKey) -> None:
    assert judge_edit(edit, Says("eh", "[1, 2]"), IDENTITY, store, 2)
    record = ledger.judgement(store, keys.fingerprint(IDENTITY), edit.key)
    assert record is not None
    assert (record.status, record.success, record.overediting) == ("unparsable", None, None)
    assert record.raw_texts == ("eh", "[1, 2]")
    assert record.problem


def test_another_version_of_a_judge_judges_again(store: LocalStore, edit: EditKey) -> None:
    judge_edit(edit, Says(GOOD), IDENTITY, store, 1)
    assert judge_edit(edit, Says(GOOD), IDENTITY.model_copy(update={"version": "2"}), store, 1)


def test_a_state_is_kept_with_unknown_apart_from_absent(store: LocalStore) -> None:
    taxonomy = load(Taxonomy, "face-edit-attributes")
    answer = {name: [] for name in taxonomy.sub_axes} | {"hats": ["beret hat"], "beard": None}
    image = stored_image(store, b"3")
    assert track_state(image, Says(json.dumps(answer)), IDENTITY, taxonomy, store, 1)
    record = ledger.state(store, keys.fingerprint(IDENTITY), image.sha256)
    assert record is not None
    assert (record.state["hats"], record.state["beard"], record.state["glasses"]) == (
        ("beret hat",),
        None,
        (),
    )
    assert not track_state(image, Says(), IDENTITY, taxonomy, store, 1)
