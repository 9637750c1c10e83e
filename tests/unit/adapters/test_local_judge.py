"""The local judge recognises what the procedural editor draws, and little else."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from PIL import Image as PillowImage

from adapters.imaging.face_models import FaceModels, FoundFace
from adapters.imaging.frame import Image
from adapters.imaging.memory import strip_memory
from adapters.judges.local import VERSION, LocalJudge, LocalTracker
from adapters.judges.local_steps import LocalStepChecker
from domain.edits import Edited, EditOutcome, NoImage
from domain.judging import Scores, State, parse_scores, parse_state
from domain.taxonomy import Taxonomy

Edit = Callable[..., EditOutcome]
FLOORS = {
    "hair color": 0.9, "hair type": 0.85, "hair style": 0.6, "mustache": 0.85, "beard": 0.85,
    "glasses": 0.85, "hats": 0.85, "head position": 0.85,
}  # fmt: skip
"""Least share of drawn categories that must be recognised."""


class _CountedFaces:
    def __init__(self, faces: FaceModels) -> None:
        self.faces, self.calls = faces, 0

    def find(self, pixels: Image, /) -> list[FoundFace]:
        self.calls += 1
        return self.faces.find(pixels)


@pytest.fixture(scope="module")
def tracker(taxonomy: Taxonomy, face_models: FaceModels) -> LocalTracker:
    return LocalTracker(taxonomy, face_models)


@pytest.fixture(scope="module")
def judge(taxonomy: Taxonomy, face_models: FaceModels) -> LocalJudge:
    return LocalJudge(taxonomy, LocalTracker(taxonomy, face_models), LocalStepChecker(face_models))


def state(tracker: LocalTracker, image: bytes, taxonomy: Taxonomy) -> State:
    return parse_state(tracker.track(image).raw_text, taxonomy)


def scores(judge: LocalJudge, before: bytes, after: bytes, prompt: str) -> Scores:
    return parse_scores(judge.score(before, after, prompt).raw_text)


def drawn(outcome: EditOutcome) -> bytes:
    assert isinstance(outcome, Edited), outcome
    return outcome.image


def recompressed(image: bytes, quality: int = 60) -> bytes:
    out = io.BytesIO()
    PillowImage.open(io.BytesIO(image)).convert("RGB").save(out, "JPEG", quality=quality)
    return out.getvalue()


def recognised(
    edit: Edit, tracker: LocalTracker, taxonomy: Taxonomy, photos: Sequence[bytes]
) -> dict[str, tuple[int, int]]:
    """For each sub-axis, how many drawn categories were recognised, and how many were drawn."""
    right, drawn_count = Counter[str](), Counter[str]()
    for photo in photos:
        for attribute in {a.category: a for a in taxonomy.attributes.values()}.values():
            outcome = edit(photo, f"Add {attribute.name}.")
            if isinstance(outcome, NoImage):
                continue
            seen = state(tracker, drawn(outcome), taxonomy)[attribute.sub_axis]
            drawn_count[attribute.sub_axis] += 1
            right[attribute.sub_axis] += seen == (attribute.category,)
    return {name: (right[name], drawn_count[name]) for name in taxonomy.sub_axes}


def check_floors(found: dict[str, tuple[int, int]], record: Callable[[str, object], None]) -> None:
    for name, (right, count) in found.items():
        record(name, f"{right}/{count}")
    low = {
        name: f"{right}/{count}"
        for name, (right, count) in found.items()
        if count == 0 or count - right > max(1, (1 - FLOORS[name]) * count)  # one slip is no rate
    }
    assert not low, f"recognised too little: {low}; all: {found}"


def test_recognises_what_is_drawn(
    edit: Edit,
    tracker: LocalTracker,
    taxonomy: Taxonomy,
    astronaut: bytes,
    group_faces: list[bytes],
    record_property: Callable[[str, object], None],
) -> None:
    # Of the six people of the group the one that looks into the camera; the others look down or aside.
    check_floors(recognised(edit, tracker, taxonomy, [astronaut, group_faces[1]]), record_property)


def test_recognises_what_is_drawn_on_portraits(
    edit: Edit,
    tracker: LocalTracker,
    taxonomy: Taxonomy,
    portraits: list[bytes],
    record_property: Callable[[str, object], None],
) -> None:
    check_floors(recognised(edit, tracker, taxonomy, portraits[4::9]), record_property)


def test_untouched_portraits_show_next_to_nothing_and_recompression_changes_nothing(
    tracker: LocalTracker, taxonomy: Taxonomy, portraits: list[bytes]
) -> None:
    claimed, flipped = 0, 0
    portraits = portraits[::2]
    for photo in portraits:
        seen = state(tracker, photo, taxonomy)
        claimed += sum(bool(seen[name]) for name in ("glasses", "hats", "mustache"))
        again = state(tracker, recompressed(photo), taxonomy)
        flipped += sum(again[name] != seen[name] for name in taxonomy.sub_axes)
    assert claimed == 0
    assert flipped <= 0.01 * len(portraits) * len(taxonomy.sub_axes)


def test_the_memory_of_the_editor_is_not_read(
    edit: Edit, tracker: LocalTracker, judge: LocalJudge, taxonomy: Taxonomy, astronaut: bytes
) -> None:
    image = drawn(edit(drawn(edit(astronaut, "Add oval sunglasses")), "Add a beret hat"))
    bare = strip_memory(image)
    assert bare != image
    assert tracker.track(bare) == tracker.track(image)
    prompt = "Add a beret hat"
    assert judge.score(astronaut, bare, prompt) == judge.score(astronaut, image, prompt)


def test_states_and_scores_are_deterministic(
    edit: Edit, taxonomy: Taxonomy, face_models: FaceModels, astronaut: bytes
) -> None:
    image = drawn(edit(astronaut, "Add a thick full beard"))
    one, two = LocalTracker(taxonomy, face_models), LocalTracker(taxonomy, face_models)
    assert one.track(image) == two.track(image)
    assert one.track(image).served_version == VERSION


def test_without_a_face_everything_is_unknown(tracker: LocalTracker, taxonomy: Taxonomy) -> None:
    grey = io.BytesIO()
    PillowImage.new("RGB", (200, 200), "grey").save(grey, "PNG")
    assert state(tracker, grey.getvalue(), taxonomy) == dict.fromkeys(taxonomy.sub_axes)


@pytest.mark.parametrize(
    "prompt", ["Add round glasses", "Change the hair color to lavender hair.", "nonsense"]
)
def test_an_unchanged_image_is_no_success_and_no_overediting(
    judge: LocalJudge, astronaut: bytes, prompt: str
) -> None:
    assert scores(judge, astronaut, astronaut, prompt) == Scores(0, 10)
    assert scores(judge, astronaut, recompressed(astronaut), prompt) == Scores(0, 10)


def test_a_made_edit_succeeds_and_an_unasked_one_costs(
    edit: Edit, judge: LocalJudge, astronaut: bytes
) -> None:
    glasses = drawn(edit(astronaut, "Add round glasses"))
    made = scores(judge, astronaut, glasses, "Add round glasses")
    assert made.success == 10
    assert made.overediting > 9
    wrong = scores(judge, astronaut, glasses, "Add square glasses")
    assert wrong.success == 4
    both = drawn(edit(glasses, "Add a thick walrus mustache"))
    more = scores(judge, astronaut, both, "Add round glasses")
    assert more.success == 10
    assert more.overediting <= 7
    assert scores(judge, astronaut, glasses, "Add a bucket hat").success < 3


def test_keep_succeeds_only_while_it_is_there(edit: Edit, judge: LocalJudge, astronaut: bytes) -> None:
    glasses = drawn(edit(astronaut, "Add circular glasses"))
    assert scores(judge, glasses, glasses, "Keep their circular glasses.") == Scores(10, 10)
    assert scores(judge, glasses, astronaut, "Keep their circular glasses.").success == 0


def test_a_hat_that_hides_the_hair_is_not_overediting(
    edit: Edit, judge: LocalJudge, astronaut: bytes
) -> None:
    dyed = drawn(edit(astronaut, "Add emerald green hair"))
    hatted = drawn(edit(dyed, "Add a beanie hat"))
    assert scores(judge, dyed, hatted, "Add a beanie hat").overediting > 8


def test_an_image_is_looked_at_once(taxonomy: Taxonomy, face_models: FaceModels, astronaut: bytes) -> None:
    faces = _CountedFaces(face_models)
    judge = LocalJudge(taxonomy, LocalTracker(taxonomy, faces), LocalStepChecker(faces))
    for _ in range(3):
        judge.score(astronaut, recompressed(astronaut), "Add round glasses")
    assert faces.calls == 2
