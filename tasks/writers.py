"""Judge cards as writers: who can write what, whether one can be called, and what an answer costs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from adapters.base import Checkable
from domain import keys
from domain.errors import AmbiguousError, DefinitionError
from domain.judge_cards import JudgeCard, JudgeRole
from domain.records import JudgeIdentity
from tasks import wiring
from tasks.definitions import load, names, prompt
from tasks.gates import Gate


class Answered(Protocol):
    """An answer that may say what it cost."""

    @property
    def cost_usd(self) -> float | None:
        """In dollars, where the writer tells it."""
        ...


Answer = TypeVar("Answer", bound=Answered)


def identity(
    card: JudgeCard, role: JudgeRole, about: str, local_version: str, *, rehearse: bool = False
) -> JudgeIdentity:
    """What a writer's answers will carry.

    Args:
        card: Of the writer.
        role: What it writes.
        about: The taxonomy, with its version, that it writes by.
        local_version: Of the writer that needs no key.
        rehearse: Whether the stand-in answers in its place.

    Raises:
        DefinitionError: the card has no such prompt.
    """
    version, prompt_version = local_version, "none"
    if not wiring.is_in_process(card.provider):
        if role not in card.prompts:
            raise DefinitionError(f"judge {card.id!r} has no prompt for {role}", field=f"prompts.{role}")
        played = " played by the stand-in" if rehearse else ""
        version = f"{card.endpoint} {keys.fingerprint(card.settings)[:12]}{played}"
        prompt_version = f"{card.prompts[role]} {keys.sha256(prompt(card.prompts[role]).encode())[:12]}"
    return JudgeIdentity(
        adapter=card.provider, version=version, prompt_version=prompt_version, taxonomy=about
    )


def writers(role: JudgeRole) -> tuple[str, ...]:
    """Ids of the judge cards that can write so."""
    cards = [load(JudgeCard, name) for name in names(JudgeCard)]
    return tuple(card.id for card in cards if role in card.prompts or wiring.is_in_process(card.provider))


def check(card: JudgeCard, build: Callable[[], object], *, rehearse: bool) -> None:
    """Raise an error that says what to mend unless the writer can be called; costs nothing."""
    today = datetime.now(UTC).date()
    if card.retired_on is not None and card.retired_on <= today and not rehearse:
        raise DefinitionError(
            f"{card.id} was retired on {card.retired_on}; name its successor", field="writer"
        )
    writer = build()
    if not wiring.is_in_process(card.provider) and isinstance(writer, Checkable):
        writer.check()


def counted(gate: Gate, card: JudgeCard, ask: Callable[[], Answer]) -> Answer:
    """Ask, and count what that costs."""
    try:
        answer = ask()
    except AmbiguousError:
        gate.count_cost(card.price_usd)  # its answer is lost, and it was perhaps paid
        raise
    gate.count_cost(card.price_usd if answer.cost_usd is None else answer.cost_usd)
    return answer
