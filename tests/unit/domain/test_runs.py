from __future__ import annotations

import pytest

from domain.errors import DefinitionError
from domain.plan import Chain
from domain.runs import RunRequest, choose
from domain.summaries import ShardSummary, StepFailure

KNOWN = ("a", "b", "c")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [((), KNOWN), (("c", "a"), ("a", "c")), (("b", "b"), ("b",)), (KNOWN, KNOWN)],
)
def test_choose_keeps_the_known_order(wanted: tuple[str, ...], found: tuple[str, ...]):
    assert choose(wanted, KNOWN, "models") == found


def test_choose_names_what_is_unknown_and_what_is_allowed():
    with pytest.raises(DefinitionError, match="unknown models 'x', 'y'") as caught:
        choose(("a", "x", "y"), KNOWN, "models")
    assert caught.value.allowed == KNOWN
    assert caught.value.field == "models"


def test_summaries_add_up():
    chain = Chain(model="m", photo="p", session="s")
    failure = StepFailure(chain=chain, step=1, key="k", error="FatalError", message="no")
    one = ShardSummary(edited=1, refused=2, no_image=3, failed=1, found=4, cost_usd=0.5, failures=(failure,))
    two = ShardSummary(edited=10, cost_usd=0.25, unfinished=2, part="tables/x")
    assert one + two == ShardSummary(
        edited=11, refused=2, no_image=3, failed=1, found=4, cost_usd=0.75, failures=(failure,), unfinished=2
    )


@pytest.mark.parametrize(
    "fields", [{"images": 0}, {"concurrency": 0}, {"concurrency": 257}, {"sesions": ("a",)}]
)
def test_requests_that_are_refused(fields: dict[str, object]):
    with pytest.raises(ValueError, match="1 validation error"):
        RunRequest.model_validate({"suite": "quickstart", **fields})
