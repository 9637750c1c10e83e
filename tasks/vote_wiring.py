"""Builds the sources of votes and the services that ask people: `tasks.wiring`, for votes."""

from __future__ import annotations

from adapters.registry import VOTE_SERVICES, vote_service_class, vote_source_class
from adapters.votes.source import VoteService, VoteSource
from domain.votes import VoteSourceName


def vote_source(source: VoteSourceName, where: str) -> VoteSource:
    """The votes in a file, of a service's job, or of a suite's page; raises DefinitionError for none."""
    return vote_source_class(source).build(where)


def vote_service(source: VoteSourceName) -> VoteService:
    """Who asks people for money; raises DefinitionError where there is no account."""
    return vote_service_class(source).build()


def is_service(source: VoteSourceName) -> bool:
    """Whether votes of a source are paid for, by a job that it is given first."""
    return source in VOTE_SERVICES
