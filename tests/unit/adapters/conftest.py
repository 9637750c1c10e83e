"""Real faces and a real small face pack, shared by the tests that draw on faces and look at them."""

from __future__ import annotations

import io
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import cv2
import insightface
import numpy as np
import pytest
import skimage.data
from PIL import Image

from adapters.editors.procedural import ProceduralEditor, ProceduralSettings
from adapters.imaging.decode import decode_rgb
from adapters.imaging.face_models import FaceModels
from domain.edits import EditOutcome, EditRequest
from domain.loading import load
from domain.taxonomy import Taxonomy

Edit = Callable[..., EditOutcome]


def png(rgb: np.ndarray) -> bytes:
    """An image as PNG bytes."""
    out = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(rgb)).save(out, "PNG", compress_level=1)
    return out.getvalue()


def fitted(rgb: np.ndarray, side: int) -> np.ndarray:
    """The image with its shorter side at least `side` pixels."""
    ratio = max(1.0, side / min(rgb.shape[:2]))
    size = round(rgb.shape[1] * ratio), round(rgb.shape[0] * ratio)
    return cv2.resize(rgb, size, interpolation=cv2.INTER_CUBIC)


@pytest.fixture(scope="session")
def taxonomy() -> Taxonomy:
    """The taxonomy of the suite."""
    return load(Taxonomy, "face-edit-attributes")


@pytest.fixture(scope="session")
def face_models(models: FaceModels) -> FaceModels:
    """Detector, landmarks and recognition of the small real pack."""
    return models


@pytest.fixture(scope="session")
def astronaut() -> bytes:
    """The head of a woman, 384 pixels square."""
    return png(fitted(skimage.data.astronaut()[0:300, 80:380], 384))


@pytest.fixture(scope="session")
def small_face() -> bytes:
    """The same head, 160 pixels square, for tests that need many edits."""
    head = skimage.data.astronaut()[0:300, 80:380]
    return png(cv2.resize(head, (160, 160), interpolation=cv2.INTER_AREA))


@pytest.fixture(scope="session")
def group_faces(face_models: FaceModels) -> list[bytes]:
    """The six people of the photo that insightface ships, each cut out with a margin."""
    path = Path(insightface.__file__).parent / "data" / "images" / "t1.jpg"
    photo = decode_rgb(path.read_bytes())
    cut: list[bytes] = []
    for face in face_models.find(photo):
        x0, y0, x1, y1 = (int(value) for value in face.box)
        margin = max(x1 - x0, y1 - y0)
        part = photo[max(0, y0 - margin) : y1 + margin, max(0, x0 - margin) : x1 + margin]
        cut.append(png(fitted(part, 384)))
    return cut


@pytest.fixture(scope="session")
def portraits(real_photos: Path) -> list[bytes]:
    """Neutral portraits from a folder of photos that is not part of the repository, 512 pixels square."""
    found = sorted(real_photos.glob("london-*/01.jpg"))
    if not found:
        pytest.skip(f"no portraits london-*/01.jpg in {real_photos}")
    small = [cv2.resize(decode_rgb(p.read_bytes()), (512, 512), interpolation=cv2.INTER_AREA) for p in found]
    return [png(rgb) for rgb in small]


@pytest.fixture(scope="session")
def edit(taxonomy: Taxonomy, face_models: FaceModels) -> Edit:
    """Edit an image with an editor that, unless told otherwise, makes exactly what is asked."""
    editors: dict[ProceduralSettings, ProceduralEditor] = {}

    def run(
        image: bytes, prompt: str, seed: int | None = 0, attempt: int = 1, **settings: float
    ) -> EditOutcome:
        chosen = ProceduralSettings(**{"miss_rate": 0, "overedit_rate": 0, "drift": 0.01, **settings})
        editor = editors.setdefault(chosen, ProceduralEditor(chosen, taxonomy, face_models))
        digest = sha256(image).hexdigest()
        return editor.collect(editor.submit(EditRequest("procedural", image, digest, prompt, seed, attempt)))

    return run
