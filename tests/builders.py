"""The tests' factories: small valid values whose fields can be overridden."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image

from domain import keys
from domain.photos import Photo
from domain.records import ImageRef, OutcomeRecord, StepIdentity

SHA = "0123456789abcdef" * 4


def png(colour: str, size: tuple[int, int] = (40, 30)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


def a_photo(**fields: Any) -> Photo:
    base: dict[str, Any] = {
        "id": "anna-1",
        "subject": "anna",
        "role": "base",
        "image_sha256": SHA,
        "extension": "png",
        "width": 64,
        "height": 48,
        "box": (10.0, 10.0, 40.0, 40.0),
        "licence": "CC0-1.0",
        "source": "anna/1.png",
    }
    return Photo(**base | fields)


def an_identity(**fields: Any) -> StepIdentity:
    base: dict[str, Any] = {
        "input_sha256": SHA,
        "prompt": "Add square glasses",
        "model": "control-unchanged",
        "settings_fingerprint": "f" * 64,
        "seed": 7,
        "attempt": 1,
    }
    return StepIdentity(**base | fields)


def an_image_ref(number: int = 0) -> ImageRef:
    return ImageRef(
        sha256=keys.sha256(bytes([number])),
        extension="png",
        content_type="image/png",
        width=64,
        height=48,
        size_bytes=1,
    )


def an_outcome(identity: StepIdentity, **fields: Any) -> OutcomeRecord:
    base: dict[str, Any] = {
        "key": keys.step_key(identity),
        "identity": identity,
        "kind": "edited",
        "image": an_image_ref(),
        "latency_s": 0.1,
        "finished_at": "2026-11-30T00:00:00+00:00",
    }
    return OutcomeRecord(**base | fields)


def quadrants(width: int = 64, height: int = 48) -> np.ndarray:
    """Red, green / blue, white: no flip or turn leaves it unchanged."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[: height // 2, : width // 2] = (255, 0, 0)
    pixels[: height // 2, width // 2 :] = (0, 255, 0)
    pixels[height // 2 :, : width // 2] = (0, 0, 255)
    pixels[height // 2 :, width // 2 :] = (255, 255, 255)
    return pixels


def noise(width: int, height: int, seed: int = 0) -> np.ndarray:
    """A texture without a face."""
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def encoded(pixels: np.ndarray | Image.Image, form: str = "PNG", **options: Any) -> bytes:
    """The bytes of an image file."""
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()
