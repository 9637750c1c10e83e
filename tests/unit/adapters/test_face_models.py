from __future__ import annotations

import numpy as np
import pytest
from builders import noise
from insightface.app import FaceAnalysis
from insightface.utils import face_align
from PIL import Image

from adapters.datasets.source import SourcePhoto
from adapters.embedders.insightface import identity_of
from adapters.imaging.decode import decode_rgb
from adapters.imaging.face_models import LADDER, FaceModels, align
from adapters.imaging.packs import PackSettings, assemble
from domain.suites import FacePack

ignores_deprecation = pytest.mark.filterwarnings(
    "ignore::FutureWarning:insightface", "ignore:.*estimate.*:FutureWarning"
)


@pytest.fixture(scope="module")
def pixels(faces: list[SourcePhoto]) -> list[np.ndarray]:
    return [decode_rgb(photo.data) for photo in faces]


@pytest.fixture(scope="module")
def theirs(face_pack: FacePack, pack_settings: PackSettings) -> FaceAnalysis:
    """insightface as its users call it, on the same files."""
    app = FaceAnalysis(name=str(assemble(face_pack, pack_settings)), providers=["CPUExecutionProvider"])
    app.prepare(ctx_id=-1, det_size=(320, 320))
    return app


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def embedding(models: FaceModels, image: np.ndarray) -> np.ndarray:
    return models.embed([align(image, models.detect(image).faces[0])])[0]


@ignores_deprecation
def test_our_reading_is_insightfaces_own_on_bgr(
    models: FaceModels, theirs: FaceAnalysis, pixels: list[np.ndarray]
):
    for image in pixels:
        [face] = theirs.get(np.ascontiguousarray(image[:, :, ::-1]))
        found = models.detect(image).faces[0]
        assert np.allclose(found.box, face.bbox, atol=0.01)
        assert np.allclose(found.keypoints, face.kps, atol=0.01)
        assert found.score == pytest.approx(face.det_score, abs=1e-6)
        assert cosine(embedding(models, image), face.embedding) > 0.9999


@ignores_deprecation
def test_swapped_channels_would_be_noticed(
    models: FaceModels, theirs: FaceAnalysis, pixels: list[np.ndarray]
):
    """Swapping red and blue keeps cosines near 0.9, so only this comparison can tell."""
    for image in pixels:
        swapped = theirs.get(image)
        assert swapped
        assert cosine(embedding(models, image), swapped[0].embedding) < 0.98


@ignores_deprecation
def test_align_gives_the_crop_that_insightface_gives(models: FaceModels, pixels: list[np.ndarray]):
    for image in pixels:
        face = models.detect(image).faces[0]
        assert np.array_equal(align(image, face), face_align.norm_crop(image, face.keypoints))
        assert align(image, face).shape == (112, 112, 3)


def test_align_of_a_copy_leaves_the_template_of_insightface_alone(
    models: FaceModels, pixels: list[np.ndarray]
):
    before = face_align.arcface_dst.copy()
    embedding(models, pixels[0])
    assert np.array_equal(face_align.arcface_dst, before)


@pytest.mark.parametrize("margin", [0.1, 0.0, -0.1])
def test_a_face_that_fills_the_frame_is_found(models: FaceModels, pixels: list[np.ndarray], margin: float):
    for image in pixels:
        x1, y1, x2, y2 = models.detect(image).faces[0].box
        dx, dy = margin * (x2 - x1), margin * (y2 - y1)
        cut = image[max(0, round(y1 - dy)) : round(y2 + dy), max(0, round(x1 - dx)) : round(x2 + dx)]
        found = models.detect(np.ascontiguousarray(np.kron(cut, np.ones((4, 4, 1), np.uint8))))
        assert len(found.faces) == 1


def test_a_small_face_is_found_on_a_later_rung(models: FaceModels, pixels: list[np.ndarray]):
    small = np.array(Image.fromarray(pixels[2]).resize((60, 83)))
    scene = np.full((1200, 1200, 3), 128, np.uint8)
    scene[100:183, 200:260] = small
    found = models.detect(scene)
    assert found.rung == "640"
    [face] = found.faces
    assert 200 <= face.box[0] < face.box[2] <= 260
    assert 100 <= face.box[1] < face.box[3] <= 183


def test_a_padded_rung_gives_boxes_in_the_image_itself(
    models: FaceModels, pixels: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
):
    plain = models.detect(pixels[0]).faces[0]
    monkeypatch.setattr("adapters.imaging.face_models.LADDER", ((320, True),))
    found = models.detect(pixels[0])
    assert found.rung == "320+pad"
    height = plain.box[3] - plain.box[1]
    assert np.abs(found.faces[0].box - plain.box).max() < 0.15 * height
    assert np.abs(found.faces[0].keypoints - plain.keypoints).max() < 0.1 * height


def test_the_ladder_is_part_of_the_identity(face_pack: FacePack):
    assert identity_of(face_pack).ladder == ("320", "160", "640", "320+pad")
    assert len(LADDER) == 4


def test_faces_come_largest_first(models: FaceModels, pixels: list[np.ndarray]):
    half = np.array(Image.fromarray(pixels[3]).resize((192, 262)))
    scene = np.full((540, 600, 3), 90, np.uint8)
    scene[:262, :192] = half
    scene[:524, 200:584] = pixels[3]
    areas = [(f.box[2] - f.box[0]) * (f.box[3] - f.box[1]) for f in models.detect(scene).faces]
    assert len(areas) == 2
    assert areas[0] > 3 * areas[1]


@pytest.mark.parametrize(
    ("height", "width"),
    [(1, 1), (1, 5000), (5000, 1), (15, 400), (16, 16), (16, 512), (512, 17), (33, 1055), (641, 479)],
)
def test_no_size_crashes_the_detector(models: FaceModels, height: int, width: int):
    for image in (noise(width, height), np.full((height, width, 3), 255, np.uint8)):
        found = models.detect(image)
        assert (found.faces, found.rung) == ((), None)


def test_landmarks_lie_in_the_face(models: FaceModels, pixels: list[np.ndarray]):
    [face] = models.find(pixels[-1])
    assert face.landmarks is not None
    assert face.landmarks.shape == (106, 2)
    x1, y1, x2, y2 = face.box
    middle = face.landmarks.mean(0)
    assert x1 < middle[0] < x2
    assert y1 < middle[1] < y2


def test_nothing_to_embed(models: FaceModels):
    assert models.embed([]).shape[0] == 0


def test_embeddings_have_unit_length(models: FaceModels, pixels: list[np.ndarray]):
    vectors = models.embed([align(image, models.detect(image).faces[0]) for image in pixels])
    assert vectors.shape == (7, 512)
    assert vectors.dtype == np.float32
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-6


def test_what_it_runs_on(models: FaceModels):
    assert models.providers() == ("CPUExecutionProvider",)
