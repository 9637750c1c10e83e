from __future__ import annotations

import hashlib
import json

import pytest
from builders import an_identity
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from domain import keys
from domain.records import StepIdentity

SEGMENT = st.from_regex(r"[A-Za-z0-9_=+-][A-Za-z0-9._=+-]{0,30}", fullmatch=True)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(SEGMENT, min_size=1, max_size=8))
def test_keys_of_allowed_characters_are_returned_unchanged(segments: list[str]):
    key = "/".join(segments)
    assert keys.check_key(key) == key


@pytest.mark.parametrize(
    "key",
    [
        "",
        "/",
        "/a",
        "a/",
        "a//b",
        ".",
        "..",
        "../a",
        "a/../b",
        "a/./b",
        ".hidden",
        "a/.hidden",
        "a\\b",
        "a b",
        "a\n",
        "a/b\n",
        "a\0",
        "ä",
        "a:b",
        "a*",
        "a?",
        "~",
        "C:/a",
        "\ud800",
        "a" * 256,
        "/".join(["abcdefg"] * 65),
    ],
)
def test_other_keys_are_refused(key: str):
    with pytest.raises(ValueError, match=r"not a valid object key|surrogates"):
        keys.check_key(key)


def test_the_longest_keys():
    assert keys.check_key("a" * 255)
    assert keys.check_key("/".join(["abcdefg"] * 64))


@given(st.text())
def test_no_accepted_key_leaves_its_directory(key: str):
    try:
        keys.check_key(key)
    except ValueError:
        return
    assert not key.startswith("/")
    assert not any(part in ("", ".", "..") or part.startswith(".") for part in key.split("/"))


@given(st.dictionaries(st.text(), JSON, max_size=6), st.randoms(use_true_random=False))
def test_canonical_json_does_not_depend_on_the_order_of_keys(value: dict[str, object], random):
    items = list(value.items())
    random.shuffle(items)
    assert keys.canonical_json(dict(items)) == keys.canonical_json(value)


@given(JSON)
def test_canonical_json_round_trips(value):
    assert json.loads(keys.canonical_json(value)) == value


def test_canonical_json_has_one_spelling():
    assert (
        keys.canonical_json({"b": [1, 2.5, None, True], "a": "é"})
        == '{"a":"é","b":[1,2.5,null,true]}'.encode()
    )


def test_canonical_json_of_half_a_surrogate_pair_can_be_stored_and_read():
    answer = json.loads(r'{"reason": "no \ud83d image"}')
    assert json.loads(keys.canonical_json(answer)) == {"reason": "no ? image"}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_canonical_json_has_no_nan(value):
    with pytest.raises(ValueError, match="Out of range"):
        keys.canonical_json(value)


def test_a_model_and_its_fields_have_one_fingerprint():
    class Point(BaseModel):
        x: int
        y: tuple[int, ...]

    assert keys.fingerprint(Point(x=1, y=(2, 3))) == keys.fingerprint({"y": [2, 3], "x": 1})
    assert keys.fingerprint({"x": 1}) == hashlib.sha256(b'{"x":1}').hexdigest()


OTHER = {
    "input_sha256": "a" * 64,
    "prompt": "Add square glasses.",
    "model": "control-recompress",
    "settings_fingerprint": "e" * 64,
    "seed": None,
    "attempt": 2,
}


def test_a_new_field_of_the_identity_needs_a_decision():
    """A field in StepIdentity makes every stored outcome unfindable: add it here only on purpose."""
    assert set(StepIdentity.model_fields) == set(OTHER)


@pytest.mark.parametrize("field", OTHER)
def test_every_field_of_the_identity_changes_the_key(field: str):
    assert keys.step_key(an_identity(**{field: OTHER[field]})) != keys.step_key(an_identity())


def test_the_key_of_an_identity_never_changes():
    """What is stored under it was paid for."""
    assert keys.step_key(an_identity()) == "2bfaaf7a713602eac138686125f26a29f2d6084d19b6e554274a6cec526bb475"
    assert (
        keys.judgement_key("a" * 64, "b" * 64, "Add a wool hat")
        == "e08e5851852878ff44079508add32174fff7c6881d9e307ee0fdfef835180ead"
    )


@pytest.mark.parametrize(
    ("arguments", "seed"),
    [
        ((0, "m", "p", 1, 1), 1794464884),
        ((1, "m", "p", 1, 1), 181268715),
        ((0, "m", "p", 2, 1), 1369274128),
        ((0, "m", "p", 1, 2), 1214581589),
    ],
)
def test_seeds_never_change(arguments: tuple[int, str, str, int, int], seed: int):
    assert keys.step_seed(*arguments) == seed


@given(st.integers(), st.text(), st.text(), st.integers(1, 100), st.integers(1, 9))
def test_seeds_have_31_bits(base: int, model: str, photo: str, step: int, attempt: int):
    assert 0 <= keys.step_seed(base, model, photo, step, attempt) < 2**31


def test_a_judgement_depends_on_all_it_was_shown():
    shown = [("a", "b", "c"), ("b", "a", "c"), ("a", "b", "d"), ("ab", "", "c")]
    assert len({keys.judgement_key(*three) for three in shown}) == 4


def test_the_layout():
    sha = "ab" + "0" * 62
    assert keys.image(sha, "png") == f"images/sha256/ab/{sha}.png"
    assert keys.outcome(sha) == f"outcomes/ab/{sha}.json"
    assert keys.faces("f" * 64, sha) == f"faces/{'f' * 16}/ab/{sha}.json"
    assert keys.judgement("f" * 64, sha) == f"judgements/{'f' * 16}/ab/{sha}.json"
    assert keys.state("f" * 64, sha) == f"states/{'f' * 16}/ab/{sha}.json"
    assert keys.dataset("mine", sha) == f"datasets/mine/{sha[:16]}.json"
    assert keys.dataset_page(keys.dataset("mine", sha), "a.md") == f"datasets/mine/{sha[:16]}/a.md"
    assert keys.listing("mine", sha) == f"datasets/mine/listings/{sha[:16]}.json"
    assert keys.photo("2", sha) == f"photos/2/ab/{sha}.json"
    assert keys.thumbnail("2", sha) == f"photos/2/ab/{sha}.jpg"
    assert keys.mirror("2", sha) == f"photos/2/ab/{sha}-mirrored.json"
    assert keys.shard("r", 7) == "runs/r/shards/00007.json"
    assert keys.report("s", sha, "page.html") == f"reports/s/{sha[:16]}/page.html"


def test_a_name_that_is_no_key_is_refused_wherever_it_enters():
    for spell in (keys.run, keys.newest_run, keys.report_pointer, keys.task_result):
        with pytest.raises(ValueError, match="not a valid object key"):
            spell("../elsewhere")


def test_the_model_of_a_part_is_read_back_from_its_key():
    for model in ("m0", "gemini-2.5-flash-image"):
        assert keys.model_of(keys.steps_table("suite", "data", model, "0" * 64)) == model
