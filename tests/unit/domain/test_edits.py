from __future__ import annotations

import pytest

from domain.edits import Edited, Ticket
from domain.errors import FatalError


def test_a_ticket_gives_the_outcome_it_holds():
    outcome = Edited(image=b"x")
    assert Ticket(outcome=outcome).held_outcome() is outcome


def test_a_ticket_without_an_outcome_must_be_collected():
    with pytest.raises(FatalError, match="'job-1' holds no outcome"):
        Ticket(provider_id="job-1").held_outcome()
