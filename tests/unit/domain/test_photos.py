from __future__ import annotations

import pytest
from builders import a_photo
from pydantic import ValidationError

from domain.photos import Dataset


def test_base_and_references_are_apart():
    photos = (
        a_photo(),
        a_photo(id="anna-2", role="reference"),
        a_photo(id="bea-1", subject="bea"),
        a_photo(id="bea-2", subject="bea", role="reference"),
    )
    found = Dataset(id="d", embedder_fingerprint="f", photos=photos)
    assert [photo.id for photo in found.base] == ["anna-1", "bea-1"]
    assert [photo.id for photo in found.references("anna")] == ["anna-2"]
    assert found.references("nobody") == ()
    assert found.by_id["bea-2"].subject == "bea"


def test_a_photo_named_twice_is_refused():
    with pytest.raises(ValidationError, match="photo named twice: anna-1"):
        Dataset(id="d", embedder_fingerprint="f", photos=(a_photo(), a_photo()))


@pytest.mark.parametrize(
    "fields",
    [
        {"id": "Anna"},
        {"id": "-a"},
        {"id": "a/b"},
        {"id": ""},
        {"image_sha256": "ab"},
        {"width": 0},
        {"role": "both"},
    ],
)
def test_photos_that_are_refused(fields: dict[str, object]):
    with pytest.raises(ValidationError):
        a_photo(**fields)


def test_a_manifest_of_before_can_still_be_read():
    """Without FSS₀, near-duplicates, hashes, notes, the person of what was left out, the choices made."""
    old = (
        '{"id":"d","embedder_fingerprint":"f","left_out":[{"source":"x","reason":"no_face","detail":"0"}],'
        '"photos":[{"id":"anna-1","subject":"anna","role":"base","image_sha256":"' + "0" * 64 + '",'
        '"extension":"png","width":8,"height":9,"box":[0,0,1,1],"licence":"CC0","source":"a.png",'
        '"derived_from":null,"groups":{"gender":"female"}}]}'
    )
    found = Dataset.model_validate_json(old)
    [photo] = found.base
    assert (photo.fss0, photo.near_duplicates, photo.perceptual_hash, photo.notes) == (None, (), None, ())
    assert found.preparation is None
    assert found.left_out[0].subject is None


def test_many_photos_are_no_burden():
    """Names are counted once, not once for each photo."""
    photos = tuple(a_photo(id=f"p{n}", subject=f"s{n // 2}", role="reference") for n in range(20_000))
    found = Dataset(id="d", embedder_fingerprint="f", photos=photos)
    assert sum(len(found.references(f"s{n}")) for n in range(10_000)) == 20_000
