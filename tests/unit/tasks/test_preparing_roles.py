"""Roles as the source states them, near-duplicates, and choosing so many photos of each group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from builders import encoded, noise

from adapters.datasets.source import SourcePhoto
from adapters.imaging.decode import decode_rgb
from domain.errors import DefinitionError
from domain.photos import Dataset, LeftOut, Role
from metrics.photo_selection import choose_per_group

Prepare = Callable[..., Dataset]


class Photos:
    """Photos of `person/name`, as a source gives them."""

    def __init__(self, *photos: SourcePhoto) -> None:
        self._photos = photos

    def __len__(self) -> int:
        return len(self._photos)

    def read(self) -> Iterator[SourcePhoto | LeftOut]:
        yield from self._photos


def photo(name: str, data: bytes, role: Role | None = None, **groups: str) -> SourcePhoto:
    return SourcePhoto(name.replace("/", "-"), name.partition("/")[0], data, name, "CC0", groups, role)


@pytest.fixture
def jpegs(faces: list[SourcePhoto]) -> list[bytes]:
    """The same seven people, saved again."""
    return [encoded(decode_rgb(face.data), "JPEG", quality=88) for face in faces]


@pytest.fixture
def seen(faces: list[SourcePhoto]) -> list[bytes]:
    """Seven people."""
    return [face.data for face in faces]


def roles(found: Dataset) -> dict[str, str]:
    return {item.id: item.role for item in found.photos}


def reasons(found: Dataset) -> dict[str, str]:
    return {item.source: item.reason for item in found.left_out}


class TestRoles:
    def test_as_the_source_states_them(self, run_prepare: Prepare, seen: list[bytes], jpegs: list[bytes]):
        source = Photos(
            photo("a/1", seen[0], "reference"), photo("a/2", jpegs[0], "base"), photo("b/1", seen[1], "base"),
            photo("b/2", jpegs[1], "base"), photo("b/3", seen[2], "reference"),
        )  # fmt: skip
        found = run_prepare(source)
        assert roles(found) == {"a-2": "base", "a-1": "reference"} | {
            "b-1": "base", "b-2": "base", "b-3": "reference",
        }  # fmt: skip
        assert found.left_out == ()

    def test_a_base_photo_whose_references_are_all_unusable(self, run_prepare: Prepare, seen: list[bytes]):
        source = Photos(
            photo("a/1", seen[0], "base"), photo("a/2", b"", "reference"), photo("a/3", seen[1], "base"),
            photo("b/1", seen[2]), photo("c/1", seen[3], "reference"),
        )  # fmt: skip
        found = run_prepare(source)
        assert roles(found) == {"b-1": "base", "b-1-mirrored": "reference", "c-1": "reference"}
        assert reasons(found) == {"a/1": "no_reference", "a/2": "empty", "a/3": "no_reference"}
        assert {item.subject for item in found.left_out} == {"a"}

    def test_photos_without_a_role_beside_a_base_photo(
        self, run_prepare: Prepare, seen: list[bytes], jpegs: list[bytes]
    ):
        found = run_prepare(Photos(photo("a/1", seen[0]), photo("a/2", jpegs[0], "base")))
        assert roles(found) == {"a-2": "base", "a-1": "reference"}

    def test_a_person_with_one_photo_where_mirror_images_are_not_wanted(
        self, run_prepare: Prepare, seen: list[bytes], jpegs: list[bytes]
    ):
        source = Photos(photo("a/1", seen[0]), photo("b/1", seen[1]), photo("b/2", jpegs[1]))
        found = run_prepare(source, mirror_alone=False)
        assert roles(found) == {"b-1": "base", "b-2": "reference"}
        assert reasons(found) == {"a/1": "no_reference"}

    def test_the_same_bytes_as_two_people(self, run_prepare: Prepare, seen: list[bytes]):
        found = run_prepare(Photos(photo("a/1", seen[0]), photo("b/1", seen[0])))
        [left] = found.left_out
        assert (left.source, left.reason, left.detail) == ("b/1", "duplicate", "same bytes as a/1")


class TestNearDuplicates:
    def test_they_are_flagged_with_their_cosine_or_hash(
        self, run_prepare: Prepare, seen: list[bytes], jpegs: list[bytes]
    ):
        source = Photos(photo("a/1", seen[0]), photo("a/2", jpegs[0]), photo("a/3", seen[1]))
        found = run_prepare(source)
        base = found.by_id["a-1"]
        assert base.near_duplicates == ("a-2",)
        assert base.fss0 is not None
        assert base.fss0 > 0.95
        assert (
            base.perceptual_hash == found.by_id["a-2"].perceptual_hash != found.by_id["a-3"].perceptual_hash
        )
        assert found.by_id["a-2"].near_duplicates == ()

    def test_a_mirror_image_always_is_one(self, run_prepare: Prepare, seen: list[bytes]):
        found = run_prepare(Photos(*(photo(f"{n}/1", data) for n, data in enumerate(seen))))
        fss0 = [base.fss0 for base in found.base if base.fss0 is not None]
        assert len(fss0) == 7
        assert min(fss0) < 0.95
        assert all(base.near_duplicates == (f"{base.id}-mirrored",) for base in found.base)

    def test_they_can_be_left_out(self, run_prepare: Prepare, seen: list[bytes], jpegs: list[bytes]):
        source = Photos(
            photo("a/1", seen[0]), photo("a/2", jpegs[0]), photo("a/3", seen[1]),
            photo("b/1", seen[2]), photo("b/2", jpegs[2]), photo("c/1", seen[3]),
        )  # fmt: skip
        found = run_prepare(source, exclude_near_duplicates=True)
        assert roles(found) == {"a-1": "base", "a-3": "reference"}
        assert found.by_id["a-1"].fss0 is not None
        assert found.by_id["a-1"].fss0 < 0.35  # of another person
        assert found.by_id["a-1"].near_duplicates == ()
        assert reasons(found) == {
            "a/2": "near_duplicate", "b/2": "near_duplicate", "b/1": "no_reference", "c/1": "no_reference",
        }  # fmt: skip
        assert "may be a copy of a/1" in {item.detail for item in found.left_out}


class TestChoosing:
    def source(self, seen: list[bytes], leave: int = 0) -> Photos:
        skins = ("light", "light", "light", "light", "dark", "dark")
        stated = [photo(f"{n}/1", seen[n], gender="female", skin=skins[n]) for n in range(6)]
        return Photos(*stated[leave:], photo("6/1", seen[6], gender="female"))

    def test_so_many_of_each_group_and_the_rest_counted(self, run_prepare: Prepare, seen: list[bytes]):
        per_group = {"columns": ["gender", "skin"], "n": 2, "seed": 5}
        found = run_prepare(self.source(seen), per_group=per_group)
        assert [base.groups["skin"] for base in found.base] == ["light", "light", "dark", "dark"]
        assert {item.subject for item in found.photos} == {base.subject for base in found.base}
        made = found.preparation
        assert made is not None
        assert made.not_chosen == {"female-light": 2}
        assert made.per_group is not None
        assert made.per_group.model_dump() == {"columns": ("gender", "skin"), "n": 2, "seed": 5}
        assert [(item.source, item.reason, item.detail) for item in found.left_out] == [
            ("6/1", "no_group", "skin not stated, or in no group")
        ]

    def test_it_is_the_choice_of_the_hashes(self, run_prepare: Prepare, seen: list[bytes]):
        whole = run_prepare(self.source(seen))
        groups = {base.image_sha256: base.groups["skin"] for base in whole.base if "skin" in base.groups}
        for seed in range(4):
            found = run_prepare(self.source(seen), per_group={"columns": ["skin"], "n": 1, "seed": seed})
            assert {base.image_sha256 for base in found.base} == choose_per_group(groups, 1, seed)

    def test_without_columns_all_photos_are_one_group(self, run_prepare: Prepare, seen: list[bytes]):
        found = run_prepare(self.source(seen), per_group={"n": 3})
        assert len(found.base) == 3
        assert found.preparation is not None
        assert found.preparation.not_chosen == {"all": 4}

    @pytest.mark.parametrize("choice", [{"columns": ["skin"]}, {"n": 0}, {"n": 1, "of": "skin"}])
    def test_a_choice_that_makes_no_sense(self, run_prepare: Prepare, seen: list[bytes], choice: Any):
        with pytest.raises(ValueError, match="per_group"):
            run_prepare(self.source(seen), per_group=choice)

    def test_nobody_in_a_group(self, run_prepare: Prepare, seen: list[bytes]):
        said = r"no photo is in a group of 'age' \(field 'dataset.per_group.columns'\); allowed: gender, skin"
        with pytest.raises(DefinitionError, match=said):
            run_prepare(self.source(seen), per_group={"columns": ["age"], "n": 3})
        with pytest.raises(DefinitionError, match="7 × no_group"):
            run_prepare(Photos(*self.source(seen)._photos[:6], photo("7/1", seen[6], age="old")),
                        per_group={"columns": ["age", "gender"], "n": 3})  # fmt: skip


def test_an_animation_counts_by_its_first_frame_and_says_so(run_prepare: Prepare, seen: list[bytes]):
    from PIL import Image

    frames = [Image.fromarray(decode_rgb(seen[0])), Image.fromarray(noise(384, 384))]
    frames[1] = frames[1].resize(frames[0].size)
    moving = encoded(frames[0], "WEBP", save_all=True, append_images=frames[1:], duration=50, quality=90)
    found = run_prepare(Photos(photo("a/1", moving), photo("a/2", seen[0])))
    assert found.by_id["a-1"].notes == ("first_of_several",)
    assert found.by_id["a-2"].notes == ()
    assert found.by_id["a-1"].near_duplicates == ("a-2",)
