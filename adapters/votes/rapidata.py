"""Votes of Rapidata's paid crowd: a job of comparisons beside the original, given once, read when it is done.

The service draws sides anew for each voter and does not tell which it drew. Faces are uploaded as they are,
without its compression. A match whose two faces are the very same picture cannot be compared and is not sent.

API: https://docs.rapidata.ai (rapidata 3.27.1, read 2026-11)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Self, cast

from adapters.votes.crowd import CrowdReader
from adapters.votes.rapidata_client import PROVIDER, calling, open_client, settings
from adapters.votes.rows import strict_json
from adapters.votes.source import Bad, VoteOrder
from domain.errors import FatalError, TransientError
from domain.known_matches import KnownMatches, Placed
from domain.votes import FoundVote, RejectedVote, Vote, VoteSourceName

DONE = "Completed"
WAITS = {
    "ManualApproval": "Rapidata reviews the job before it runs",
    "SpendLimited": "the account at Rapidata ran out of funds; top it up",
    "Paused": "the job is paused; resume it at Rapidata",
    "Blocked": "one of its matches was flagged; look at the job at Rapidata",
    "StaleResults": "its results are out of date; have them made again at Rapidata",
}
LONGEST_QUESTION = 250


class RapidataService:
    """Rapidata, for one account."""

    name: VoteSourceName = "rapidata"

    @classmethod
    def build(cls) -> Self:
        """For the account of the environment; raises DefinitionError where there is none."""
        settings()
        return cls()

    @cached_property
    def client(self) -> Any:
        """The SDK's client; raises ProviderError."""
        return open_client(settings())

    def find(self, name: str) -> str | None:
        """The id of the newest job of exactly this name, or None."""
        client = self.client
        with calling():
            jobs = client.job.find_jobs(name=name)
        return next((str(job.id) for job in jobs if job.name == name), None)

    def give(self, order: VoteOrder) -> str:
        """Upload the faces and give the job, once; its id. Only the last call is paid."""
        from rapidata.rapidata_client.settings import (  # pyright: ignore[reportMissingTypeStubs]
            AllowNeitherBothSetting,
            PinContextMediaSetting,
        )

        client, sent = self.client, order.matches
        if len(order.question) > LONGEST_QUESTION:
            raise FatalError(f"Rapidata takes {LONGEST_QUESTION} characters of a question", provider=PROVIDER)
        with calling():
            audience = client.audience.get_audience_by_id(order.audience)
            definition = client.job.create_compare_job_definition(
                name=order.name,
                instruction=order.question,
                datapoints=[[str(one.face_a), str(one.face_b)] for one in sent],
                media_contexts=[[str(one.original)] for one in sent],
                responses_per_datapoint=order.responses,
                private_metadata=[{"match": one.match} for one in sent],
                settings=[PinContextMediaSetting(), AllowNeitherBothSetting()],
            )
        with calling(paid=True):
            return str(audience.assign_job(definition).id)

    def pending(self, job_id: str) -> str | None:
        """What a job still waits for; None when its votes can be read."""
        state = self.state(job_id)
        if state == DONE:
            return None
        if state == "Failed":
            raise FatalError(f"the job {job_id!r} failed at Rapidata", provider=PROVIDER, code=state)
        return WAITS.get(state, f"the job {job_id!r} is {state} at Rapidata") + "; collect again later"

    def state(self, job_id: str) -> str:
        """The service's own word for how far a job is."""
        client = self.client
        with calling():
            return str(client._openapi_service.order.job_api.job_job_id_get(job_id=job_id).state.value)

    def results(self, job_id: str) -> Mapping[str, Any]:
        """What the crowd answered; raises ProviderError while the job is not done."""
        client = self.client
        with calling():
            text = client._openapi_service.order.job_api.job_job_id_download_results_get(job_id=job_id)
        try:
            found = strict_json(text if isinstance(text, str) else bytes(text).decode())
        except ValueError as error:
            raise TransientError("Rapidata's results are not JSON; try again", provider=PROVIDER) from error
        if not isinstance(found, dict):
            raise TransientError("Rapidata's results are no object; try again", provider=PROVIDER)
        return cast(dict[str, Any], found)


class RapidataVotes:
    """The votes of one job."""

    name: VoteSourceName = "rapidata"

    def __init__(self, job_id: str, service: RapidataService) -> None:
        self._job_id = job_id
        self._service = service

    @classmethod
    def build(cls, where: str) -> Self:
        """Of a job by its id; raises DefinitionError where there is no account."""
        return cls(where, RapidataService.build())

    @property
    def where(self) -> str:
        """The job's id."""
        return self._job_id

    def read(self, known: KnownMatches) -> Iterator[FoundVote | RejectedVote]:
        """Every single answer to every match."""
        reader = CrowdReader(self.name)
        results = self._service.results(self._job_id).get("results")
        if not isinstance(results, list):
            raise TransientError("Rapidata's results hold no list of matches; try again", provider=PROVIDER)
        for number, result in enumerate(cast(list[object], results), 1):
            for vote in _of_result(result, known, reader):
                if isinstance(vote, Bad):
                    named = Bad(vote.reason, f"result {number}: {vote.detail}")
                    yield named.rejected(self.where, None)
                else:
                    yield FoundVote(vote=vote)


def _of_result(result: object, known: KnownMatches, reader: CrowdReader) -> Iterator[Vote | Bad]:
    held = cast(dict[str, Any], result) if isinstance(result, dict) else {}
    metadata = held.get("privateMetadata")
    name = cast(dict[str, Any], metadata).get("match") if isinstance(metadata, dict) else None
    match = known.by_id.get(name) if isinstance(name, str) else None
    if match is None:
        return iter((Bad("unknown_match", f"{name!r} is none of the matches that are voted on"),))
    if "detailedResults" not in held:
        return iter((Bad("no_votes", "the result holds no single answers"),))
    words = {"1": [match.crop_a_sha256], "2": [match.crop_b_sha256]}
    return reader.of_details(held["detailedResults"], Placed(str(name), match, "a"), words)
