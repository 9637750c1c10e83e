"""What a source of votes is, and how a source says that a row is no vote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from domain.known_matches import KnownMatches
from domain.votes import FoundVote, RejectedVote


class VoteSource(Protocol):
    """Votes that somebody has collected. It translates; what is new and what is kept is decided by tasks."""

    @property
    def where(self) -> str:
        """The file, or the job of a service: for people."""
        ...

    def read(self, known: KnownMatches) -> Iterator[FoundVote | RejectedVote]:
        """Every vote, and every row that is none, with its line and a stable reason; none costs another.

        Raises:
            DefinitionError: nothing of it can be read.
            ProviderError: the service does not answer, or is not done.
        """
        ...


@dataclass(frozen=True)
class OrderedMatch:
    """A match as it is given to a service: three pictures on this machine."""

    match: str
    original: Path
    face_a: Path
    face_b: Path


@dataclass(frozen=True)
class VoteOrder:
    """What a service is asked to do."""

    name: str
    """By which it is found again."""
    question: str
    audience: str
    responses: int
    """Of each match."""
    matches: Sequence[OrderedMatch]


class VoteService(Protocol):
    """Somebody who asks people for money. Giving a job is paid; all else is free."""

    def find(self, name: str) -> str | None:
        """The id of the newest job of exactly this name, or None."""
        ...

    def give(self, order: VoteOrder) -> str:
        """Give a job, once; its id.

        Raises:
            AmbiguousError: it may have been accepted; `find` tells.
            ProviderError: it was not.
        """
        ...

    def pending(self, job_id: str) -> str | None:
        """What a job still waits for, one sentence; None when its votes can be read."""
        ...


class Bad(NamedTuple):
    """Why a row is no vote."""

    reason: str
    detail: str

    def rejected(self, where: str, line: int | None) -> RejectedVote:
        """The same, as it is stored."""
        return RejectedVote(where=where, line=line, reason=self.reason, detail=self.detail[:300])
