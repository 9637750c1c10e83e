"""A request against the definitions, before any photo is looked at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

from pydantic import BaseModel, JsonValue

from domain import keys, plan
from domain.chains import ChainSet
from domain.errors import DefinitionError
from domain.judge_cards import JudgeCard
from domain.model_cards import ModelCard
from domain.photos import Dataset, Photo
from domain.requests import RunRequest
from domain.runs import choose
from domain.sessions import Session, SessionSet, sessions_of_chains
from domain.suites import Suite
from domain.taxonomy import Taxonomy
from tasks.definitions import load, load_suite, names, taxonomy_of
from tasks.own_photos import with_own_photos

MOST_NAMES = 5
"""Of a list in a message."""


@dataclass(frozen=True)
class Resolved:
    """What a request will run."""

    suite: Suite
    cards: tuple[ModelCard, ...]
    judge: JudgeCard | None
    tracker: JudgeCard | None
    checker: JudgeCard | None
    source: SessionSet | ChainSet
    """Where its sessions are from."""
    sessions: tuple[Session, ...]
    taxonomy: Taxonomy
    """Empty where the suite has prompt chains."""

    @property
    def chain_set(self) -> ChainSet | None:
        """Its prompt chains, where it has some."""
        return self.source if isinstance(self.source, ChainSet) else None

    @property
    def judges(self) -> tuple[JudgeCard, ...]:
        """The card of everybody who judges, each once."""
        cards = (self.judge, self.tracker, self.checker)
        return tuple({card.id: card for card in cards if card}.values())

    @cached_property
    def digest(self) -> str:
        """Of all definitions together."""
        judges = [self.judge, self.tracker, *([self.checker] if self.checker else [])]
        return keys.fingerprint(
            {
                "suite": self.suite.model_dump(mode="json"),
                "taxonomy": self.taxonomy.model_dump(mode="json"),
                "sessions": self.source.model_dump(mode="json"),
                "cards": _dumps(self.cards),
                "judges": _dumps(card for card in judges if card),
            }
        )


def _dumps(definitions: Iterable[BaseModel]) -> list[JsonValue]:
    return [definition.model_dump(mode="json") for definition in definitions]


def resolve(request: RunRequest) -> Resolved:
    """Check a request; raises DefinitionError naming what is unknown and what is allowed."""
    suite = with_own_photos(load_suite(request.suite), request.images_dir)
    source, taxonomy = _source(suite), taxonomy_of(suite)
    if isinstance(source, SessionSet):
        source.check(taxonomy)
    models = choose(request.models, suite.models, "models")
    return Resolved(
        suite=suite,
        cards=tuple(load(ModelCard, name) for name in models),
        judge=_judge(suite.judges.consistency),
        tracker=_judge(suite.judges.tracker),
        checker=_judge(suite.steps.checker),
        source=source,
        sessions=_chosen_sessions(request, _in_suite(suite, source)),
        taxonomy=taxonomy,
    )


def sessions_of(suite: Suite) -> tuple[Session, ...]:
    """All sessions that a suite runs; raises DefinitionError."""
    return _in_suite(suite, _source(suite))


def _source(suite: Suite) -> SessionSet | ChainSet:
    if suite.chain_set is None:
        return load(SessionSet, suite.session_set or "")
    if suite.chain_set not in names(ChainSet):
        raise _unwritten(suite, suite.chain_set)
    return load(ChainSet, suite.chain_set)


def _unwritten(suite: Suite, chain_set: str) -> DefinitionError:
    """How to make the prompt chains that a suite names and nobody has written."""
    known, data, writer = names(ChainSet), suite.dataset, suite.steps.checker or "JUDGE"
    close = get_close_matches(chain_set, known, n=1, cutoff=0.7)
    hint = f" (did you mean {close[0]}?)" if close else ""
    first = (
        f"put photos and their table into {data.path} of FACEDRIFT_DATA, then run " if data.path else "run "
    )
    return DefinitionError(
        f"the prompt chains {chain_set!r} of the suite {suite.id!r} are not written yet{hint}; they are a "
        f"file of yours, chains/{chain_set}.yaml in the folder that FACEDRIFT_DEFINITIONS names. To make it, "
        f"{first}`facedrift photos prepare {suite.id}`, then `facedrift chains draft {chain_set} "
        f"--dataset {data.id} --writer {writer}` or write it by hand, look at every prompt beside its photo, "
        'and run `facedrift chains lint` on it; docs/identity-drift.md, "Your own set", shows all of it',
        field="chain_set",
        allowed=known,
    )


def _in_suite(suite: Suite, source: SessionSet | ChainSet) -> tuple[Session, ...]:
    every = source.sessions if isinstance(source, SessionSet) else sessions_of_chains(source)
    chosen = set(choose(suite.sessions, tuple(session.id for session in every), "sessions"))
    return tuple(session for session in every if session.id in chosen)


def _judge(name: str | None) -> JudgeCard | None:
    return None if name is None else load(JudgeCard, name)


def _chosen_sessions(request: RunRequest, known: Sequence[Session]) -> tuple[Session, ...]:
    if request.test_sets:
        there = tuple(dict.fromkeys(str(session.test_set) for session in known))
        sets = choose(request.test_sets, there, "test sets")
        return tuple(session for session in known if session.test_set in sets)
    chosen = choose(request.sessions, tuple(session.id for session in known), "sessions")
    return tuple(session for session in known if session.id in chosen)


def matched_photos(
    resolved: Resolved, photos: Dataset, most: int | None
) -> tuple[tuple[Photo, ...], tuple[Session, ...]]:
    """The photos and sessions of a run; what has no counterpart is left out, and counted when it is scored.

    Raises:
        DefinitionError: no session is for a photo that is there.
    """
    chosen, sessions = plan.matched(photos.base, resolved.sessions, most)
    if resolved.sessions and not sessions:
        wanted, there = [s.photo or "" for s in resolved.sessions], [photo.id for photo in photos.base]
        raise DefinitionError(
            f"no prompt chain of {resolved.source.id!r} is for a photo of {photos.id!r}: the chains are for "
            f"{_shown(wanted)}, the photos are {_shown(there)}",
            field="chain_set",
        )
    return chosen, sessions


def _shown(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more
