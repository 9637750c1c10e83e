"""Whether the pictures that a copy of a page brings along may be passed on."""

from __future__ import annotations

import json
from collections import Counter

from domain import keys
from domain.licences import licence_id
from tasks import wiring
from tasks.published import find_snapshot
from tasks.site_files import NEEDS

PUBLIC = "public domain"


def is_free(licence: str) -> bool:
    """Whether a licence lets anybody pass the photo on."""
    return licence_id(licence) is not None or licence.casefold().startswith(PUBLIC)


def licence_warning(suite: str, digest: str | None) -> str | None:
    """What to mind before a published snapshot's copy is put where others see it; None where all are free."""
    store = wiring.store()
    snapshot = find_snapshot(suite, digest, store)
    run = wiring.run_plan(snapshot.run_id)
    needs = set(json.loads(store.get(keys.report(suite, snapshot.digest, NEEDS)) or b"[]"))
    shown = [
        p for p in wiring.dataset(run.dataset).photos if keys.image(p.image_sha256, p.extension) in needs
    ]
    counted = Counter(photo.licence or "none stated" for photo in shown if not is_free(photo.licence))
    if not counted:
        return None
    n = counted.total()
    named = "; ".join(f"“{licence}” ({count})" for licence, count in sorted(counted.items()))
    return (
        f"warning: the copy holds pictures of {n} photo{'s' * (n != 1)} whose licence is not a free "
        f"one: {named}; put it only where these allow it"
    )
