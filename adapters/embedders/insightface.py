"""Face embeddings by insightface: detection on a fixed ladder, recognition in one batch."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from adapters.imaging.decode import Pixels, decode_rgb, one_large_at_a_time
from adapters.imaging.face_models import LADDER, Detection, FaceModels, Floats, align
from adapters.imaging.packs import PackSettings, open_pack
from domain.errors import PhotoError
from domain.records import EmbedderIdentity, FaceBox, FaceReading
from domain.suites import FacePack

VERSION = "2"
"""Raised whenever decoding, the ladder, alignment or the number of faces kept changes.

2: colour profiles of grey and CMYK images count, those of cut-outs count before the white is put behind them,
CMYK JPEGs without Adobe's marker are not inverted, and images above 8 megapixels are reduced for the padded
rung. All other images have the readings that 1 gave them, bit for bit.
"""
MAX_FACES = 16
"""Faces kept of one image, largest first."""


def identity_of(pack: FacePack) -> EmbedderIdentity:
    """Everything that changes an embedding; known without loading a model."""
    return EmbedderIdentity(
        adapter="insightface",
        version=VERSION,
        pack=pack.id,
        files={file.name: file.sha256 for file in pack.files},
        ladder=tuple(f"{size}+pad" if padded else str(size) for size, padded in LADDER),
    )


class InsightFaceEmbedder:
    """Reads images in batches; every face of every image goes through recognition together."""

    def __init__(self, models: FaceModels) -> None:
        self._models = models

    @classmethod
    def open(cls, pack: FacePack, settings: PackSettings) -> InsightFaceEmbedder:
        """Load a pack; raises WeightsError."""
        return cls(open_pack(pack, settings, ("detection", "recognition")))

    def providers(self) -> tuple[str, ...]:
        """The ONNX Runtime providers in use."""
        return self._models.providers()

    def read(self, images: Sequence[bytes]) -> list[FaceReading]:
        """One reading an image, in order; an image that does not decode gives an `unreadable` one."""
        seen: list[_Seen | FaceReading] = []
        crops: list[Pixels] = []
        for data in images:
            with one_large_at_a_time(data):
                try:
                    pixels = decode_rgb(data)
                except PhotoError as error:
                    seen.append(FaceReading(status="unreadable", detail=f"{error.reason}: {error}"))
                    continue
                detection = self._models.detect(pixels)
                crops.extend(align(pixels, face) for face in detection.faces[:MAX_FACES])
                seen.append(_Seen(pixels.shape[1], pixels.shape[0], detection))
                del pixels
        embeddings = iter(self._models.embed(crops))
        return [
            item if isinstance(item, FaceReading) else _reading(item, embeddings)  # order of `crops`
            for item in seen
        ]


@dataclass(frozen=True)
class _Seen:
    width: int
    height: int
    detection: Detection


def _reading(seen: _Seen, embeddings: Iterator[Floats]) -> FaceReading:
    faces = seen.detection.faces[:MAX_FACES]
    return FaceReading(
        status="read",
        width=seen.width,
        height=seen.height,
        rung=seen.detection.rung,
        faces=tuple(
            FaceBox(
                box=(float(face.box[0]), float(face.box[1]), float(face.box[2]), float(face.box[3])),
                score=face.score,
                embedding=base64.b64encode(vector.astype("<f4").tobytes()).decode(),
                keypoints=tuple((float(x), float(y)) for x, y in face.keypoints),
            )
            for face, vector in zip(faces, islice(embeddings, len(faces)), strict=True)
        ),
    )
