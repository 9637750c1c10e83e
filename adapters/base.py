"""The interfaces that tasks speak to; an adapter is whatever has these methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from adapters.imaging.face_models import FaceModels
from domain.chain_drafting import DraftWanted
from domain.edits import EditOutcome, EditRequest, JudgeReply, Ticket
from domain.photos import Photo
from domain.records import FaceReading
from domain.session_writing import Wanted
from domain.taxonomy import Taxonomy


@dataclass(frozen=True)
class EditorContext:
    """What an editor may ask for when it is built, besides its card."""

    taxonomy: Taxonomy
    pool: Sequence[Photo]
    """The base photos of the dataset."""
    load_photo: Callable[[Photo], bytes]
    face_models: Callable[[], FaceModels]
    """Detector and landmarks, loaded at the first call."""
    standin_url: str | None = None
    """In a rehearsal, where `adapters.standin` answers in place of every provider."""


@dataclass(frozen=True)
class JudgeContext:
    """What a judge may ask for when it is built, besides its card."""

    taxonomy: Taxonomy
    prompts: Mapping[str, str]
    """By role (`consistency`, `state`, …) the text of the prompt that the card names."""
    face_models: Callable[[], FaceModels]
    standin_url: str | None = None


class NoSettings(BaseModel):
    """The settings of an editor that has none; a card that gives some is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Editor(Protocol):
    """An editing model. It translates and classifies; it does not retry, cache, log or store."""

    def submit(self, request: EditRequest) -> Ticket:
        """Send one edit; the ticket holds the provider's job id, or the outcome at once."""
        ...

    def collect(self, ticket: Ticket) -> EditOutcome:
        """Wait for the job of a ticket and return how it ended."""
        ...


@runtime_checkable
class HasHistory(Protocol):
    """An editor whose provider can say which jobs it was given."""

    def find(self, request: EditRequest, since: datetime, over: Set[str] = frozenset()) -> Ticket | None:
        """The job made for this very request since then, or None; asking costs nothing.

        For a call whose answer was lost: what is found is collected instead of being paid again. Jobs
        in `over` are known to have come to nothing.
        """
        ...


@runtime_checkable
class Checkable(Protocol):
    """An editor or judge that can be looked up without a paid call."""

    def check(self) -> None:
        """Raise a ProviderError that says what to mend: a wrong key, an unknown or retired model."""
        ...


class Embedder(Protocol):
    """Finds faces and gives each an embedding."""

    def providers(self) -> tuple[str, ...]:
        """What it runs on."""
        ...

    def read(self, images: Sequence[bytes]) -> list[FaceReading]:
        """One reading an image, in order; an image that does not decode gives one that says so."""
        ...


class Judge(Protocol):
    """Scores semantic consistency of one edit."""

    def score(self, before: bytes, after: bytes, prompt: str) -> JudgeReply:
        """Two 0-10 numbers as JSON text (see `domain.judging.parse_scores`)."""
        ...


class StateTracker(Protocol):
    """Says which categories of each sub-axis are seen in one image."""

    def track(self, image: bytes) -> JudgeReply:
        """Sets of categories as JSON text (see `domain.judging.parse_state`)."""
        ...


class StepChecker(Protocol):
    """Says whether an edit was made."""

    def check_step(self, before: bytes, after: bytes, prompt: str) -> JudgeReply:
        """The filled checklist as JSON text (see `domain.judging.parse_checklist`)."""
        ...


class SessionWriter(Protocol):
    """Phrases the instructions of new sessions."""

    def write_instruction(self, wanted: Wanted) -> JudgeReply:
        """One instruction as JSON text (see `domain.judging.parse_instruction`)."""
        ...


class ChainWriter(Protocol):
    """Drafts the prompt chain of a photo."""

    def draft_chain(self, image: bytes, wanted: DraftWanted) -> JudgeReply:
        """An edit target and prompts as JSON text (see `domain.judging.parse_chain`)."""
        ...


class ObjectStore(Protocol):
    """Immutable objects under keys; see `adapters.stores.local` for the meaning of each call."""

    def put_new(self, key: str, data: bytes) -> bool:
        """Write unless there; False when the key already exists."""
        ...

    def put(self, key: str, data: bytes) -> None:
        """Write or replace: pointers only."""
        ...

    def get(self, key: str) -> bytes | None:
        """The bytes, or None only when the key is definitely absent."""
        ...

    def head(self, key: str) -> int | None:
        """Size in bytes, or None only when the key is definitely absent."""
        ...

    def list(self, prefix: str) -> Iterator[str]:
        """Keys under a narrow prefix, sorted."""
        ...

    def delete(self, key: str) -> None:
        """Remove; a missing key is fine."""
        ...

    def probe(self) -> list[str]:
        """What this store cannot do, one sentence each; empty when it can do all."""
        ...


@dataclass(frozen=True)
class ObjectAddress:
    """Where an object is for who reads and writes it without the store, as polars does."""

    url: str
    storage_options: Mapping[str, str | int] | None = field(default=None, repr=False)
    """None for a file; otherwise it holds the keys, so it is never shown."""


@runtime_checkable
class HasAddresses(Protocol):
    """A store whose objects can be read in part, by their addresses."""

    def address(self, key: str) -> ObjectAddress:
        """Where an object is, or would be."""
        ...
