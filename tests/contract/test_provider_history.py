"""Finding a job whose answer was lost, in the history of the providers that keep one."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from builders import encoded, noise
from fakes.provider_calls import PICTURE, a_request, ask, build, edited

from adapters.base import HasHistory
from domain.edits import Ticket
from domain.errors import AmbiguousError

pytestmark = pytest.mark.usefixtures("environment")


@pytest.mark.parametrize("queued", ["fal", "replicate"])
class TestHistory:
    def test_a_job_whose_answer_was_lost_is_found_and_collected(
        self, queued: str, script: Callable[..., None], count: Callable[[str, str], int]
    ):
        editor = build(queued)
        assert isinstance(editor, HasHistory)
        since = datetime.now(UTC)
        ask(editor, a_request("Add a moustache"))
        script("drop")
        with pytest.raises(AmbiguousError):
            editor.submit(a_request("Add a beard"))
        ticket = _eventually(lambda: editor.find(a_request("Add a beard"), since))
        assert edited(editor.collect(ticket)).image == PICTURE
        assert count(queued, "accepted") == 2

    def test_nothing_is_found_for_what_was_never_asked(self, queued: str):
        editor = build(queued)
        since = datetime.now(UTC)
        asked = a_request("Add a scar")
        ticket = editor.submit(asked)
        editor.collect(ticket)
        assert editor.find(asked, since) == ticket
        assert editor.find(asked, since, {ticket.provider_id or ""}) is None, "known to have come to nothing"
        other = encoded(noise(48, 40, seed=3))
        for different in (
            a_request("Add two scars"),
            a_request("Add a scar", seed=12),
            a_request("Add a scar", image=other),
        ):
            assert editor.find(different, since) is None
        later = datetime.fromtimestamp(time.time() + 5, UTC)
        assert editor.find(asked, later) is None

    def test_another_model_or_setting_is_another_job(self, queued: str):
        since = datetime.now(UTC)
        ask(build(queued), a_request("Add freckles"))
        settings = {"fal": {"arguments": {"num_inference_steps": 31}, "image_field": "image_url"}}
        other = settings.get(queued, {"arguments": {"go_fast": True}, "image_field": "input_image"})
        assert build(queued, settings=other).find(a_request("Add freckles"), since) is None
        assert build(queued, endpoint="acme/draw").find(a_request("Add freckles"), since) is None


def _eventually(look: Callable[[], Ticket | None]) -> Ticket:
    """fal lists a job once it has ended."""
    for _ in range(100):
        found = look()
        if found is not None:
            return found
        time.sleep(0.03)
    raise AssertionError("not found")
