"""Who is switched off, and who will be."""

from __future__ import annotations

import datetime

import pytest

from domain.judge_cards import JudgeCard
from domain.loading import load
from domain.model_cards import ModelCard
from domain.retirement import retired, retirement_notices

MODEL, JUDGE = load(ModelCard, "nano-banana-2"), load(JudgeCard, "gemini-2.5-flash")
NEVER = load(ModelCard, "nano-banana-pro")


def day(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)


@pytest.mark.parametrize(
    ("today", "said"),
    [
        ("2026-09-28", None),
        ("2026-09-29", "nano-banana-2 will be retired on 2026-10-29, in 30 days"),
        ("2026-10-28", "nano-banana-2 will be retired on 2026-10-29, in 1 day;"),
        ("2026-10-29", "nano-banana-2 was retired on 2026-10-29; leave it out, or name its successor"),
        ("2027-05-01", "nano-banana-2 was retired on 2026-10-29"),
    ],
)
def test_a_month_before_the_day_it_is_said_and_from_the_day_on_otherwise(today: str, said: str | None):
    notices = retirement_notices([MODEL, NEVER], day(today))
    assert len(notices) == (said is not None)
    assert said is None or notices[0].startswith(said)
    assert bool(retired(MODEL, day(today))) == (day(today) >= day("2026-10-29"))


def test_judges_are_held_to_the_same_dates():
    [gone, soon] = retirement_notices([MODEL, JUDGE], day("2026-11-29"))
    assert "was retired" in gone
    assert soon.startswith("gemini-2.5-flash will be retired on 2026-12-01, in 2 days")
