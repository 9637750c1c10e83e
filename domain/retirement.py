"""Which models and judges are switched off, or soon will be, by what their cards say."""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from domain.judge_cards import JudgeCard
from domain.model_cards import ModelCard

SOON = datetime.timedelta(days=30)


def retired(card: ModelCard | JudgeCard, today: datetime.date) -> str | None:
    """That a card's model is switched off and what to do, or None where it is not."""
    if card.retired_on is None or card.retired_on > today:
        return None
    return f"{card.id} was retired on {card.retired_on}; leave it out, or name its successor"


def retirement_notices(cards: Iterable[ModelCard | JudgeCard], today: datetime.date) -> list[str]:
    """What a person must know before a run: who is retired, and who will be within 30 days."""
    return [notice for card in cards if (notice := retired(card, today) or retiring(card, today))]


def retiring(card: ModelCard | JudgeCard, today: datetime.date) -> str | None:
    """That a card's model will be switched off within 30 days, or None where it will not or is already."""
    if card.retired_on is None or not today < card.retired_on <= today + SOON:
        return None
    left = (card.retired_on - today).days
    return (
        f"{card.id} will be retired on {card.retired_on}, in {left} day{'s' if left > 1 else ''}; "
        "end the run before that, or name its successor"
    )
