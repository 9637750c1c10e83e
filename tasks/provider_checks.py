"""Whether the providers of a run can be reached, found out without a paid call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime

from prefect import task

from adapters.base import Checkable
from domain.errors import DefinitionError, FacedriftError, TransientError
from domain.judge_cards import JudgeCard
from domain.model_cards import ModelCard
from domain.photos import Dataset
from domain.retirement import retired, retirement_notices
from domain.runs import Missing, RunPlan
from domain.suites import Suite
from tasks import policies, wiring
from tasks.resolving import Resolved
from tasks.threads import in_thread

AnyCard = ModelCard | JudgeCard
LOOKUPS_AT_ONCE = 8


def needed(cards: Iterable[ModelCard], judges: Iterable[JudgeCard], missing: Missing) -> list[AnyCard]:
    """The cards that a run still has to call; an answer is needed for every new edit."""
    edits = sum(missing.steps_missing.values())
    models = [card for card in cards if missing.steps_missing.get(card.id)]
    asked = {card.id: card for card in judges if edits or missing.answers_missing.get(card.id)}
    return [*models, *asked.values()]


def problems_of(
    cards: Sequence[AnyCard], suite: Suite, *, rehearse: bool, unreached: bool = False
) -> dict[str, str]:
    """What is wrong with each provider that a card needs: a sentence that says what to mend.

    Looked at are keys, packages, settings, retirement, and the provider's own free look-up of the model. A
    look-up that a network fault keeps from ending is a problem only with `unreached`.
    """
    remote = [card for card in cards if not wiring.is_in_process(card.provider)]
    with ThreadPoolExecutor(LOOKUPS_AT_ONCE) as threads:
        found = list(threads.map(lambda card: _problem(card, suite, rehearse, unreached), remote))
    return {card.id: problem for card, problem in zip(remote, found, strict=True) if problem}


def _problem(card: AnyCard, suite: Suite, rehearse: bool, unreached: bool) -> str | None:
    gone = retired(card, datetime.now(UTC).date())
    if gone and not rehearse:
        return gone
    try:
        built = _build(card, suite, rehearse)
        if isinstance(built, Checkable):
            built.check()
    except TransientError as error:
        return f"{card.id} could not be looked up: {error}; try again" if unreached else None
    except FacedriftError as error:
        return str(error)
    return None


def _build(card: AnyCard, suite: Suite, rehearse: bool) -> object:
    if isinstance(card, JudgeCard):
        return wiring.build_judge(card, suite, rehearse=rehearse)
    nobody = Dataset(id="none", embedder_fingerprint="none", photos=())
    return wiring.build_editor(card, nobody, suite, rehearse=rehearse)


def retirements(run: RunPlan, missing: Missing, today: date | None = None) -> list[str]:
    """Of the cards that a run still has to call: which are retired, or will be within 30 days of today."""
    if run.request.rehearse:
        return []
    cards = needed(run.cards, run.judge_cards, missing)
    return retirement_notices(cards, today or datetime.now(UTC).date())


def check_resolved(resolved: Resolved, missing: Missing, *, rehearse: bool) -> None:
    """Raise DefinitionError naming every provider that could not do its share of a run."""
    cards = needed(resolved.cards, resolved.judges, missing)
    found = problems_of(cards, resolved.suite, rehearse=rehearse)
    if found:
        raise DefinitionError(
            "; ".join(dict.fromkeys(found.values()))
            + f". Not usable: {', '.join(found)}; mend it, or name other models with --models"
        )


@task(task_run_name="check providers", **policies.ONCE)
async def check_providers(run_id: str, missing: Missing) -> dict[str, str]:
    """Of each card of a run that cannot be called: why, and what to mend."""
    return await in_thread(_check_providers, run_id, missing)


def _check_providers(run_id: str, missing: Missing) -> dict[str, str]:
    run: RunPlan = wiring.run_plan(run_id)
    cards = needed(run.cards, run.judge_cards, missing)
    return problems_of(cards, run.suite, rehearse=run.request.rehearse)
