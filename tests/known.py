"""A few matches, and votes on them as files hold them."""

from __future__ import annotations

from domain import keys
from domain.known_matches import KnownMatches
from domain.matches import Match


def sha(*named: object) -> str:
    return keys.sha256(repr(named).encode())


def a_match(photo: int = 0, a: str = "m0", b: str = "m1", **fields: object) -> Match:
    base = {
        "photo": f"p{photo}-1",
        "session": "s0",
        "model_a": a,
        "model_b": b,
        "original_sha256": sha("original", photo),
        "crop_a_sha256": sha("crop", photo, a),
        "crop_b_sha256": sha("crop", photo, b),
    }
    return Match.model_validate({**base, **fields})


MATCHES = tuple(a_match(photo, a, b) for photo in range(3) for a, b in (("m0", "m1"), ("m0", "m2")))
KNOWN = KnownMatches.of(MATCHES)
FIRST = MATCHES[0].id
