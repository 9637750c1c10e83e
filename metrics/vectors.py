"""Embeddings between their stored form and arrays."""

from __future__ import annotations

import base64
import binascii

import numpy as np
import numpy.typing as npt

from domain.errors import MetricError


def decode_embedding(text: str) -> npt.NDArray[np.float32]:
    """Base64 of little-endian float32 as an array `(d,)`.

    Raises:
        MetricError: The text is not that.

    """
    try:
        data = base64.b64decode(text, validate=True)
        vector = np.frombuffer(data, dtype="<f4").astype(np.float32)
    except (binascii.Error, ValueError) as error:
        raise MetricError(f"not a stored embedding: {error}") from error
    if not vector.size:
        raise MetricError("the stored embedding is empty")
    return vector
