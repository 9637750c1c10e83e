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
