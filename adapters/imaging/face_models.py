"""Face models of one insightface pack: detection, 106 landmarks, recognition.

A pack is a directory of ONNX files. Its files are checked before insightface sees them, because
insightface takes whatever lies in the directory: an empty one ends in a bare AssertionError and a
detector alone loads and gives no embeddings.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import cv2
import numpy as np
import numpy.typing as npt
import onnxruntime  # pyright: ignore[reportMissingTypeStubs]
from insightface.app import FaceAnalysis  # pyright: ignore[reportMissingTypeStubs]
from insightface.app.common import Face  # pyright: ignore[reportMissingTypeStubs]
from insightface.utils import face_align  # pyright: ignore[reportMissingTypeStubs]
from skimage.transform import SimilarityTransform

from adapters.imaging.decode import Pixels
from domain.errors import DefinitionError, WeightsError

Floats = npt.NDArray[np.float32]
Module = Literal["detection", "recognition", "landmark_2d_106"]

LADDER: tuple[tuple[int, bool], ...] = ((320, False), (160, False), (640, False), (320, True))
"""Detector sizes in the order tried, and whether the image is padded by half its size on each side.

320 first: at 640 SCRFD misses faces that fill the frame. The same face found on another rung has a
slightly different embedding, so the ladder is fixed and the rung is recorded.
"""
MIN_SCORE = 0.5
MIN_SIDE_PX = 16
"""Smaller images, and slivers, hold no face that could be measured and crash the detector."""
PADDED_PIXELS = 8_000_000
"""Before it is padded, a larger image is reduced by a whole factor: padding takes four times its memory."""
CPU, GPU_BATCH, CPU_BATCH = "CPUExecutionProvider", 32, 4
"""Crops in one call of a recognition model: on a CPU a batch gains nothing and takes memory."""
logger = logging.getLogger("facedrift.faces")


@dataclass(frozen=True)
class FoundFace:
    """One face in pixel coordinates of the upright image."""

    box: Floats
    """x1, y1, x2, y2."""
    score: float
    keypoints: Floats
    """(5, 2): eyes, nose, mouth corners, viewer's left first."""
    landmarks: Floats | None = None
    """(106, 2) where the landmark model was asked for."""


@dataclass(frozen=True)
class Detection:
    """All faces of one image, largest first, and the ladder rung that found them."""

    faces: tuple[FoundFace, ...]
    rung: str | None
    """Such as `320` or `320+pad`; None when no rung found a face."""


class FaceModels:
    """Detector, landmarks and recognition behind one thread-safe object."""

    def __init__(self, app: Any, batch: int | None = None) -> None:
        self._app = app
        self._detector = app.models["detection"]
        self._recognizer = app.models.get("recognition")
        self._landmarker = app.models.get("landmark_2d_106")
        self._batch = batch or (CPU_BATCH if self.providers()[:1] == (CPU,) else GPU_BATCH)

    def detect(self, pixels: Pixels) -> Detection:
        """Find the faces of an image on the first ladder rung that finds any."""
        if min(pixels.shape[:2]) * 32 < max(pixels.shape[:2]) or min(pixels.shape[:2]) < MIN_SIDE_PX:
            return Detection((), None)
        bgr = _bgr(pixels)
        for size, padded in LADDER:
            faces = self._padded(bgr, size) if padded else self._found(bgr, size)
            if faces:
                return Detection(faces, f"{size}+pad" if padded else str(size))
        return Detection((), None)

    def find(self, pixels: Pixels) -> list[FoundFace]:
        """Faces with their 106 landmarks, largest first."""
        found: list[FoundFace] = []
        for face in self.detect(pixels).faces:
            record = _insight_face(face)
            self._landmarker.get(_bgr(pixels), record)
            landmarks = np.asarray(record["landmark_2d_106"], np.float32)
            found.append(FoundFace(face.box, face.score, face.keypoints, landmarks))
        return found

    def embed(self, crops: Sequence[Pixels]) -> Floats:
        """Unit embeddings (n, d) of aligned 112 × 112 RGB crops, in one batch where the model allows it."""
        if not crops:
            return np.zeros((0, 0), np.float32)
        fixed = self._recognizer.input_shape[0]
        size = fixed if isinstance(fixed, int) and fixed > 0 else self._batch
        raw = np.concatenate(
            [
                self._features(crops[at : at + size], size if size == fixed else 0)
                for at in range(0, len(crops), size)
            ]
        )
        return raw / np.linalg.norm(raw, axis=1, keepdims=True)

    def _features(self, crops: Sequence[Pixels], fill_up_to: int) -> Floats:
        images = [_bgr(crop) for crop in crops]
        images += [np.zeros_like(images[0])] * (fill_up_to - len(images))  # some models take one size only
        return np.asarray(self._recognizer.get_feat(images), np.float32)[: len(crops)]

    def providers(self) -> tuple[str, ...]:
        """The ONNX Runtime providers that the sessions really ended up with."""
        model = self._recognizer or self._detector
        return tuple(model.session.get_providers())

    def _padded(self, bgr: Pixels, size: int) -> tuple[FoundFace, ...]:
        """With a black border of half the image on each side: for faces that fill the frame."""
        factor = math.ceil(math.sqrt(bgr.shape[0] * bgr.shape[1] / PADDED_PIXELS))
        if factor > 1:
            small = (bgr.shape[1] // factor, bgr.shape[0] // factor)
            bgr = cast(Pixels, cv2.resize(bgr, small, interpolation=cv2.INTER_AREA))
        down, right = bgr.shape[0] // 2, bgr.shape[1] // 2
        framed = cast(Pixels, cv2.copyMakeBorder(bgr, down, down, right, right, cv2.BORDER_CONSTANT))
        shift = np.array([right, down], np.float32)
        return tuple(
            FoundFace((face.box - np.tile(shift, 2)) * factor, face.score, (face.keypoints - shift) * factor)
            for face in self._found(framed, size)
        )

    def _found(self, bgr: Pixels, size: int) -> tuple[FoundFace, ...]:
        boxes, keypoints = self._detector.detect(bgr, input_size=(size, size))
        faces = [
            FoundFace(np.asarray(box[:4], np.float32), float(box[4]), np.asarray(points, np.float32))
            for box, points in zip(boxes, keypoints, strict=True)
        ]
        return tuple(sorted(faces, key=_area, reverse=True))


def align(pixels: Pixels, face: FoundFace) -> Pixels:
    """The 112 × 112 RGB crop that recognition models of this family expect.

    The same numbers as insightface's `norm_crop`, which warns at each call of a deprecated function.
    """
    matrix = cast(Any, SimilarityTransform).from_estimate(face.keypoints, face_align.arcface_dst).params[:2]
    return cast(Pixels, cv2.warpAffine(pixels, matrix, (112, 112), borderValue=0.0))


def load_face_models(
    pack: Path,
    *,
    expected: dict[str, str],
    modules: Sequence[Module],
    providers: Sequence[str] = (CPU,),
    threads: int = 1,
    batch: int | None = None,
) -> FaceModels:
    """Load a pack after checking that each expected file is there with its sha256.

    Args:
        pack: The directory.
        expected: Its files and their sha256.
        modules: What is wanted of it.
        providers: ONNX Runtime's providers in order of preference.
        threads: Inside one call of a model; more images at once gain more than more threads.
        batch: Crops in one call of the recognition model; None for what suits the provider.

    Raises:
        WeightsError: a file is missing or is not the expected one; the message says what to install.
        DefinitionError: a provider is not there and the CPU was not allowed in its stead.
    """
    check_pack(pack, expected)
    usable = usable_providers(providers, cast(Any, onnxruntime).get_available_providers())
    options: Any = cast(Any, onnxruntime).SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    app: Any = cast(Any, FaceAnalysis)(
        name=str(pack.resolve()),
        allowed_modules=list(modules),
        providers=usable,
        sess_options=options,
    )
    app.prepare(ctx_id=-1 if usable == [CPU] else 0, det_thresh=MIN_SCORE, det_size=(320, 320))
    missing = sorted(set(modules) - set(app.models))
    if missing:
        raise WeightsError(f"the pack {pack} has no model for {', '.join(missing)}")
    for model in app.models.values():  # a provider that does not start is dropped with no more than a warning
        usable_providers(providers, model.session.get_providers())
    return FaceModels(app, batch)


def usable_providers(wanted: Sequence[str], there: Sequence[str]) -> list[str]:
    """Those of the wanted providers that are there, in order of preference.

    Raises:
        DefinitionError: the first one is not, and the CPU was not allowed in its stead.
    """
    found = [name for name in wanted if name in there]
    if found[:1] == list(wanted[:1]) and found:
        return found
    first = wanted[0] if wanted else "no provider"
    if CPU not in wanted:
        remedy = (
            "install onnxruntime-gpu in place of onnxruntime (uv sync --extra gpu) with a driver for its CUDA"
        )
        raise DefinitionError(
            f"{first} is asked for and cannot be used here; {remedy}, or add {CPU} to the list to run on the "
            "CPU where there is nothing better",
            field="FACEDRIFT_ONNX_PROVIDERS",
            allowed=tuple(there),
        )
    logger.warning("%s cannot be used here: faces are read on %s", first, ", ".join(found))
    return found


def check_pack(pack: Path, expected: dict[str, str]) -> None:
    """Raise WeightsError unless every expected file is in the pack with its sha256."""
    for name, sha256 in expected.items():
        path = pack / name
        if not path.is_file():
            raise WeightsError(f"face model file {name!r} is missing in {pack}")
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != sha256:
            raise WeightsError(
                f"face model file {path} is not the expected one: sha256 {found}, expected {sha256}; "
                "delete it and install the pack again"
            )


def _bgr(pixels: Pixels) -> Pixels:
    return cast(Pixels, cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_RGB2BGR))


def _area(face: FoundFace) -> float:
    x1, y1, x2, y2 = face.box.tolist()
    return (x2 - x1) * (y2 - y1)


def _insight_face(face: FoundFace) -> Any:
    return Face(bbox=face.box, kps=face.keypoints, det_score=face.score)
