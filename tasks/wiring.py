"""The composition root: the only place that builds adapters, from names, cards and settings.

Each is built once per process and shared by its threads.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue, ValidationError

from adapters.base import Editor, EditorContext, Embedder, Judge, ObjectStore, StateTracker
from adapters.datasets.folder import FolderDataset
from adapters.datasets.packaged_faces import PackagedFaces
from adapters.datasets.source import DatasetSource
from adapters.registry import USES_POOL, editor_class
from adapters.stores.local import LocalStore
from adapters.stores.settings import StoreSettings
from domain import keys
from domain.errors import StoreError
from domain.loading import settings_error
from domain.model_cards import ModelCard
from domain.photos import Dataset
from domain.records import EmbedderIdentity, JudgeIdentity
from domain.runs import RunPlan
from domain.suites import DatasetChoice, FacePack, Suite
from domain.taxonomy import Taxonomy
from tasks import ledger
from tasks.definitions import load

if TYPE_CHECKING:
    from adapters.imaging.face_models import FaceModels
    from adapters.judges.local import LocalTracker


def store() -> ObjectStore:
    """The store that `FACEDRIFT_STORE` names."""
    return _local_store(_root())


def _root() -> Path:
    return StoreSettings().store.expanduser().absolute()


@cache
def _local_store(root: Path) -> LocalStore:
    return LocalStore(root)


def run_plan(run_id: str) -> RunPlan:
    """The resolved plan of a run."""
    return _stored_run(_root(), run_id)


@cache
def _stored_run(root: Path, run_id: str) -> RunPlan:
    found = ledger.read(store(), keys.run(run_id), RunPlan)
    if found is None:
        raise StoreError(f"no run {run_id!r} in the store", key=keys.run(run_id))
    return found


def dataset(key: str) -> Dataset:
    """A dataset manifest."""
    return _stored_dataset(_root(), key)


@cache
def _stored_dataset(root: Path, key: str) -> Dataset:
    found = ledger.read(store(), key, Dataset)
    if found is None:
        raise StoreError(f"no dataset {key!r} in the store", key=key)
    return found


def dataset_source(choice: DatasetChoice) -> DatasetSource:
    """The adapter that reads a suite's photos."""
    if choice.adapter == "folder":
        return FolderDataset(Path(choice.path or "."))
    return PackagedFaces()


def embedder_identity(pack: str) -> EmbedderIdentity:
    """What an embedder's readings will carry; no weights are loaded."""
    from adapters.embedders.insightface import identity_of

    return identity_of(load(FacePack, pack))


@cache
def embedder(pack: str) -> Embedder:
    """The embedder of a pack; raises WeightsError."""
    from adapters.embedders.insightface import InsightFaceEmbedder
    from adapters.imaging.packs import PackSettings

    return InsightFaceEmbedder.open(load(FacePack, pack), PackSettings())


@cache
def _landmarks(pack: str) -> FaceModels:
    from adapters.imaging.packs import PackSettings, open_pack

    return open_pack(load(FacePack, pack), PackSettings(), ("detection", "landmark_2d_106"))


def settings_fingerprint(card: ModelCard, dataset_key: str) -> str:
    """The sha256 of everything that decides a model's answer besides image, prompt and seed."""
    sent: dict[str, JsonValue] = {
        "provider": card.provider,
        "endpoint": card.endpoint,
        "settings": card.settings,
    }
    if card.provider in USES_POOL:
        sent["pool"] = dataset_key
    return keys.fingerprint(sent)


def editor(run: RunPlan, model: str) -> Editor:
    """The editor that reaches a model of a run."""
    return _editor(_root(), run.id, model)


@cache
def _editor(root: Path, run_id: str, model: str) -> Editor:
    run = run_plan(run_id)
    return build_editor(run.card[model], dataset(run.dataset), run.suite)


def build_editor(card: ModelCard, photos: Dataset, suite: Suite) -> Editor:
    """An editor for a card; raises DefinitionError when the card's settings are not the editor's."""
    context = EditorContext(
        taxonomy=load(Taxonomy, suite.taxonomy),
        pool=photos.base,
        load_photo=lambda photo: ledger.read_image(store(), photo.image_sha256, photo.extension),
        face_models=lambda: _landmarks(suite.embedder.pack),
    )
    try:
        return editor_class(card.provider).build(card, context)
    except ValidationError as error:
        raise settings_error(error, card.id) from error


def judge_identity(suite: Suite, taxonomy: Taxonomy) -> JudgeIdentity:
    """What the judge's answers will carry."""
    return _local_identity(suite.judges.consistency, suite.embedder.pack, taxonomy)


def tracker_identity(suite: Suite, taxonomy: Taxonomy) -> JudgeIdentity:
    """What the tracker's answers will carry."""
    return _local_identity(suite.judges.tracker, suite.embedder.pack, taxonomy)


def _local_identity(adapter: str, pack: str, taxonomy: Taxonomy) -> JudgeIdentity:
    from adapters.judges import local

    return JudgeIdentity(
        adapter=adapter,
        version=f"{local.VERSION} on {pack}",
        prompt_version="none",
        taxonomy=f"{taxonomy.id}@{taxonomy.version}",
    )


@cache
def judge(taxonomy: str, pack: str) -> Judge:
    """The judge of semantic consistency; it shares what the tracker has seen."""
    from adapters.judges.local import LocalJudge

    return LocalJudge(load(Taxonomy, taxonomy), _local_tracker(taxonomy, pack))


def tracker(taxonomy: str, pack: str) -> StateTracker:
    """The state tracker."""
    return _local_tracker(taxonomy, pack)


@cache
def _local_tracker(taxonomy: str, pack: str) -> LocalTracker:
    from adapters.judges.local import LocalTracker

    return LocalTracker(load(Taxonomy, taxonomy), _landmarks(pack))
