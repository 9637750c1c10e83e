"""Every hash that names something: content keys, fingerprints and seeds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from pydantic import BaseModel, JsonValue

from domain.records import StepIdentity


def canonical_json(value: JsonValue | Mapping[str, JsonValue]) -> bytes:
    """One spelling for equal values: sorted keys, no spaces, no NaN.

    Half a surrogate pair, which a provider's JSON may hold, becomes a question mark: it has no UTF-8.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode(errors="replace")


def fingerprint(value: BaseModel | Mapping[str, JsonValue]) -> str:
    """The sha256 of a value's canonical JSON."""
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else dict(value)
    return hashlib.sha256(canonical_json(plain)).hexdigest()


def sha256(data: bytes) -> str:
    """The sha256 of bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def step_key(identity: StepIdentity) -> str:
    """The identity of one attempt at a step, as a content key."""
    return fingerprint(identity)


def judgement_key(before_sha256: str, after_sha256: str, prompt: str) -> str:
    """What a judge was shown, as a content key."""
    return fingerprint({"before": before_sha256, "after": after_sha256, "prompt": prompt})


def step_seed(base: int, model: str, photo: str, step: int, attempt: int) -> int:
    """The seed of one attempt: fixed by (suite seed, model, photo, step, attempt); 31 bits."""
    text = canonical_json({"base": base, "model": model, "photo": photo, "step": step, "attempt": attempt})
    return int.from_bytes(hashlib.sha256(text).digest()[:4], "big") >> 1
