"""Face models of one insightface pack: detection, 106 landmarks, recognition.

A pack is a directory of ONNX files. Its files are checked before insightface sees them, because
insightface takes whatever lies in the directory: an empty one ends in a bare AssertionError and a
detector alone loads and gives no embeddings.
"""

from __future__ import annotations

import hashlib
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
from domain.errors import WeightsError

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

    def __init__(self, app: Any) -> None:
        self._app = app
        self._detector = app.models["detection"]
        self._recognizer = app.models.get("recognition")
        self._landmarker = app.models.get("landmark_2d_106")

    def detect(self, pixels: Pixels) -> Detection:
        """Find the faces of an image on the first ladder rung that finds any."""
        if min(pixels.shape[:2]) * 32 < max(pixels.shape[:2]) or min(pixels.shape[:2]) < MIN_SIDE_PX:
            return Detection((), None)
        for size, padded in LADDER:
            border = (pixels.shape[0] // 2, pixels.shape[1] // 2) if padded else (0, 0)
            faces = self._on_rung(pixels, size, border)
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
        images = [_bgr(crop) for crop in crops]
        fixed_to_one = self._recognizer.input_shape[0] == 1
        batches = [[image] for image in images] if fixed_to_one else [images]
        raw = np.concatenate([np.asarray(self._recognizer.get_feat(batch), np.float32) for batch in batches])
        return raw / np.linalg.norm(raw, axis=1, keepdims=True)

    def providers(self) -> tuple[str, ...]:
        """The ONNX Runtime providers that the sessions really ended up with."""
        model = self._recognizer or self._detector
        return tuple(model.session.get_providers())

    def _on_rung(self, pixels: Pixels, size: int, border: tuple[int, int]) -> tuple[FoundFace, ...]:
        down, right = border
        image = _bgr(np.pad(pixels, ((down, down), (right, right), (0, 0))) if any(border) else pixels)
        boxes, keypoints = self._detector.detect(image, input_size=(size, size))
        shift = np.array([right, down], np.float32)
        faces = [
            FoundFace(
                box=np.asarray(box[:4], np.float32) - np.tile(shift, 2),
                score=float(box[4]),
                keypoints=np.asarray(points, np.float32) - shift,
            )
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
    providers: Sequence[str] = ("CPUExecutionProvider",),
    threads: int = 1,
) -> FaceModels:
    """Load a pack after checking that each expected file is there with its sha256.

    Raises:
        WeightsError: a file is missing or is not the expected one; the message says what to install.
    """
    check_pack(pack, expected)
    options: Any = cast(Any, onnxruntime).SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    app: Any = cast(Any, FaceAnalysis)(
        name=str(pack.resolve()),
        allowed_modules=list(modules),
        providers=list(providers),
        sess_options=options,
    )
    app.prepare(
        ctx_id=0 if providers[0].startswith("CUDA") else -1, det_thresh=MIN_SCORE, det_size=(320, 320)
    )
    missing = sorted(set(modules) - set(app.models))
    if missing:
        raise WeightsError(f"the pack {pack} has no model for {', '.join(missing)}")
    return FaceModels(app)


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
    return np.ascontiguousarray(pixels[:, :, ::-1])


def _area(face: FoundFace) -> float:
    x1, y1, x2, y2 = face.box.tolist()
    return (x2 - x1) * (y2 - y1)


def _insight_face(face: FoundFace) -> Any:
    return Face(bbox=face.box, kps=face.keypoints, det_score=face.score)
