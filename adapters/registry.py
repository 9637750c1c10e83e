"""Which adapter answers to which name; imported only when it is used."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from adapters.base import ChainWriter, Editor, EditorContext, Judge, JudgeContext, SessionWriter, StateTracker
from adapters.datasets.source import DatasetSource
from adapters.votes.source import VoteService, VoteSource
from domain.dataset_options import DatasetAdapter, DatasetOptions
from domain.errors import DefinitionError
from domain.judge_cards import JudgeCard
from domain.model_cards import ModelCard
from domain.votes import VoteSourceName


class EditorClass(Protocol):
    """How an editor is built."""

    def build(self, card: ModelCard, context: EditorContext) -> Editor:
        """An editor for a card; raises pydantic's ValidationError for settings it does not know."""
        ...


class AnyJudge(Judge, StateTracker, Protocol):
    """What every judge can do."""


class JudgeClass(Protocol):
    """How a judge is built."""

    def build(self, card: JudgeCard, context: JudgeContext) -> AnyJudge:
        """A judge for a card; raises pydantic's ValidationError for settings it does not know."""
        ...


class DatasetClass(Protocol):
    """How a dataset adapter is built."""

    def build(self, root: Path, options: DatasetOptions) -> DatasetSource:
        """A source over the files at a place; raises DefinitionError where they are not its layout."""
        ...


class WriterClass(Protocol):
    """How a writer of sessions is built."""

    def build(self, card: JudgeCard, context: JudgeContext) -> SessionWriter:
        """A writer for a card; raises pydantic's ValidationError for settings it does not know."""
        ...


class ChainWriterClass(Protocol):
    """How a writer of prompt chains is built."""

    def build(self, card: JudgeCard, context: JudgeContext) -> ChainWriter:
        """A writer for a card; raises pydantic's ValidationError for settings it does not know."""
        ...


class VoteSourceClass(Protocol):
    """How a source of votes is built."""

    def build(self, where: str) -> VoteSource:
        """A source over a file's path, a job's id or a page's suite; raises DefinitionError for none."""
        ...


class VoteServiceClass(Protocol):
    """How a service that asks people is built."""

    def build(self) -> VoteService:
        """The service, for the account of the environment; raises DefinitionError where there is none."""
        ...


EDITORS = {
    "control-unchanged": "adapters.editors.control_unchanged:UnchangedEditor",
    "control-recompress": "adapters.editors.control_recompress:RecompressEditor",
    "control-stranger": "adapters.editors.control_stranger:StrangerEditor",
    "procedural": "adapters.editors.procedural:ProceduralEditor",
    "scene": "adapters.editors.scene:SceneEditor",
    "google": "adapters.editors.google:GoogleEditor",
    "fal": "adapters.editors.fal:FalEditor",
    "replicate": "adapters.editors.replicate:ReplicateEditor",
    "openai": "adapters.editors.openai:OpenAIEditor",
    "xai": "adapters.editors.xai:XaiEditor",
    "byteplus": "adapters.editors.byteplus:BytePlusEditor",
}
"""By the `provider` of a model card. Each class has `build(card, context)`."""

IN_PROCESS = frozenset(
    {"control-unchanged", "control-recompress", "control-stranger", "procedural", "scene", "local"}
)
"""Editors and judges that call nobody, so that asking again costs nothing."""

JUDGES = {
    "local": "adapters.judges.local:LocalJudge",
    "google": "adapters.judges.google:GoogleJudge",
    "openai": "adapters.judges.openai:OpenAIJudge",
}
"""By the `provider` of a judge card. Each class has `build(card, context)`."""

DATASETS: dict[DatasetAdapter, str] = {
    "packaged_faces": "adapters.datasets.packaged_faces:PackagedFaces",
    "folder": "adapters.datasets.folder:FolderDataset",
    "manifest": "adapters.datasets.manifest:ManifestDataset",
    "celeba": "adapters.datasets.celeba:CelebaDataset",
    "imdb_wiki": "adapters.datasets.imdb_wiki:ImdbWikiDataset",
    "celebset": "adapters.datasets.celebset:CelebsetDataset",
    "london": "adapters.datasets.london:LondonDataset",
    "everyday_photos": "adapters.datasets.everyday_photos:EverydayPhotos",
    "packaged_everyday": "adapters.datasets.packaged_everyday:PackagedEveryday",
}
"""By the `adapter` of a suite's dataset. Each class has `build(root, options)`."""

WRITERS = {
    "local": "adapters.judges.local_writer:LocalWriter",
    "google": JUDGES["google"],
    "openai": JUDGES["openai"],
}
"""Who phrases sessions, by the `provider` of a judge card. Each class has `build(card, context)`."""

CHAIN_WRITERS = {
    "local": "adapters.judges.local_chains:LocalChainWriter",
    "google": JUDGES["google"],
    "openai": JUDGES["openai"],
}
"""Who drafts prompt chains, by the `provider` of a judge card. Each class has `build(card, context)`."""

VOTE_SOURCES: dict[VoteSourceName, str] = {
    "file": "adapters.votes.file:FileVotes",
    "label_studio": "adapters.votes.label_studio:LabelStudioVotes",
    "page": "adapters.votes.page.source:PageVotes",
    "rapidata": "adapters.votes.rapidata:RapidataVotes",
}
"""Where votes are collected from. Each class has `build(where)`."""

VOTE_SERVICES: dict[VoteSourceName, str] = {"rapidata": "adapters.votes.rapidata:RapidataService"}
"""Sources that are given a job first, which is paid. Each class has `build()`."""

USES_POOL = frozenset({"control-stranger"})
"""Editors whose answers depend on the dataset's other photos."""


def editor_class(provider: str) -> EditorClass:
    """The class that speaks to a provider; raises DefinitionError for an unknown one."""
    if provider not in EDITORS:
        raise DefinitionError(
            f"no editor for provider {provider!r}", field="provider", allowed=tuple(EDITORS)
        )
    module, name = EDITORS[provider].split(":")
    return cast(EditorClass, getattr(import_module(module), name))


def dataset_class(adapter: DatasetAdapter) -> DatasetClass:
    """The class that reads a kind of dataset."""
    module, name = DATASETS[adapter].split(":")
    return cast(DatasetClass, getattr(import_module(module), name))


def judge_class(provider: str) -> JudgeClass:
    """The class that asks a provider's models; raises DefinitionError for an unknown one."""
    if provider not in JUDGES:
        raise DefinitionError(f"no judge for provider {provider!r}", field="provider", allowed=tuple(JUDGES))
    module, name = JUDGES[provider].split(":")
    return cast(JudgeClass, getattr(import_module(module), name))


def can_check_steps(provider: str) -> bool:
    """Whether a provider's judge has `check_step`; raises DefinitionError for an unknown one."""
    return hasattr(judge_class(provider), "check_step")


def writer_class(provider: str) -> WriterClass:
    """The class that has a provider's models phrase sessions; raises DefinitionError for an unknown one."""
    if provider not in WRITERS:
        raise DefinitionError(
            f"no writer of sessions for provider {provider!r}", field="provider", allowed=tuple(WRITERS)
        )
    module, name = WRITERS[provider].split(":")
    return cast(WriterClass, getattr(import_module(module), name))


def chain_writer_class(provider: str) -> ChainWriterClass:
    """The class that has a provider's models draft chains; raises DefinitionError for an unknown one."""
    if provider not in CHAIN_WRITERS:
        raise DefinitionError(
            f"no writer of chains for provider {provider!r}", field="provider", allowed=tuple(CHAIN_WRITERS)
        )
    module, name = CHAIN_WRITERS[provider].split(":")
    return cast(ChainWriterClass, getattr(import_module(module), name))


def vote_source_class(source: VoteSourceName) -> VoteSourceClass:
    """The class that reads a source of votes; raises DefinitionError for one that is not collected from."""
    if source not in VOTE_SOURCES:
        raise DefinitionError(
            f"votes are not collected from {source!r}", field="source", allowed=tuple(VOTE_SOURCES)
        )
    module, name = VOTE_SOURCES[source].split(":")
    return cast(VoteSourceClass, getattr(import_module(module), name))


def vote_service_class(source: VoteSourceName) -> VoteServiceClass:
    """The class that gives jobs to a service; raises DefinitionError for a source that is none."""
    if source not in VOTE_SERVICES:
        raise DefinitionError(f"{source!r} takes no jobs", field="source", allowed=tuple(VOTE_SERVICES))
    module, name = VOTE_SERVICES[source].split(":")
    return cast(VoteServiceClass, getattr(import_module(module), name))
